-- What a sweep asks first. An idle sweep asks nothing else: each statement is a round trip, and some databases are paid by
-- the time they are awake.

-- Whether anything is over that remove_expired_v1 removes: one probe into the index of each of its tables.
CREATE FUNCTION stepwell.has_expired(p_now timestamptz) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN least(
    (SELECT min(n.expires_at) FROM stepwell.webhook_nonces n),
    (SELECT min(d.expires_at) FROM stepwell.webhook_deliveries d),
    (SELECT min(s.expires_at) FROM stepwell.sessions s WHERE s.expires_at IS NOT NULL AND s.state IN ('active', 'paused')),
    (SELECT min(e.expires_at) FROM stepwell.emit_records e),
    (SELECT min(w.last_attempt_at) FROM stepwell.webhook_sends w) + interval '30 days',
    (SELECT min(l.until) FROM stepwell.limit_waits l),
    (SELECT min(k.expires_at) FROM stepwell.idempotency_keys k)) <= p_now IS TRUE;
END $$;

-- The first webhook that is to be sent or whose sender is dead by then. One probe per target.
CREATE FUNCTION stepwell.first_webhook_at() RETURNS timestamptz
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_url text := '';
  v_at timestamptz;
  v_first timestamptz;
BEGIN
  LOOP
    SELECT o.url, o.next_attempt_at INTO v_url, v_at FROM stepwell.webhook_outbox o
    WHERE o.next_attempt_at IS NOT NULL AND o.url > v_url
    ORDER BY o.url, o.next_attempt_at LIMIT 1;
    EXIT WHEN NOT FOUND;
    v_first := least(v_first, v_at);
  END LOOP;
  RETURN v_first;
END $$;

-- The look of a sweep. With it a process says which handlers it has and that it lives, when it has to; these writes come
-- first, so that what follows is read afterwards. Everything else is a probe for the least entry of an index: the cost does
-- not depend on how much there is. It decides nothing: whoever finds work here asks the function that does it, which
-- locks and looks again.
CREATE FUNCTION stepwell.look_for_work_v1(p jsonb) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET enable_sort = off AS $$
DECLARE
  v_drains boolean;
  v_live json;
  v_now timestamptz;
BEGIN
  IF p ? 'beat' THEN
    v_drains := stepwell.heartbeat_node_v1((p #>> '{beat,id}')::uuid, p #>> '{beat,name}', (p #>> '{beat,silentMs}')::bigint);
  END IF;
  IF p ? 'announcement' THEN
    v_live := stepwell.announce_handlers_v1(p #>> '{announcement,buildId}', p #> '{announcement,handlers}',
      (p #>> '{announcement,within,announcedWithinMs}')::bigint, (p #>> '{announcement,within,polledWithinMs}')::bigint);
  END IF;
  v_now := stepwell.sw_now();
  RETURN json_build_object(
    'now', stepwell.to_ms(v_now),
    'drains', v_drains,
    'live', v_live,
    'dueAt', stepwell.to_ms((
      SELECT min(i.due_at) FROM stepwell.task_instances i WHERE i.lease_until IS NULL AND i.due_at IS NOT NULL)),
    'laterAt', stepwell.to_ms((
      SELECT min(i.due_at) FROM stepwell.task_instances i WHERE i.lease_until IS NULL AND i.due_at > v_now)),
    'leaseUntil', stepwell.to_ms((
      SELECT min(i.lease_until) FROM stepwell.task_instances i WHERE i.lease_until IS NOT NULL)),
    'scheduleAt', stepwell.to_ms((SELECT min(s.wake_at) FROM stepwell.schedules s WHERE s.wake_at IS NOT NULL)),
    'taskHeardAt', stepwell.to_ms((
      SELECT min(w.heartbeat_at) FROM stepwell.worker_tasks w WHERE w.state = 'claimed')),
    'webhookAt', stepwell.to_ms(stepwell.first_webhook_at()),
    'hasExpired', stepwell.has_expired(v_now));
END $$;

CALL stepwell.protect_new();
