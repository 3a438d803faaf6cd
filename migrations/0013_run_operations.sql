-- Going back in a run (sequences.md 20.1 to 20.3): rows leave the lists and stay for the timeline, whatever block and pass the
-- run goes back to; a fork copies what stays to an instance of its own.

-- All rows of an instance, hidden and superseded ones too, oldest first. Values are there for kinds that say how far the run
-- is; results may be large and are not needed. A row is an array, so that the names are not repeated a hundred thousand times.
CREATE FUNCTION stepwell.history_json(p_tenant text, p_instance uuid) RETURNS json
LANGUAGE sql STABLE
RETURN (
  SELECT coalesce(json_agg(json_build_array(
    o.id, o.block_id, o.iteration, o.kind, o.attempt, stepwell.to_ms(o.started_at), o.run_no, o.rev, o.ordinal,
    stepwell.to_ms(o.created_at), o.superseded_by,
    CASE WHEN o.kind IN ('node', 'counter', 'variant') THEN o.output END) ORDER BY o.rev, o.ordinal), '[]')
  FROM stepwell.block_outputs o
  WHERE o.instance_id = p_instance AND o.tenant_id = p_tenant);

-- What a commit that goes back does besides its new run: called by write_more. Rows are named one by one, by their place:
-- what stays and what goes follows from the structure of the run and not from ids, kinds or times.
CREATE FUNCTION stepwell.go_back(p_parts jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
  s record;
BEGIN
  FOR r IN
    SELECT t.tenant_id, t.instance_id, t.run_no, t.at, p.v
    FROM jsonb_array_elements(p_parts) AS p(v)
    JOIN unnest(a) AS t ON t.i = (p.v ->> 'i')::integer
    WHERE t.verdict = 'ok'
  LOOP
    UPDATE stepwell.block_outputs o SET superseded_by = r.run_no
    FROM jsonb_array_elements(r.v -> 'rows') AS x(v)
    WHERE o.instance_id = r.instance_id AND o.tenant_id = r.tenant_id AND o.superseded_by IS NULL
      AND o.block_id = x.v ->> 0 AND o.rev = (x.v ->> 1)::bigint AND o.ordinal = (x.v ->> 2)::integer;
    DELETE FROM stepwell.kv k
    WHERE k.instance_id = r.instance_id AND k.tenant_id = r.tenant_id AND starts_with(k.key, '__cache__:');
    FOR s IN SELECT x.v FROM jsonb_array_elements(r.v -> 'signals') WITH ORDINALITY AS x(v, position) ORDER BY x.position LOOP
      PERFORM stepwell.accept_fact(r.tenant_id, r.instance_id, (s.v ->> 'id')::uuid, 'signal', s.v ->> 'signalType',
        s.v -> 'payload', r.at);
    END LOOP;
  END LOOP;
END $$;

-- A fork: an instance that begins in the middle. Rows do not change, so those that were read a moment ago are copied whatever
-- the source does meanwhile; its sequence is held, and with it the source, against deletion. The key/value store does change:
-- it is copied only from the very rev that was read.
CREATE FUNCTION stepwell.fork_v1(p jsonb) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_tenant text := p -> 'instance' ->> 'tenantId';
  v_id uuid := (p -> 'instance' ->> 'id')::uuid;
  v_source uuid := (p ->> 'source')::uuid;
  v jsonb := p -> 'instance';
  v_now timestamptz;
  v_rows integer;
  r record;
  t stepwell.checked_turn;
BEGIN
  PERFORM stepwell.hold_sequences(jsonb_build_array(v));
  IF p ? 'stateAtRev' THEN
    SELECT i.rev, i.shape INTO r FROM stepwell.task_instances i
    WHERE i.id = v_source AND (i.tenant_id = v_tenant) IS TRUE FOR SHARE;
  ELSE
    SELECT i.rev, i.shape INTO r FROM stepwell.task_instances i WHERE i.id = v_source AND (i.tenant_id = v_tenant) IS TRUE;
  END IF;
  IF NOT FOUND THEN
    RETURN 'not_found';
  END IF;
  IF EXISTS (SELECT 1 FROM stepwell.task_instances i WHERE i.id = v_id) THEN
    RETURN 'created';
  END IF;
  IF r.rev <> (p ->> 'stateAtRev')::bigint THEN
    RETURN 'moved';
  END IF;
  v_now := stepwell.sw_now();
  INSERT INTO stepwell.task_instances (id, sequence_id, run_id, created_at, priority, dry_run, dry_run_auto_approve,
    dry_run_real_time, tenant_id, namespace, timezone, metadata, config, audit, budget, state, next_fire_at, due_at, epoch,
    updated_at, data, run_no, has_history, rev, progress_at, root_frame, shape)
  VALUES (v_id, (v ->> 'sequenceId')::uuid, (v ->> 'runId')::uuid, v_now, (v ->> 'priority')::smallint, v ? 'dryRun',
    v ? 'dryRunAutoApprove', v ? 'dryRunRealTime', v_tenant, v ->> 'namespace', v ->> 'timezone',
    coalesce(v -> 'metadata', '{}'), coalesce(v -> 'config', '{}'), coalesce(v -> 'audit', '[]'), v -> 'budget',
    'scheduled', v_now, v_now, 1, v_now, v -> 'data', (p ->> 'runNo')::integer, p ? 'history', 1, v_now, p -> 'root', r.shape);
  INSERT INTO stepwell.start_inputs (instance_id, tenant_id, input)
  SELECT v_id, v_tenant, s.input FROM stepwell.start_inputs s WHERE s.instance_id = v_source AND s.tenant_id = v_tenant;
  INSERT INTO stepwell.block_outputs (id, instance_id, rev, created_at, started_at, run_no, ordinal, attempt, output_size,
    tenant_id, block_id, iteration, kind, output)
  SELECT (c.v ->> 3)::uuid, v_id, 1, o.created_at, o.started_at, o.run_no, c.position - 1, o.attempt, o.output_size,
    o.tenant_id, o.block_id, o.iteration, o.kind, o.output
  FROM jsonb_array_elements(p -> 'copied') WITH ORDINALITY AS c(v, position)
  JOIN stepwell.block_outputs o ON o.instance_id = v_source AND o.block_id = (c.v ->> 0)
    AND o.rev = (c.v ->> 1)::bigint AND o.ordinal = (c.v ->> 2)::integer AND (o.tenant_id = v_tenant) IS TRUE;
  GET DIAGNOSTICS v_rows = ROW_COUNT;
  IF v_rows <> jsonb_array_length(p -> 'copied') THEN
    RAISE EXCEPTION 'a row of the source is gone' USING ERRCODE = 'SW002';
  END IF;
  t.i := 0;
  t.tenant_id := v_tenant;
  t.instance_id := v_id;
  t.run_no := (p ->> 'runNo')::integer;
  t.rev := 1;
  t.verdict := 'ok';
  t.granted := false;
  t.at := v_now;
  PERFORM stepwell.write_rows(p -> 'rows', ARRAY[t]);
  PERFORM stepwell.write_frames(p -> 'frames', ARRAY[t]);
  PERFORM stepwell.write_records(jsonb_build_object('journal', p -> 'journal'), ARRAY[t]);
  INSERT INTO stepwell.externalized_state (instance_id, key, first_index, tenant_id, data, created_at)
  SELECT v_id, e.key, e.first_index, e.tenant_id, e.data, e.created_at
  FROM stepwell.externalized_state e WHERE e.instance_id = v_source AND e.tenant_id = v_tenant;
  INSERT INTO stepwell.instance_changes (instance_id, number, id, tenant_id, kind, sequence_id, body, refused, created_at)
  SELECT v_id, c.number, c.id, c.tenant_id, c.kind, c.sequence_id, c.body, c.refused, c.created_at
  FROM stepwell.instance_changes c WHERE c.instance_id = v_source AND c.tenant_id = v_tenant;
  IF p ? 'stateAtRev' THEN
    INSERT INTO stepwell.kv (instance_id, key, tenant_id, value, updated_at)
    SELECT v_id, k.key, k.tenant_id, k.value, v_now
    FROM stepwell.kv k
    WHERE k.instance_id = v_source AND k.tenant_id = v_tenant AND NOT starts_with(k.key, '__cache__:');
  END IF;
  FOR r IN SELECT x.v FROM jsonb_array_elements(p -> 'signals') WITH ORDINALITY AS x(v, position) ORDER BY x.position LOOP
    PERFORM stepwell.accept_fact(v_tenant, v_id, (r.v ->> 'id')::uuid, 'signal', r.v ->> 'signalType', r.v -> 'payload', v_now);
  END LOOP;
  RETURN 'created';
END $$;

CALL stepwell.protect_new();

-- A part that reads of the app role are made of.
GRANT EXECUTE ON FUNCTION stepwell.history_json(text, uuid) TO stepwell_app;
