-- Facts from outside. Each function locks the instance, checks its state under the lock and writes (RULINGS A4, A12, A36).

-- All or nothing: what must undo the whole call raises one of these, the adapter turns it into an answer.
--   SW001 known key, the message is the index;  SW003 nonce used;  SW005 sequence gone;  SW010 plan full, SW013 too fast for the plan, the message is the tenant;  SW002 is a defect of the caller.
-- Holds the sequences of these instances until the transaction ends: a deletion waits, and then sees the instances.
CREATE FUNCTION stepwell.hold_sequences(p_instances jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_ids uuid[];
  v_held integer;
BEGIN
  SELECT array_agg(DISTINCT (x.v ->> 'sequenceId')::uuid) INTO v_ids FROM jsonb_array_elements(p_instances) AS x(v);
  SELECT count(*) INTO v_held FROM (
    SELECT s.id FROM stepwell.sequences s WHERE s.id = ANY (v_ids) ORDER BY s.id FOR KEY SHARE
  ) held;
  IF v_held < cardinality(v_ids) THEN
    RAISE EXCEPTION 'a sequence is not there any more' USING ERRCODE = 'SW005';
  END IF;
END $$;

CREATE FUNCTION stepwell.start_v1(p jsonb) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
  v_lease jsonb := p -> 'lease';
  v_count integer := jsonb_array_length(p -> 'instances');
  -- The lease comes with the row, unless a slot must be found first.
  v_direct boolean := v_lease IS NOT NULL AND NOT p ? 'keys';
  v_inserted uuid[];
  v_leased uuid[];
  v_known integer;
  v_delivered uuid;
  v_tenant text := p -> 'instances' -> 0 ->> 'tenantId';
BEGIN
  IF p ? 'requireSequence' THEN
    PERFORM stepwell.hold_sequences(p -> 'instances');
  END IF;
  IF p ? 'activeLimits' THEN
    PERFORM stepwell.hold_plans(p -> 'activeLimits');
    -- Starts that had to wait here are counted by when they went on.
    v_now := stepwell.sw_now();
  END IF;
  IF p ? 'nonce' THEN
    PERFORM stepwell.use_nonce(p -> 'nonce' ->> 'slug', p -> 'nonce' ->> 'nonce', v_tenant, v_now);
  END IF;
  IF p ? 'delivery' THEN
    v_delivered := stepwell.note_delivery(p -> 'delivery' ->> 'slug', p -> 'delivery' ->> 'deliveryId', v_tenant,
      (p -> 'instances' -> 0 ->> 'id')::uuid, v_now);
    IF v_delivered IS NOT NULL THEN
      RETURN json_build_object('now', stepwell.to_ms(v_now), 'started', (
        SELECT json_build_array(stepwell.repeated_start(i, p -> 'instances' -> 0))
        FROM stepwell.task_instances i WHERE i.id = v_delivered));
    END IF;
  END IF;
  IF p ? 'keys' THEN
    INSERT INTO stepwell.concurrency_keys (tenant_id, concurrency_key)
    SELECT DISTINCT x.v ->> 'tenantId', x.v ->> 'concurrencyKey'
    FROM jsonb_array_elements(p -> 'instances') AS x(v) WHERE x.v ? 'concurrencyKey'
    ORDER BY 1, 2
    ON CONFLICT DO NOTHING;
  END IF;

  WITH inserted AS (
    INSERT INTO stepwell.task_instances (id, sequence_id, run_id, created_at, max_concurrency, priority, dry_run,
      dry_run_auto_approve, dry_run_real_time, tenant_id, namespace, timezone, metadata, config, audit, session_id, concurrency_key,
      idempotency_key, budget, state, next_fire_at, due_at, lease_until, lease_token, lease_owner, epoch, started_at,
      claims_without_progress, claimed_among, updated_at, data, progress_at)
    SELECT (x.v ->> 'id')::uuid, (x.v ->> 'sequenceId')::uuid, (x.v ->> 'runId')::uuid, v_now,
      (x.v ->> 'maxConcurrency')::integer, (x.v ->> 'priority')::smallint, x.v ? 'dryRun', x.v ? 'dryRunAutoApprove',
      x.v ? 'dryRunRealTime',
      x.v ->> 'tenantId', x.v ->> 'namespace', x.v ->> 'timezone', coalesce(x.v -> 'metadata', '{}'),
      coalesce(x.v -> 'config', '{}'), coalesce(x.v -> 'audit', '[]'), x.v ->> 'sessionId', x.v ->> 'concurrencyKey',
      x.v ->> 'idempotencyKey', x.v -> 'budget',
      CASE WHEN x.leased THEN 'running' ELSE 'scheduled' END,
      coalesce(x.fire_at, v_now),
      CASE WHEN NOT x.leased THEN greatest(x.fire_at, v_now) END,
      CASE WHEN x.leased THEN v_now + (v_lease ->> 'leaseMs')::bigint * interval '1 millisecond' END,
      CASE WHEN x.leased THEN (v_lease ->> 'leaseToken')::uuid END,
      CASE WHEN x.leased THEN v_lease ->> 'leaseOwner' END,
      CASE WHEN x.leased THEN 1 ELSE 0 END,
      CASE WHEN x.leased THEN v_now END,
      CASE WHEN x.leased THEN 1 ELSE 0 END,
      CASE WHEN x.leased THEN (v_lease ->> 'among')::integer ELSE 0 END,
      v_now, x.v -> 'data', v_now
    FROM (
      SELECT e.v, e.position, f.fire_at, v_direct AND (f.fire_at IS NULL OR f.fire_at <= v_now) AS leased
      FROM jsonb_array_elements(p -> 'instances') WITH ORDINALITY AS e(v, position)
      CROSS JOIN LATERAL (SELECT stepwell.from_ms((e.v ->> 'nextFireAt')::bigint) AS fire_at) f
    ) x
    ORDER BY x.position
    ON CONFLICT DO NOTHING
    RETURNING id, lease_token
  )
  SELECT coalesce(array_agg(inserted.id), '{}'),
    array_agg(inserted.id) FILTER (WHERE inserted.lease_token IS NOT NULL)
  INTO v_inserted, v_leased
  FROM inserted;
  IF p ? 'activeLimits' AND cardinality(v_inserted) > 0 THEN
    PERFORM stepwell.check_plans(p -> 'activeLimits');
  END IF;

  IF cardinality(v_inserted) = v_count THEN
    INSERT INTO stepwell.start_inputs (instance_id, tenant_id, input)
    SELECT (x.v ->> 'id')::uuid, x.v ->> 'tenantId', x.v -> 'originalInput'
    FROM jsonb_array_elements(p -> 'instances') AS x(v);
    IF v_lease IS NULL OR v_direct THEN
      RETURN json_build_object('now', stepwell.to_ms(v_now), 'fresh', true,
        'breakers', CASE WHEN v_direct THEN stepwell.open_breakers(v_tenant) END);
    END IF;
  ELSE
    PERFORM stepwell.meet_known_starts(p, v_inserted, v_tenant);
  END IF;
  IF v_lease IS NOT NULL AND NOT v_direct THEN
    -- What is new has made no claims that lead nowhere, so it frees no slot.
    SELECT (stepwell.take_leases(array_agg(i.id ORDER BY i.id), (v_lease ->> 'leaseToken')::uuid, v_lease ->> 'leaseOwner',
      (v_lease ->> 'leaseMs')::bigint, v_now, (v_lease ->> 'among')::integer)).ids INTO v_leased
    FROM stepwell.task_instances i WHERE i.id = ANY (v_inserted) AND i.due_at <= v_now
    HAVING count(*) > 0;
  END IF;

  -- Looked up in a statement of its own: a twin that was committed while the insert waited is visible only now.
  RETURN json_build_object('now', stepwell.to_ms(v_now), 'started', (
    SELECT coalesce(json_agg(CASE
      WHEN i.id <> (x.v ->> 'id')::uuid THEN stepwell.repeated_start(i, x.v)
      ELSE json_build_object('id', i.id, 'deduplicated', false, 'conflict', false,
        'claim', CASE WHEN i.lease_token = (v_lease ->> 'leaseToken')::uuid
          THEN stepwell.claims_json(ARRAY[i.id], v_now) -> 0 END)
      END ORDER BY x.position), '[]')
    FROM jsonb_array_elements(p -> 'instances') WITH ORDINALITY AS x(v, position)
    CROSS JOIN LATERAL (
      SELECT s.* FROM stepwell.task_instances s WHERE s.id = (x.v ->> 'id')::uuid AND (s.tenant_id = x.v ->> 'tenantId') IS TRUE
      UNION ALL
      SELECT k.* FROM stepwell.task_instances k
      WHERE k.tenant_id = x.v ->> 'tenantId' AND k.dry_run = x.v ? 'dryRun' AND k.idempotency_key = x.v ->> 'idempotencyKey'
      LIMIT 1
    ) i));
END $$;

-- The answer of a start that found an earlier instance. It is compared with the input as that one first came ([INS-8]).
CREATE FUNCTION stepwell.repeated_start(i stepwell.task_instances, p_asked jsonb) RETURNS json
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN json_build_object('id', i.id, 'deduplicated', true, 'conflict',
    i.sequence_id <> (p_asked ->> 'sequenceId')::uuid OR (
      SELECT s.input FROM stepwell.start_inputs s WHERE s.instance_id = i.id) IS DISTINCT FROM p_asked -> 'originalInput');
END $$;

-- Some instances of a start are there already: by their own id (the same request again) or by their key.
CREATE FUNCTION stepwell.meet_known_starts(p jsonb, p_inserted uuid[], p_tenant text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_known integer;
BEGIN
  IF p ? 'refuseKnownKey' THEN
    SELECT min(x.position) - 1 INTO v_known
    FROM jsonb_array_elements(p -> 'instances') WITH ORDINALITY AS x(v, position)
    WHERE NOT EXISTS (
      SELECT 1 FROM stepwell.task_instances i WHERE i.id = (x.v ->> 'id')::uuid AND (i.tenant_id = x.v ->> 'tenantId') IS TRUE);
    IF v_known IS NOT NULL THEN
      RAISE EXCEPTION '%', v_known USING ERRCODE = 'SW001';
    END IF;
  END IF;
  IF p ? 'delivery' AND cardinality(p_inserted) = 0 THEN
    UPDATE stepwell.webhook_deliveries d SET instance_id = i.id
    FROM stepwell.task_instances i
    WHERE d.slug = p -> 'delivery' ->> 'slug' AND d.delivery_id = p -> 'delivery' ->> 'deliveryId'
      AND i.tenant_id = p_tenant AND i.idempotency_key = p -> 'instances' -> 0 ->> 'idempotencyKey'
      AND i.dry_run = p -> 'instances' -> 0 ? 'dryRun';
  END IF;
  INSERT INTO stepwell.start_inputs (instance_id, tenant_id, input)
  SELECT (x.v ->> 'id')::uuid, x.v ->> 'tenantId', x.v -> 'originalInput'
  FROM jsonb_array_elements(p -> 'instances') AS x(v)
  WHERE (x.v ->> 'id')::uuid = ANY (p_inserted);
END $$;

-- Single use: raises when the nonce was used and has not expired.
CREATE FUNCTION stepwell.use_nonce(p_slug text, p_nonce text, p_tenant text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO stepwell.webhook_nonces AS n (slug, nonce, tenant_id, expires_at)
  VALUES (p_slug, p_nonce, p_tenant, p_now + interval '360 seconds')
  ON CONFLICT ON CONSTRAINT webhook_nonces_pkey DO UPDATE SET expires_at = excluded.expires_at
  WHERE n.expires_at <= p_now;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'nonce used' USING ERRCODE = 'SW003';
  END IF;
END $$;

-- Remembers a delivery for 7 days. Answers the instance of an earlier one, or null when this is the first, also when the
-- earlier instance has been deleted since.
CREATE FUNCTION stepwell.note_delivery(
  p_slug text, p_delivery text, p_tenant text, p_instance uuid, p_now timestamptz
) RETURNS uuid
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_first uuid;
BEGIN
  INSERT INTO stepwell.webhook_deliveries AS d (slug, delivery_id, tenant_id, instance_id, expires_at)
  VALUES (p_slug, p_delivery, p_tenant, p_instance, p_now + interval '7 days')
  ON CONFLICT ON CONSTRAINT webhook_deliveries_pkey
  DO UPDATE SET instance_id = excluded.instance_id, expires_at = excluded.expires_at
  WHERE d.expires_at <= p_now;
  IF FOUND THEN
    RETURN NULL;
  END IF;
  -- In a statement of its own: the insert may have waited for the twin, whose instance it could not see.
  UPDATE stepwell.webhook_deliveries d SET instance_id = p_instance, expires_at = p_now + interval '7 days'
  WHERE d.slug = p_slug AND d.delivery_id = p_delivery
    AND NOT EXISTS (SELECT 1 FROM stepwell.task_instances i WHERE i.id = d.instance_id);
  IF FOUND THEN
    RETURN NULL;
  END IF;
  SELECT d.instance_id INTO STRICT v_first FROM stepwell.webhook_deliveries d
  WHERE d.slug = p_slug AND d.delivery_id = p_delivery;
  RETURN v_first;
END $$;

CREATE FUNCTION stepwell.signal_v1(
  p_tenant text, p_instance uuid, p_signal uuid, p_type text, p_payload jsonb
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  r record;
  v_now timestamptz;
BEGIN
  SELECT i.tenant_id, i.state, i.lease_until INTO r
  FROM stepwell.task_instances i
  WHERE i.id = p_instance AND (p_tenant IS NULL OR i.tenant_id = p_tenant)
  FOR NO KEY UPDATE;
  IF r.state IS NULL THEN
    RETURN json_build_object('status', 'not_found');
  END IF;
  v_now := stepwell.sw_now();
  IF EXISTS (SELECT 1 FROM stepwell.signal_inbox s WHERE s.instance_id = p_instance AND s.id = p_signal) THEN
    RETURN json_build_object('status', 'repeated', 'held', coalesce(r.lease_until > v_now, false));
  END IF;
  IF stepwell.is_terminal(r.state) THEN
    RETURN json_build_object('status', 'terminal', 'state', r.state);
  END IF;
  PERFORM stepwell.accept_fact(r.tenant_id, p_instance, p_signal, 'signal', p_type, p_payload, v_now);
  RETURN json_build_object('status', 'accepted', 'held', coalesce(r.lease_until > v_now, false));
END $$;

CREATE FUNCTION stepwell.patched_sections(i stepwell.task_instances, p_sections jsonb, p_merge boolean) RETURNS jsonb
LANGUAGE sql IMMUTABLE
RETURN jsonb_build_object(
  'data', CASE
    WHEN NOT p_sections ? 'data' THEN i.data
    WHEN p_merge AND jsonb_typeof(p_sections -> 'data') = 'object'
      THEN CASE WHEN jsonb_typeof(i.data) = 'object' THEN i.data ELSE '{}' END || (p_sections -> 'data')
    ELSE p_sections -> 'data' END,
  'config', CASE
    WHEN NOT p_sections ? 'config' THEN i.config
    WHEN p_merge THEN i.config || (p_sections -> 'config')
    ELSE p_sections -> 'config' END,
  'audit', coalesce(p_sections -> 'audit', i.audit));

-- A terminal instance is changed at once; for the others the patch is a fact like any other.
CREATE FUNCTION stepwell.patch_context_v1(
  p_tenant text, p_instance uuid, p_fact uuid, p_sections jsonb, p_merge boolean, p_max_bytes bigint
) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  i stepwell.task_instances;
  v_after jsonb;
  v_now timestamptz;
BEGIN
  SELECT * INTO i FROM stepwell.task_instances t
  WHERE t.id = p_instance AND (p_tenant IS NULL OR t.tenant_id = p_tenant)
  FOR NO KEY UPDATE;
  IF i.id IS NULL THEN
    RETURN 'not_found';
  END IF;
  v_now := stepwell.sw_now();
  IF EXISTS (SELECT 1 FROM stepwell.signal_inbox s WHERE s.instance_id = i.id AND s.id = p_fact) THEN
    RETURN 'accepted';
  END IF;
  v_after := stepwell.patched_sections(i, p_sections, p_merge);
  IF p_max_bytes > 0 AND stepwell.canonical_bytes(v_after) > p_max_bytes THEN
    RETURN 'too_large';
  END IF;
  IF stepwell.is_terminal(i.state) THEN
    UPDATE stepwell.task_instances t
    SET data = v_after -> 'data', config = v_after -> 'config', audit = v_after -> 'audit', updated_at = v_now
    WHERE t.id = i.id;
    RETURN 'applied';
  END IF;
  PERFORM stepwell.accept_fact(i.tenant_id, i.id, p_fact, 'context', NULL,
    jsonb_build_object('sections', p_sections, 'mode', CASE WHEN p_merge THEN 'merge' ELSE 'replace' END), v_now);
  RETURN 'accepted';
END $$;

-- Expired webhook memory and sessions, oldest first; what another call is removing is left to it.
CREATE FUNCTION stepwell.remove_expired_v1(p_limit integer) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET enable_sort = off AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
  v_nonces integer;
  v_deliveries integer;
BEGIN
  DELETE FROM stepwell.webhook_nonces n WHERE (n.slug, n.nonce) IN (
    SELECT e.slug, e.nonce FROM stepwell.webhook_nonces e WHERE e.expires_at <= v_now
    ORDER BY e.expires_at LIMIT p_limit FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS v_nonces = ROW_COUNT;
  DELETE FROM stepwell.webhook_deliveries d WHERE (d.slug, d.delivery_id) IN (
    SELECT e.slug, e.delivery_id FROM stepwell.webhook_deliveries e WHERE e.expires_at <= v_now
    ORDER BY e.expires_at LIMIT greatest(0, p_limit - v_nonces) FOR UPDATE SKIP LOCKED);
  GET DIAGNOSTICS v_deliveries = ROW_COUNT;
  RETURN stepwell.expire_sessions(p_limit, v_now) + v_nonces + v_deliveries + stepwell.remove_emit_records(greatest(0, p_limit - v_nonces - v_deliveries), v_now)
    + stepwell.remove_old_sends(p_limit, v_now) + stepwell.remove_limit_waits(p_limit, v_now) + stepwell.remove_old_keys(p_limit, v_now);
END $$;
