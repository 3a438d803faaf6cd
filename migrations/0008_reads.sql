-- Reads between the steps of a turn, and what deletes a sequence. A turn reads a few values of one instance at a time;
-- what they cost does not depend on how long the run has been.

-- The value of the latest visible row per block ([OUT-5]); null asks for all blocks.
CREATE FUNCTION stepwell.read_outputs_v1(p_tenant text, p_instance uuid, p_blocks jsonb) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET enable_sort = off AS $$
BEGIN
  IF p_blocks IS NULL THEN
    RETURN (
      SELECT coalesce(json_agg(json_build_array(l.block_id, l.output)), '[]')
      FROM (
        SELECT DISTINCT ON (o.block_id) o.block_id, o.output
        FROM stepwell.block_outputs o
        WHERE o.instance_id = p_instance AND o.tenant_id = p_tenant AND o.superseded_by IS NULL
          AND o.kind NOT IN ('node', 'retry', 'interceptor', 'sla')
        ORDER BY o.block_id, o.rev DESC, o.ordinal DESC
      ) l);
  END IF;
  RETURN (
    SELECT coalesce(json_agg(json_build_array(b.block_id, l.output)), '[]')
    FROM jsonb_array_elements_text(p_blocks) AS b(block_id)
    CROSS JOIN LATERAL (
      SELECT o.output FROM stepwell.block_outputs o
      WHERE o.instance_id = p_instance AND o.tenant_id = p_tenant AND o.block_id = b.block_id COLLATE "C"
        AND o.superseded_by IS NULL AND o.kind NOT IN ('node', 'retry', 'interceptor', 'sla')
      ORDER BY o.rev DESC, o.ordinal DESC LIMIT 1
    ) l);
END $$;

-- Values by key; null asks for all keys but the reserved ones.
CREATE FUNCTION stepwell.read_state_v1(p_tenant text, p_instance uuid, p_keys jsonb) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN (
    SELECT coalesce(json_agg(json_build_array(k.key, k.value) ORDER BY k.key), '[]')
    FROM stepwell.kv k
    WHERE k.instance_id = p_instance AND k.tenant_id = p_tenant
      AND CASE WHEN p_keys IS NULL THEN NOT starts_with(k.key, '__')
        ELSE k.key = ANY (ARRAY(SELECT jsonb_array_elements_text(p_keys))) END);
END $$;

CREATE FUNCTION stepwell.count_state_v1(p_tenant text, p_instance uuid) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN (
    SELECT count(*) FROM stepwell.kv k
    WHERE k.instance_id = p_instance AND k.tenant_id = p_tenant AND NOT starts_with(k.key, '__'));
END $$;

-- Elements of a stored list, from p_from on. It is stored in pieces; only those that are needed are loaded.
CREATE FUNCTION stepwell.read_items_v1(p_tenant text, p_instance uuid, p_key text, p_from integer, p_count integer) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN (
    SELECT coalesce(json_agg(e.value ORDER BY s.first_index + e.position), '[]')
    FROM stepwell.externalized_state s
    CROSS JOIN LATERAL jsonb_array_elements(s.data) WITH ORDINALITY AS e(value, position)
    WHERE s.instance_id = p_instance AND s.tenant_id = p_tenant AND s.key = p_key
      AND s.first_index < p_from + p_count
      AND s.first_index >= coalesce((
        SELECT max(f.first_index) FROM stepwell.externalized_state f
        WHERE f.instance_id = p_instance AND f.key = p_key AND f.first_index <= p_from), 0)
      AND jsonb_typeof(s.data) = 'array'
      AND s.first_index + e.position - 1 BETWEEN p_from AND p_from + p_count - 1);
END $$;

-- The injected root blocks of an instance as its metadata shows them ([OP-10]): in the order of injection, without those
-- that a migration has replaced since.
CREATE FUNCTION stepwell.injected_blocks(p_instance uuid) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (
    SELECT coalesce(jsonb_agg(b.v ORDER BY c.number, b.position), '[]')
    FROM stepwell.instance_changes c
    CROSS JOIN LATERAL jsonb_array_elements(c.body -> 'blocks') WITH ORDINALITY AS b(v, position)
    WHERE c.instance_id = p_instance AND c.kind = 'inject' AND NOT EXISTS (
      SELECT 1 FROM stepwell.instance_changes m
      WHERE m.instance_id = p_instance AND m.kind = 'migrate' AND m.refused IS NULL AND m.number > c.number
        AND m.body -> 'replaced' ? (b.v ->> 'id')));
