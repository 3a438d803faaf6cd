-- What starts and steers many runs: cron schedules, sessions, batches.

-- When a schedule occurs is computed by the engine; the row keeps the next occurrence and what happened so far. Every
-- change raises rev, and a fire names the rev it was decided on, so that each occurrence is fired once.
CREATE TABLE stepwell.schedules (
  id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  namespace text NOT NULL,
  sequence_id uuid NOT NULL,
  cron_expr text NOT NULL,
  timezone text NOT NULL,
  enabled boolean NOT NULL,
  metadata jsonb NOT NULL,
  overlap_policy text NOT NULL,
  skipped_fires bigint NOT NULL DEFAULT 0,
  last_skipped_at timestamptz,
  last_triggered_at timestamptz,
  next_fire_at timestamptz,
  -- The occurrence that waits until the instance before it has ended, and when that is looked at again.
  buffered_at timestamptz,
  recheck_at timestamptz,
  wake_at timestamptz GENERATED ALWAYS AS (least(next_fire_at, recheck_at)) STORED,
  rev bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT schedules_pkey PRIMARY KEY (id),
  CONSTRAINT schedules_overlap_check CHECK (overlap_policy IN ('allow', 'skip', 'buffer_one', 'cancel_previous')),
  CONSTRAINT schedules_off_check CHECK (enabled OR (next_fire_at IS NULL AND recheck_at IS NULL)),
  CONSTRAINT schedules_buffer_check CHECK ((buffered_at IS NULL) = (recheck_at IS NULL))
);

