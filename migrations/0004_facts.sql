-- A fact from outside wakes its instance. Who calls this has locked the instance row and has checked its state.
-- The row is touched first and gives the fact its number, then the fact is written: a fact that did not touch the row
-- could be overlooked by a settle (RULINGS A4, A5). A signal leaves state and next_fire_at alone; a worker result or the
-- end of a child makes the instance due in the visible sense as well, with its audit row ([SETTLE-2], [AUD-1]).
CREATE FUNCTION stepwell.accept_fact(
  p_tenant text, p_instance uuid, p_id uuid, p_kind text, p_signal_type text, p_payload jsonb, p_now timestamptz
) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_moves boolean := p_kind IN ('task', 'child');
  v_wakes_up boolean := false;
  v_seq bigint;
BEGIN
  IF v_moves THEN
    -- Under a live lease the state is the turn's; it learns of the fact, or its settle makes the instance due.
    SELECT i.state = 'waiting' AND i.lease_until IS NULL INTO v_wakes_up
    FROM stepwell.task_instances i WHERE i.id = p_instance;
  END IF;
  UPDATE stepwell.task_instances i
  SET wake_seq = i.wake_seq + 1,
    due_at = least(i.due_at, p_now),
    cancel_seq = CASE WHEN p_signal_type = 'cancel' AND i.cancel_seq = 0 THEN i.wake_seq + 1 ELSE i.cancel_seq END,
    state = CASE WHEN v_wakes_up THEN 'scheduled' ELSE i.state END,
    next_fire_at = CASE
      WHEN v_wakes_up OR (v_moves AND i.state = 'scheduled' AND i.lease_until IS NULL AND i.next_fire_at > p_now) THEN p_now
      ELSE i.next_fire_at END,
    updated_at = p_now
  WHERE i.id = p_instance AND (i.tenant_id = p_tenant) IS TRUE
  RETURNING i.wake_seq INTO STRICT v_seq;
  INSERT INTO stepwell.signal_inbox (instance_id, seq, id, tenant_id, kind, signal_type, payload, created_at)
  VALUES (p_instance, v_seq, p_id, p_tenant, p_kind, p_signal_type, p_payload, p_now);
  IF v_wakes_up THEN
    INSERT INTO stepwell.audit_log (tenant_id, instance_id, id, event_type, from_state, to_state, block_id, details, created_at)
    VALUES (p_tenant, p_instance, stepwell.uuid_v7(p_now), 'state_transition', 'waiting', 'scheduled',
      NULL, '{}', p_now);
  END IF;
  RETURN v_seq;
END $$;