END $$;

-- The instance as the API shows it. What few instances have is left out of the others.
CREATE FUNCTION stepwell.instance_view(i stepwell.task_instances) RETURNS jsonb
LANGUAGE sql STABLE
RETURN jsonb_build_object(
  'updatedAt', stepwell.to_ms(i.updated_at), 'concurrencyKey', i.concurrency_key, 'maxConcurrency', i.max_concurrency,
  'idempotencyKey', i.idempotency_key, 'budget', i.budget, 'epoch', i.epoch, 'leaseOwner', i.lease_owner,
  'leaseUntil', stepwell.to_ms(i.lease_until), 'dueAt', stepwell.to_ms(i.due_at), 'openWaits', i.open_waits,
  'failure', i.failure)
  || CASE WHEN i.waits_for_slot THEN '{"waitsForSlot": true}'::jsonb ELSE '{}' END
  || CASE WHEN i.hooks_pending IS NULL THEN '{}' ELSE jsonb_build_object('hooks', i.hooks_pending) END
  || CASE WHEN i.shape IS NULL THEN '{}'
    ELSE jsonb_build_object('shape', i.shape, 'injected', stepwell.injected_blocks(i.id)) END
  || stepwell.instance_json(i)::jsonb;

-- Ends a read that has found more than it may bring (bounded-driver.ts); otherwise true.
CREATE FUNCTION stepwell.within_bytes(p_bytes bigint, p_max bigint) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF p_bytes > p_max THEN
    RAISE EXCEPTION 'a read of more than % bytes', p_max USING ERRCODE = 'program_limit_exceeded';
  END IF;
  RETURN true;
END $$;

-- These instances in this order, up to the one that would make them longer than p_max bytes; the first in any case. What lies
-- behind it is not read.
CREATE FUNCTION stepwell.instance_views(p_ids uuid[], p_max bigint) RETURNS SETOF jsonb
LANGUAGE plpgsql STABLE AS $$
DECLARE
  v_view jsonb;
  v_bytes bigint;
  v_sum bigint := 0;
BEGIN
  FOR v_view IN
    SELECT (SELECT stepwell.instance_view(i) FROM stepwell.task_instances i WHERE i.id = p.id) FROM unnest(p_ids) AS p(id)
  LOOP
    v_bytes := octet_length(v_view::text);
    EXIT WHEN v_sum > 0 AND v_sum + v_bytes > p_max;
    v_sum := v_sum + v_bytes;
    RETURN NEXT v_view;
  END LOOP;
END $$;

-- A deployment makes its content the newest version of a name (decision 0019). The row of the name is its lock: what is read
-- after it is what the deployment before has left.
CREATE FUNCTION stepwell.publish_deployed_v1(p_request jsonb) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_tenant text := p_request ->> 'tenantId';
  v_namespace text := p_request ->> 'namespace';
  v_name text := p_request ->> 'name';
  v_hash text := p_request ->> 'contentHash';
  v_deployed timestamptz := stepwell.from_ms((p_request ->> 'deployedAt')::bigint);
  v_new jsonb := NULLIF(p_request -> 'sequence', 'null');
  v_last stepwell.deployed_sequences;
  v_newest integer;