CREATE INDEX schedules_wake_idx ON stepwell.schedules (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX schedules_listing_idx ON stepwell.schedules (tenant_id, created_at, id);
CREATE INDEX schedules_sequence_idx ON stepwell.schedules (sequence_id);

-- The instances of a schedule that have not ended: what overlap is judged by. However many it has started, few are here.
CREATE INDEX task_instances_schedule_idx ON stepwell.task_instances ((metadata ->> 'cron_schedule_id'))
  WHERE metadata ? 'cron_schedule_id' AND state IN ('scheduled', 'running', 'waiting', 'paused');

CREATE TABLE stepwell.sessions (
  id uuid NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  session_key text COLLATE "C" NOT NULL,
  data jsonb NOT NULL,
  state text NOT NULL DEFAULT 'active',
  expires_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT sessions_pkey PRIMARY KEY (id),
  CONSTRAINT sessions_key UNIQUE (tenant_id, session_key),
  CONSTRAINT sessions_state_check CHECK (state IN ('active', 'paused', 'completed', 'expired'))
);

CREATE INDEX sessions_expiry_idx ON stepwell.sessions (expires_at)
  WHERE expires_at IS NOT NULL AND state IN ('active', 'paused');
CREATE INDEX task_instances_session_idx ON stepwell.task_instances (session_id, created_at, id) WHERE session_id IS NOT NULL;

CREATE FUNCTION stepwell.schedule_json(s stepwell.schedules) RETURNS jsonb
LANGUAGE sql STABLE
RETURN jsonb_build_object(
  'id', s.id, 'tenantId', s.tenant_id, 'namespace', s.namespace, 'sequenceId', s.sequence_id, 'cronExpr', s.cron_expr,
  'timezone', s.timezone, 'enabled', s.enabled, 'metadata', s.metadata, 'overlapPolicy', s.overlap_policy,
  'skippedFires', s.skipped_fires, 'lastSkippedAt', stepwell.to_ms(s.last_skipped_at),
  'lastTriggeredAt', stepwell.to_ms(s.last_triggered_at), 'nextFireAt', stepwell.to_ms(s.next_fire_at),
  'bufferedAt', stepwell.to_ms(s.buffered_at), 'recheckAt', stepwell.to_ms(s.recheck_at), 'rev', s.rev,
  'createdAt', stepwell.to_ms(s.created_at), 'updatedAt', stepwell.to_ms(s.updated_at));

-- The order of locks is sequence, schedule, instances: a deletion of the sequence takes them in the same order.
CREATE FUNCTION stepwell.insert_schedule_v1(p jsonb) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_now timestamptz;
BEGIN
  PERFORM 1 FROM stepwell.sequences s
  WHERE s.id = (p ->> 'sequenceId')::uuid AND (s.tenant_id = p ->> 'tenantId') IS TRUE FOR KEY SHARE;
  IF NOT FOUND THEN
    RETURN 'no_sequence';
  END IF;
  v_now := stepwell.sw_now();
  INSERT INTO stepwell.schedules (id, tenant_id, namespace, sequence_id, cron_expr, timezone, enabled, metadata,
    overlap_policy, next_fire_at, created_at, updated_at)
  VALUES ((p ->> 'id')::uuid, p ->> 'tenantId', p ->> 'namespace', (p ->> 'sequenceId')::uuid, p ->> 'cronExpr',
    p ->> 'timezone', (p ->> 'enabled')::boolean, p -> 'metadata', p ->> 'overlapPolicy',
    stepwell.from_ms((p ->> 'nextFireAt')::bigint), v_now, v_now)
  ON CONFLICT ON CONSTRAINT schedules_pkey DO NOTHING;
  RETURN 'created';
END $$;

-- Members that are absent stay. A schedule that is switched off forgets what it held back.
CREATE FUNCTION stepwell.update_schedule_v1(p_tenant text, p_schedule uuid, p jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  s stepwell.schedules;
  v_enabled boolean;
BEGIN
  SELECT * INTO s FROM stepwell.schedules t
  WHERE t.id = p_schedule AND (p_tenant IS NULL OR t.tenant_id = p_tenant) FOR NO KEY UPDATE;
  IF s.id IS NULL THEN
    RETURN '{"status": "not_found"}';
  END IF;
  IF s.rev <> (p ->> 'rev')::bigint THEN
    RETURN '{"status": "stale"}';
  END IF;
  v_enabled := coalesce((p ->> 'enabled')::boolean, s.enabled);
  UPDATE stepwell.schedules t
  SET cron_expr = coalesce(p ->> 'cronExpr', t.cron_expr),
    timezone = coalesce(p ->> 'timezone', t.timezone),
    enabled = v_enabled,
    metadata = coalesce(p -> 'metadata', t.metadata),
    overlap_policy = coalesce(p ->> 'overlapPolicy', t.overlap_policy),
    next_fire_at = stepwell.from_ms((p ->> 'nextFireAt')::bigint),
    buffered_at = CASE WHEN v_enabled THEN t.buffered_at END,
    recheck_at = CASE WHEN v_enabled THEN t.recheck_at END,
    rev = t.rev + 1,
    updated_at = stepwell.sw_now()
  WHERE t.id = s.id
  RETURNING * INTO s;
  RETURN jsonb_build_object('status', 'updated', 'schedule', stepwell.schedule_json(s));
END $$;

CREATE FUNCTION stepwell.delete_schedule_v1(p_tenant text, p_schedule uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  DELETE FROM stepwell.schedules s WHERE s.id = p_schedule AND (p_tenant IS NULL OR s.tenant_id = p_tenant);
  RETURN FOUND;
END $$;

CREATE FUNCTION stepwell.due_schedules_v1(p_limit integer) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET enable_sort = off AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
BEGIN
  RETURN jsonb_build_object('now', stepwell.to_ms(v_now), 'schedules', (
    SELECT coalesce(jsonb_agg(d.schedule), '[]') FROM (
      SELECT stepwell.schedule_json(s) AS schedule FROM stepwell.schedules s
      WHERE s.wake_at <= v_now ORDER BY s.wake_at LIMIT p_limit
    ) d));
END $$;

-- The live instances of a schedule, at most p_limit.
CREATE FUNCTION stepwell.live_of_schedule(p_tenant text, p_schedule uuid, p_limit integer) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (
    SELECT array_agg(l.id) FROM (
      SELECT i.id FROM stepwell.task_instances i
      WHERE (i.metadata ->> 'cron_schedule_id') = p_schedule::text AND i.metadata ? 'cron_schedule_id'
        AND i.state IN ('scheduled', 'running', 'waiting', 'paused') AND (i.tenant_id = p_tenant) IS TRUE
      LIMIT p_limit
    ) l);
END $$;

-- A cancel for those of these instances that have not ended and were not sent one before; answers them.
CREATE FUNCTION stepwell.cancel_live(p_tenant text, p_ids uuid[]) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_now timestamptz;
  v_ids uuid[];
BEGIN
  PERFORM 1 FROM stepwell.task_instances i WHERE i.id = ANY (p_ids) ORDER BY i.id FOR NO KEY UPDATE;
  v_now := stepwell.sw_now();
  SELECT array_agg(i.id ORDER BY i.id) INTO v_ids FROM stepwell.task_instances i
  WHERE i.id = ANY (p_ids) AND (i.tenant_id = p_tenant) IS TRUE AND NOT stepwell.is_terminal(i.state) AND i.cancel_seq = 0;
  PERFORM stepwell.accept_fact(p_tenant, u.id, stepwell.uuid_v7(v_now), 'signal', 'cancel', 'null', v_now)
  FROM unnest(v_ids) WITH ORDINALITY AS u(id, position) ORDER BY u.position;
  RETURN coalesce(v_ids, '{}');
END $$;

-- One occurrence of a schedule: overlap, start and the move to the next one are one transaction, so that a crash leaves
-- nothing half done, and the instance's idempotency key makes a second fire of the same occurrence find the first.
CREATE FUNCTION stepwell.fire_schedule_v1(p jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  s stepwell.schedules;
  v_now timestamptz;
  v_live uuid[];
  v_cancelled uuid[];
  v_started json;
  v_outcome text;
  v_buffer boolean := p ->> 'from' = 'buffer';
BEGIN
  PERFORM 1 FROM stepwell.sequences q
  WHERE q.id = (p ->> 'sequenceId')::uuid AND (q.tenant_id = p ->> 'tenantId') IS TRUE FOR KEY SHARE;
  IF NOT FOUND THEN
    RETURN '{"status": "stale"}';
  END IF;
  SELECT * INTO s FROM stepwell.schedules t
  WHERE t.id = (p ->> 'scheduleId')::uuid AND (t.tenant_id = p ->> 'tenantId') IS TRUE FOR NO KEY UPDATE;
  IF s.id IS NULL OR s.rev <> (p ->> 'rev')::bigint OR NOT s.enabled THEN
    RETURN '{"status": "stale"}';
  END IF;
  IF s.overlap_policy <> 'allow' AND p ? 'start' THEN
    v_live := stepwell.live_of_schedule(s.tenant_id, s.id, CASE WHEN s.overlap_policy = 'cancel_previous' THEN 1000 ELSE 1 END);
  END IF;
  v_now := stepwell.sw_now();
  v_outcome := CASE
    WHEN NOT p ? 'start' THEN 'moved_on'
    WHEN v_live IS NULL OR s.overlap_policy = 'cancel_previous' THEN 'started'
    WHEN v_buffer AND s.overlap_policy = 'buffer_one' THEN 'held'
    WHEN s.overlap_policy = 'buffer_one' AND s.buffered_at IS NULL THEN 'buffered'
    ELSE 'skipped'
  END;
  IF v_outcome = 'started' THEN
    IF v_live IS NOT NULL THEN
      v_cancelled := stepwell.cancel_live(s.tenant_id, v_live);
    END IF;
    v_started := stepwell.start_v1(p -> 'start');
  END IF;
  UPDATE stepwell.schedules t
  SET next_fire_at = CASE WHEN v_buffer THEN t.next_fire_at ELSE stepwell.from_ms((p ->> 'nextFireAt')::bigint) END,
    buffered_at = CASE v_outcome
      WHEN 'buffered' THEN stepwell.from_ms((p ->> 'occurrenceAt')::bigint)
      ELSE CASE WHEN NOT v_buffer OR v_outcome = 'held' THEN t.buffered_at END END,
    recheck_at = CASE
      WHEN v_outcome IN ('buffered', 'held') THEN v_now + (p ->> 'recheckMs')::bigint * interval '1 millisecond'
      ELSE CASE WHEN NOT v_buffer THEN t.recheck_at END END,
    last_triggered_at = CASE WHEN v_outcome = 'started' THEN v_now ELSE t.last_triggered_at END,
    skipped_fires = t.skipped_fires + CASE WHEN v_outcome = 'skipped' THEN 1 ELSE 0 END,
    last_skipped_at = CASE WHEN v_outcome = 'skipped' THEN v_now ELSE t.last_skipped_at END,
    rev = t.rev + 1,
    updated_at = CASE WHEN v_outcome = 'held' THEN t.updated_at ELSE v_now END
  WHERE t.id = s.id;
  IF v_outcome <> 'started' THEN
    RETURN jsonb_build_object('status', v_outcome);
  END IF;
  RETURN jsonb_build_object('status', v_outcome, 'cancelled', coalesce(to_jsonb(v_cancelled), '[]'),
    'instanceId', coalesce(v_started -> 'started' -> 0 ->> 'id', p -> 'start' -> 'instances' -> 0 ->> 'id'));
END $$;

CREATE FUNCTION stepwell.session_json(s stepwell.sessions) RETURNS jsonb
LANGUAGE sql STABLE
RETURN jsonb_build_object(
  'id', s.id, 'tenantId', s.tenant_id, 'sessionKey', s.session_key, 'data', s.data, 'state', s.state,
  'expiresAt', stepwell.to_ms(s.expires_at), 'createdAt', stepwell.to_ms(s.created_at),
  'updatedAt', stepwell.to_ms(s.updated_at));

CREATE FUNCTION stepwell.insert_session_v1(p jsonb) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
BEGIN
  INSERT INTO stepwell.sessions (id, tenant_id, session_key, data, expires_at, created_at, updated_at)
  VALUES ((p ->> 'id')::uuid, p ->> 'tenantId', p ->> 'sessionKey', p -> 'data',
    stepwell.from_ms((p ->> 'expiresAt')::bigint), v_now, v_now)
  ON CONFLICT DO NOTHING;
  IF FOUND THEN
    RETURN 'created';
  END IF;
  -- The same request again after a lost answer is no conflict (RULINGS A36).
  RETURN CASE WHEN EXISTS (SELECT 1 FROM stepwell.sessions s WHERE s.id = (p ->> 'id')::uuid) THEN 'created' ELSE 'exists' END;
END $$;

CREATE FUNCTION stepwell.update_session_v1(p_tenant text, p_session uuid, p_data jsonb, p_state text) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  UPDATE stepwell.sessions s
  SET data = coalesce(p_data, s.data), state = coalesce(p_state, s.state), updated_at = stepwell.sw_now()
  WHERE s.id = p_session AND (p_tenant IS NULL OR s.tenant_id = p_tenant);
  RETURN FOUND;
END $$;

-- Sessions whose time is over; what another call is changing is left to the next one.
CREATE FUNCTION stepwell.expire_sessions(p_limit integer, p_now timestamptz) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_count integer;
BEGIN
  UPDATE stepwell.sessions s SET state = 'expired', updated_at = p_now
  WHERE s.id = ANY (ARRAY(
    SELECT e.id FROM stepwell.sessions e WHERE e.expires_at <= p_now AND e.state IN ('active', 'paused')
    ORDER BY e.expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS v_count = ROW_COUNT;
  RETURN v_count;
END $$;

-- One signal to several instances of a tenant, with an audit row for each that took it.
CREATE FUNCTION stepwell.signal_many_v1(p jsonb) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_now timestamptz;
  v_ids uuid[];
  v_taken uuid[] := '{}';
  v_state text;
  r record;
BEGIN
  SELECT array_agg((x.v ->> 'instanceId')::uuid) INTO v_ids FROM jsonb_array_elements(p -> 'signals') AS x(v);
  PERFORM 1 FROM stepwell.task_instances i WHERE i.id = ANY (v_ids) ORDER BY i.id FOR NO KEY UPDATE;
  v_now := stepwell.sw_now();
  -- One look-up per instance: a join with the list could read the whole table.
  FOR r IN
    SELECT (x.v ->> 'instanceId')::uuid AS id, (x.v ->> 'signalId')::uuid AS signal_id
    FROM jsonb_array_elements(p -> 'signals') AS x(v)
  LOOP
    SELECT i.state INTO v_state FROM stepwell.task_instances i
    WHERE i.id = r.id AND (i.tenant_id = p ->> 'tenantId') IS TRUE;
    CONTINUE WHEN v_state IS NULL;
    IF EXISTS (SELECT 1 FROM stepwell.signal_inbox b WHERE b.instance_id = r.id AND b.id = r.signal_id) THEN
      v_taken := v_taken || r.id;
      CONTINUE;
    END IF;
    CONTINUE WHEN stepwell.is_terminal(v_state);
    v_taken := v_taken || r.id;
    PERFORM stepwell.accept_fact(p ->> 'tenantId', r.id, r.signal_id, 'signal', p ->> 'signalType', p -> 'payload', v_now);
    PERFORM stepwell.add_batch_action(p ->> 'tenantId', r.id, v_state, p -> 'details', v_now);
  END LOOP;
  RETURN to_jsonb(v_taken);
END $$;

CREATE FUNCTION stepwell.add_batch_action(p_tenant text, p_instance uuid, p_from text, p_details jsonb, p_now timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO stepwell.audit_log (tenant_id, instance_id, id, event_type, from_state, details, created_at)
  VALUES (p_tenant, p_instance, stepwell.uuid_v7(p_now), 'batch_action', p_from, p_details, p_now);
END $$;

CREATE FUNCTION stepwell.note_batch_action_v1(p_tenant text, p_instances jsonb, p_from text, p_details jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
BEGIN
  PERFORM stepwell.add_batch_action(i.tenant_id, i.id, p_from, p_details, v_now)
  FROM stepwell.task_instances i
  WHERE i.id = ANY (ARRAY(SELECT x.id::uuid FROM jsonb_array_elements_text(p_instances) AS x(id)))
    AND (i.tenant_id = p_tenant) IS TRUE;
END $$;

-- Work of the same tenant that comes first (13.1). One look into each higher priority's range.
CREATE FUNCTION stepwell.has_higher_due_v1(p_tenant text, p_priority integer) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET enable_sort = off AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
  v_found boolean;
BEGIN
  FOR v_priority IN p_priority + 1..3 LOOP
    SELECT true INTO v_found FROM stepwell.task_instances i
    WHERE i.priority = v_priority AND i.tenant_id = p_tenant AND i.due_at <= v_now AND i.lease_until IS NULL
    ORDER BY i.due_at, i.id LIMIT 1;
    EXIT WHEN v_found;
  END LOOP;
  RETURN coalesce(v_found, false);
END $$;

CALL stepwell.protect_new();

GRANT EXECUTE ON FUNCTION stepwell.schedule_json(stepwell.schedules), stepwell.session_json(stepwell.sessions) TO stepwell_app;
