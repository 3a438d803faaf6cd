-- What waits for a limit, and wakes. A limit that gives more lets those look again that wait for it; a person ends a timer
-- of a run. Both are facts like any other: the turn that is given one looks at the frames it stands at, so nothing is taken
-- over, and a fact that comes too late has no effect.

-- Instances that a limit has denied, until the instant at which they look again by themselves. A row outlives its wait,
-- and is of no use after that instant. It is written by denials and by nothing else.
CREATE TABLE stepwell.limit_waits (
  tenant_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  instance_id uuid NOT NULL,
  until timestamptz NOT NULL,
  CONSTRAINT limit_waits_pkey PRIMARY KEY (tenant_id, kind, name, instance_id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX limit_waits_until_idx ON stepwell.limit_waits (until);
CREATE INDEX limit_waits_instance_idx ON stepwell.limit_waits (instance_id);

-- A denial is remembered. The caller holds the instance, and no other writes its rows. Who may run a fallback waits for
-- both breakers.
CREATE FUNCTION stepwell.note_limit_wait(p_tenant text, p_instance uuid, p_take jsonb, p_answer jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO stepwell.limit_waits AS w (tenant_id, kind, name, instance_id, until)
  SELECT p_tenant, p_answer ->> 'denied', n.name, p_instance, stepwell.from_ms((p_answer ->> 'until')::bigint)
  FROM (
    SELECT p_take ->> CASE p_answer ->> 'denied' WHEN 'rate_limit' THEN 'rate' ELSE p_answer ->> 'denied' END AS name
    UNION
    SELECT p_take ->> 'fallback' WHERE p_answer ->> 'denied' = 'breaker'
  ) n
  WHERE n.name IS NOT NULL
  ON CONFLICT ON CONSTRAINT limit_waits_pkey DO UPDATE SET until = greatest(w.until, excluded.until);
END $$;

-- Gives a locked instance that has not ended a fact that wakes it. One that is at rest for a timer is due in the visible
-- sense too, so that the claim finds it a slot of its concurrency key; one that waits for a slot goes on waiting.
CREATE FUNCTION stepwell.accept_wake(p_tenant text, p_instance uuid, p_fact uuid, p_wake jsonb, p_now timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM stepwell.accept_fact(p_tenant, p_instance, p_fact, 'wake', NULL, p_wake, p_now);
  UPDATE stepwell.task_instances i SET next_fire_at = p_now
  WHERE i.id = p_instance AND (i.tenant_id = p_tenant) IS TRUE
    AND i.state = 'scheduled' AND i.lease_until IS NULL AND i.next_fire_at > p_now AND NOT i.waits_for_slot
    AND CASE WHEN p_wake -> 'startAt' = 'null' THEN i.started_at IS NOT NULL
      ELSE stepwell.to_ms(i.next_fire_at) = (p_wake ->> 'startAt')::bigint END;
END $$;

-- A person ends timers of one run. The same fact again changes nothing.
CREATE FUNCTION stepwell.wake_instance_v1(p_tenant text, p_instance uuid, p_fact uuid, p_wake jsonb) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  r record;
BEGIN
  SELECT i.tenant_id, i.state INTO r FROM stepwell.task_instances i
  WHERE i.id = p_instance AND (p_tenant IS NULL OR i.tenant_id = p_tenant)
  FOR NO KEY UPDATE;
  IF r.state IS NULL THEN
    RETURN 'not_found';
  END IF;
  IF EXISTS (SELECT 1 FROM stepwell.signal_inbox s WHERE s.instance_id = p_instance AND s.id = p_fact) THEN
    RETURN 'accepted';
  END IF;
  IF stepwell.is_terminal(r.state) THEN
    RETURN 'terminal';
  END IF;
  PERFORM stepwell.accept_wake(r.tenant_id, p_instance, p_fact, p_wake, stepwell.sw_now());
  RETURN 'accepted';
END $$;

-- Lets those look again that a limit has denied; answers them, at most p_limit, and whether more are left. Who calls this has changed the limit in an
-- earlier transaction: an attempt that was denied by the limit as it was before has been committed by then, and is here.
CREATE FUNCTION stepwell.wake_limit_waiters_v1(p_tenant text, p_kind text, p_name text, p_limit integer) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_ids uuid[] := ARRAY(
    SELECT w.instance_id FROM stepwell.limit_waits w
    WHERE w.tenant_id = p_tenant AND w.kind = p_kind AND w.name = p_name
    ORDER BY w.instance_id LIMIT p_limit);
  v_now timestamptz;
  v_woken uuid[];
BEGIN
  IF cardinality(v_ids) = 0 THEN
    RETURN '{"woken": [], "more": false}';
  END IF;
  PERFORM 1 FROM stepwell.task_instances i WHERE i.id = ANY (v_ids) ORDER BY i.id FOR NO KEY UPDATE;
  v_now := stepwell.sw_now();
  -- Read under the locks: what was denied again meanwhile waits longer now.
  v_woken := ARRAY(
    SELECT u.id FROM unnest(v_ids) WITH ORDINALITY AS u(id, position)
    JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[u.id]) AND (i.tenant_id = p_tenant) IS TRUE
      AND NOT stepwell.is_terminal(i.state)
    WHERE EXISTS (
      SELECT 1 FROM stepwell.limit_waits w
      WHERE w.tenant_id = p_tenant AND w.kind = p_kind AND w.name = p_name AND w.instance_id = u.id AND w.until > v_now)
    ORDER BY u.position);
  PERFORM stepwell.accept_wake(p_tenant, u.id, stepwell.uuid_v7(v_now), jsonb_build_object('ends', '[]'::jsonb,
    'startAt', NULL, 'limit', jsonb_build_object('reason', p_kind, 'name', p_name)), v_now)
  FROM unnest(v_woken) AS u(id);
  DELETE FROM stepwell.limit_waits w
  WHERE w.tenant_id = p_tenant AND w.kind = p_kind AND w.name = p_name AND w.instance_id = ANY (v_ids);
  RETURN json_build_object('woken', v_woken, 'more', cardinality(v_ids) = p_limit);
END $$;

-- Waits that are over by themselves.
CREATE FUNCTION stepwell.remove_limit_waits(p_limit integer, p_now timestamptz) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_gone integer;
BEGIN
  DELETE FROM stepwell.limit_waits w WHERE (w.tenant_id, w.kind, w.name, w.instance_id) IN (
    SELECT e.tenant_id, e.kind, e.name, e.instance_id FROM stepwell.limit_waits e WHERE e.until <= p_now
    ORDER BY e.until LIMIT p_limit FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS v_gone = ROW_COUNT;
  RETURN v_gone;
END $$;

CALL stepwell.protect_new();