BEGIN
  INSERT INTO stepwell.deployed_sequences AS d (tenant_id, namespace, name, deployed_at, content_hash)
  VALUES (v_tenant, v_namespace, v_name, '-infinity', '')
  ON CONFLICT (tenant_id, namespace, name) DO UPDATE SET content_hash = d.content_hash
  RETURNING d.* INTO v_last;
  IF v_deployed = v_last.deployed_at THEN
    RETURN 'known';
  END IF;
  IF v_deployed < v_last.deployed_at THEN
    RETURN 'superseded';
  END IF;
  SELECT max(s.version) INTO v_newest FROM stepwell.sequences s
  WHERE s.tenant_id = v_tenant AND s.namespace = v_namespace AND s.name = v_name;
  IF v_newest IS DISTINCT FROM (p_request ->> 'newestSeen')::integer THEN
    RETURN 'moved';
  END IF;
  -- An unchanged deployment takes nothing back that was done by hand since; but a name without versions gets one.
  IF v_last.content_hash = v_hash AND v_newest IS NOT NULL THEN
    v_new := NULL;
  END IF;
  IF v_new IS NOT NULL THEN
    INSERT INTO stepwell.sequences (id, tenant_id, namespace, name, version, status, deprecated, definition, content_hash, created_at)
    VALUES ((v_new ->> 'id')::uuid, v_tenant, v_namespace, v_name, (v_new ->> 'version')::integer, v_new ->> 'status',
      (v_new ->> 'deprecated')::boolean, v_new -> 'definition', v_new ->> 'contentHash', stepwell.sw_now())
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RETURN CASE WHEN EXISTS (SELECT 1 FROM stepwell.sequences s WHERE s.id = (v_new ->> 'id')::uuid) THEN 'id_exists'
        ELSE 'moved' END;
    END IF;
  END IF;
  UPDATE stepwell.deployed_sequences d
  SET deployed_at = greatest(d.deployed_at, COALESCE(v_deployed, stepwell.sw_now())), content_hash = v_hash
  WHERE d.tenant_id = v_tenant AND d.namespace = v_namespace AND d.name = v_name;
  RETURN CASE WHEN v_new IS NULL THEN 'known' ELSE 'published' END;
END $$;

CREATE FUNCTION stepwell.delete_sequence_v1(p_tenant text, p_sequence uuid) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_ids uuid[];
  v_tenants text[];
  v_table text;
BEGIN
  PERFORM 1 FROM stepwell.sequences s
  WHERE s.id = p_sequence AND (p_tenant IS NULL OR s.tenant_id = p_tenant) FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 'not_found';
  END IF;
  -- A look without locks first: a sequence in use may have very many instances.
  IF EXISTS (
    SELECT 1 FROM stepwell.task_instances i
    WHERE i.sequence_id = p_sequence AND i.state IN ('scheduled', 'running', 'waiting', 'paused'))
    OR stepwell.is_migration_target(p_sequence) THEN
    RETURN 'in_use';
  END IF;
  SELECT array_agg(l.id), array_agg(DISTINCT l.tenant_id) INTO v_ids, v_tenants FROM (
    SELECT i.id, i.tenant_id FROM stepwell.task_instances i WHERE i.sequence_id = p_sequence ORDER BY i.id FOR UPDATE
  ) l;
  IF EXISTS (
    SELECT 1 FROM stepwell.task_instances i
    WHERE i.sequence_id = p_sequence AND i.state IN ('scheduled', 'running', 'waiting', 'paused'))
    OR stepwell.is_migration_target(p_sequence) THEN
    RETURN 'in_use';
  END IF;
  IF v_ids IS NOT NULL THEN
    FOREACH v_table IN ARRAY ARRAY['start_inputs', 'execution_tree', 'block_outputs', 'signal_inbox', 'worker_task_events',
      'worker_tasks', 'externalized_state', 'kv', 'audit_log', 'journal', 'step_logs', 'event_waits', 'blobs',
      'instance_changes', 'checkpoints', 'limit_waits'] LOOP
      EXECUTE format('DELETE FROM stepwell.%I WHERE tenant_id = ANY ($1) AND instance_id = ANY ($2)', v_table)
      USING v_tenants, v_ids;
    END LOOP;
    DELETE FROM stepwell.task_instances i WHERE i.id = ANY (v_ids);
  END IF;
  DELETE FROM stepwell.schedules c WHERE c.sequence_id = p_sequence;
  DELETE FROM stepwell.sequences s WHERE s.id = p_sequence;
  RETURN 'deleted';
END $$;

CREATE FUNCTION stepwell.ping_v1() RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  RETURN json_build_object(
    'now', stepwell.to_ms(stepwell.sw_now()),
    'schemaVersion', (SELECT max(m.version) FROM stepwell.schema_migrations m));
END $$;
