-- Commits of turns. The fence is the row lock: the row is locked in a statement of its own, then epoch and token are
-- compared (RULINGS A1). A lone turn goes through commit_turn_v1, which touches nothing its payload does not have;
-- several go through commit_turns_v1, which works on all of them at once. Both give the same rows for the same turns.
--
-- Payload: {"turns": [...], "rows": [...], "frames": [...], "gone": [...], "done": [...], "more": {...}}. The parts are
-- flat; each record names its turn by `i`, the position in `turns`.

-- A turn after its check. `seen` is the highest fact it has been given, `rev` the one it makes, `run_no` the run of its
-- rows, `slot` the concurrency key that it gives up by leaving `running`.
CREATE TYPE stepwell.checked_turn AS (
  i integer,
  tenant_id text,
  instance_id uuid,
  run_no integer,
  rev bigint,
  seen bigint,
  wake_seq bigint,
  verdict text,
  granted boolean,
  at timestamptz,
  settles_to text,
  slot text,
  body jsonb
);

-- The decision of RULINGS A7 to A12. After a settle the token is gone from the lease but still known as the one of the
-- last commit, so that a repeated last commit is recognised. A defect of ours is answered as `bug: <what>`. An end other
-- than a cancel acts on the absence of facts even when the turn does not say so: an accepted fact is never dropped.
CREATE FUNCTION stepwell.turn_verdict(
  row_epoch bigint, row_token uuid, row_committed uuid, row_rev bigint, row_wake_seq bigint, row_cancel_seq bigint,
  row_run_no integer, seen bigint, turn jsonb
) RETURNS text
LANGUAGE sql IMMUTABLE
RETURN CASE
  WHEN row_epoch IS DISTINCT FROM (turn ->> 'epoch')::bigint THEN 'fenced'
  WHEN row_rev = (turn ->> 'rev')::bigint + 1 AND row_committed = (turn ->> 'leaseToken')::uuid THEN 'already'
  WHEN row_token IS DISTINCT FROM (turn ->> 'leaseToken')::uuid THEN 'fenced'
  WHEN row_rev <> (turn ->> 'rev')::bigint THEN 'bug: the instance is at rev ' || row_rev::text
  WHEN row_run_no <> (turn ->> 'runNo')::integer THEN 'bug: the present run is ' || row_run_no::text
  WHEN row_wake_seq < (turn ->> 'seenSeq')::bigint THEN 'bug: the last fact given out is ' || row_wake_seq::text
  WHEN turn -> 'patch' ? 'newRun' AND (turn -> 'patch' -> 'newRun' ->> 'runNo')::integer <> row_run_no + 1
    THEN 'bug: the next run is ' || (row_run_no + 1)::text
  WHEN stepwell.is_terminal(turn -> 'patch' ->> 'state')
    AND turn -> 'settle' ->> 'state' IS DISTINCT FROM turn -> 'patch' ->> 'state' THEN 'bug: an end needs a settle'
  WHEN row_cancel_seq > seen AND NOT turn ? 'protected' THEN 'refused'
  WHEN row_wake_seq > seen AND (turn ? 'strict' OR turn -> 'settle' ->> 'state' IN ('completed', 'failed')) THEN 'refused'
  ELSE 'ok'
END;

-- Context data after a turn: replaced as a whole, then keys set, then keys removed; keys are set in an
-- object, so data that is none starts afresh ([CTX-2]).
CREATE FUNCTION stepwell.patched_data(data jsonb, turn jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  v_data jsonb := coalesce(turn -> 'data', data);
BEGIN
  IF turn ? 'dataSet' THEN
    v_data := CASE WHEN jsonb_typeof(v_data) = 'object' THEN v_data ELSE '{}' END || (turn -> 'dataSet');
  END IF;
  IF turn ? 'dataRemoved' AND jsonb_typeof(v_data) = 'object' THEN
    v_data := v_data - ARRAY(SELECT jsonb_array_elements_text(turn -> 'dataRemoved'));
  END IF;
  RETURN v_data;
END $$;

-- When the gate at the cursor of this frame was opened; null when there is none that waits for an answer.
CREATE FUNCTION stepwell.open_gate(frame jsonb) RETURNS bigint
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN frame -> 'leaf' ? 'gate' AND frame -> 'leaf' ->> 'state' = 'waiting'
  THEN (frame -> 'leaf' -> 'gate' ->> 'openedAt')::bigint END;

-- The frame of the root list after a turn. A frame that differs from its intent by nothing but the leaf does not travel.
CREATE FUNCTION stepwell.root_after(turn jsonb, granted boolean) RETURNS jsonb
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN granted THEN coalesce(turn -> 'rootIntent', turn -> 'root')
  ELSE coalesce(turn -> 'root', (turn -> 'rootIntent') - 'leaf') END;

-- What a row does not say of its ordinal, its pass and its attempt is 0 or empty.
CREATE FUNCTION stepwell.write_rows(p_rows jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO stepwell.block_outputs (id, instance_id, rev, created_at, started_at, run_no, ordinal, attempt,
    output_size, tenant_id, block_id, iteration, kind, output)
  SELECT (r.v ->> 'id')::uuid, t.instance_id, t.rev, t.at, stepwell.from_ms((r.v ->> 'startedAt')::bigint),
    coalesce((r.v ->> 'runNo')::integer, t.run_no),
    coalesce((r.v ->> 'n')::integer, 0), coalesce((r.v ->> 'attempt')::integer, 0), (r.v ->> 'size')::integer, t.tenant_id,
    r.v ->> 'blockId', coalesce(r.v ->> 'iteration', ''), r.v ->> 'kind', r.v -> 'output'
  FROM jsonb_array_elements(p_rows) AS r(v)
  JOIN unnest(a) AS t ON t.i = (r.v ->> 'i')::integer
  WHERE t.verdict = 'ok';
END $$;

CREATE FUNCTION stepwell.write_frames(p_frames jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO stepwell.execution_tree (instance_id, tenant_id, block_id, branch_index, iteration, block_type, state,
    started_at, gate_opened_at, frame)
  SELECT t.instance_id, t.tenant_id, f.v ->> 'blockId', (f.v ->> 'branch')::integer, f.v ->> 'iteration',
    coalesce(c.frame -> 'detail' ->> 'kind', 'root'), coalesce(c.frame ->> 'state', 'open'),
    stepwell.from_ms((c.frame ->> 'startedAt')::bigint), stepwell.open_gate(c.frame), c.frame
  FROM jsonb_array_elements(p_frames) AS f(v)
  JOIN unnest(a) AS t ON t.i = (f.v ->> 'i')::integer
  CROSS JOIN LATERAL (
    SELECT CASE WHEN t.granted AND f.v ? 'intent' THEN f.v -> 'intent' ELSE f.v -> 'frame' END AS frame
  ) c
  WHERE t.verdict = 'ok'
  ON CONFLICT ON CONSTRAINT execution_tree_pkey
  DO UPDATE SET frame = excluded.frame, state = excluded.state, block_type = excluded.block_type,
    started_at = excluded.started_at, gate_opened_at = excluded.gate_opened_at;
END $$;

CREATE FUNCTION stepwell.delete_frames(p_gone jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  DELETE FROM stepwell.execution_tree e
  USING jsonb_array_elements(p_gone) AS f(v)
  JOIN unnest(a) AS t ON t.i = (f.v ->> 'i')::integer
  WHERE t.verdict = 'ok' AND e.instance_id = ANY (ARRAY[t.instance_id]) AND e.tenant_id = t.tenant_id
    AND e.block_id = f.v ->> 'blockId' AND e.branch_index = (f.v ->> 'branch')::integer
    AND e.iteration = f.v ->> 'iteration';
END $$;

CREATE FUNCTION stepwell.finish_facts(p_done jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  UPDATE stepwell.signal_inbox s
  SET delivered = true, delivered_at = t.at, disposition = d.v ->> 'disposition'
  FROM jsonb_array_elements(p_done) AS d(v)
  JOIN unnest(a) AS t ON t.i = (d.v ->> 'i')::integer
  WHERE t.verdict = 'ok' AND s.instance_id = ANY (ARRAY[t.instance_id]) AND s.tenant_id = t.tenant_id
    AND s.seq = (d.v ->> 'seq')::bigint AND NOT s.delivered;
END $$;

-- Takes rows out of the lists (RULINGS B1); before the rows of the same commit are written, so that these stay.
-- A rule about one pass reads that pass only, so that it costs the same however many there are. Row by row: a plan that
-- joined them would read all rows of the instance.
CREATE FUNCTION stepwell.supersede_rows(p_specs jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
  o record;
BEGIN
  FOR r IN
    SELECT t.instance_id, t.tenant_id, t.run_no, coalesce(s.v ->> 'iteration', '') AS pass,
      (s.v -> 'keepLatest')::boolean AS keeps_latest,
      ARRAY(SELECT jsonb_array_elements_text(s.v -> 'blockIds')) AS blocks,
      ARRAY(SELECT jsonb_array_elements_text(s.v -> 'kinds')) AS kinds
    FROM jsonb_array_elements(p_specs) AS s(v)
    JOIN unnest(a) AS t ON t.i = (s.v ->> 'i')::integer
    WHERE t.verdict = 'ok' AND NOT (s.v ? 'unlessStored' AND EXISTS (
      SELECT 1 FROM stepwell.externalized_state e
      WHERE e.instance_id = t.instance_id AND e.tenant_id = t.tenant_id
        AND e.key = ANY (ARRAY(SELECT jsonb_array_elements_text(s.v -> 'unlessStored')))))
  LOOP
    FOR o IN
      SELECT c.block_id, c.rev, c.ordinal FROM unnest(r.blocks) AS b(block_id)
      CROSS JOIN LATERAL stepwell.rows_within(r.tenant_id, r.instance_id, b.block_id, r.pass) c
      WHERE c.kind = ANY (r.kinds)
    LOOP
      CONTINUE WHEN r.keeps_latest AND NOT EXISTS (
        SELECT 1 FROM stepwell.block_outputs later
        WHERE later.instance_id = r.instance_id AND later.block_id = o.block_id AND later.superseded_by IS NULL
          AND later.kind = ANY (r.kinds) AND (later.rev, later.ordinal) > (o.rev, o.ordinal));
      UPDATE stepwell.block_outputs c
      SET superseded_by = r.run_no
      WHERE c.instance_id = r.instance_id AND c.tenant_id = r.tenant_id AND c.block_id = o.block_id
        AND c.rev = o.rev AND c.ordinal = o.ordinal;
    END LOOP;
  END LOOP;
END $$;

CREATE FUNCTION stepwell.write_values(p_more jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF p_more ? 'kv' THEN
    -- The last word about a key in one commit counts.
    WITH last AS (
      SELECT DISTINCT ON (t.instance_id, k.v ->> 'key') t.instance_id, t.tenant_id, t.at, k.v
      FROM jsonb_array_elements(p_more -> 'kv') WITH ORDINALITY AS k(v, position)
      JOIN unnest(a) AS t ON t.i = (k.v ->> 'i')::integer
      WHERE t.verdict = 'ok'
      ORDER BY t.instance_id, k.v ->> 'key', k.position DESC
    ), gone AS (
      DELETE FROM stepwell.kv e USING last
      WHERE NOT last.v ? 'value'
        AND e.instance_id = ANY (ARRAY[last.instance_id]) AND e.tenant_id = last.tenant_id AND e.key = last.v ->> 'key'
    )
    INSERT INTO stepwell.kv (instance_id, key, tenant_id, value, updated_at)
    SELECT last.instance_id, last.v ->> 'key', last.tenant_id, last.v -> 'value', last.at FROM last
    WHERE last.v ? 'value'
    ON CONFLICT ON CONSTRAINT kv_pkey DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at;
  END IF;
  IF p_more ? 'values' THEN
    INSERT INTO stepwell.externalized_state (instance_id, key, first_index, tenant_id, data, created_at)
    SELECT t.instance_id, k.v ->> 'key', (k.v ->> 'first')::integer, t.tenant_id, k.v -> 'data', t.at
    FROM jsonb_array_elements(p_more -> 'values') AS k(v)
    JOIN unnest(a) AS t ON t.i = (k.v ->> 'i')::integer
    WHERE t.verdict = 'ok';
  END IF;
END $$;

-- A cancelled task leaves the listings, one that timed out stays as failed; a late report of either is stale.
CREATE FUNCTION stepwell.close_tasks(p_ids uuid[], p_event text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM 1 FROM stepwell.worker_tasks w WHERE w.id = ANY (p_ids) ORDER BY w.id FOR UPDATE;
  WITH closed AS (
    UPDATE stepwell.worker_tasks w
    SET state = 'failed', closed_by = p_event, completed_at = p_now,
      error_message = CASE p_event WHEN 'timed_out' THEN 'timed out' ELSE 'cancelled' END,
      error_retryable = p_event = 'timed_out'
    WHERE w.id = ANY (p_ids) AND (w.state IN ('pending', 'claimed')) IS TRUE
    RETURNING w.id, w.tenant_id, w.instance_id, w.claim_epoch, w.worker_id
  )
  INSERT INTO stepwell.worker_task_events (task_id, id, tenant_id, instance_id, claim_epoch, worker_id, event, created_at)
  SELECT closed.id, stepwell.uuid_v7(p_now), closed.tenant_id, closed.instance_id, closed.claim_epoch, closed.worker_id,
    p_event, p_now
  FROM closed;
END $$;

CREATE FUNCTION stepwell.write_tasks(p_more jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF p_more ? 'tasksClosed' THEN
    PERFORM stepwell.close_tasks(array_agg(w.id), c.v ->> 'event', max(t.at))
    FROM jsonb_array_elements(p_more -> 'tasksClosed') AS c(v)
    JOIN unnest(a) AS t ON t.i = (c.v ->> 'i')::integer
    JOIN stepwell.worker_tasks w
      ON w.id = ANY (ARRAY[(c.v ->> 'taskId')::uuid]) AND (w.instance_id = t.instance_id AND w.tenant_id = t.tenant_id) IS TRUE
    WHERE t.verdict = 'ok'
    GROUP BY c.v ->> 'event'
    ORDER BY c.v ->> 'event';
  END IF;
  IF p_more ? 'tasksCreated' THEN
    INSERT INTO stepwell.worker_tasks (id, tenant_id, namespace, instance_id, block_id, iteration, handler_name, queue_name, params,
      context, attempt, timeout_ms, idempotency_key, of_hook, at_most_once, checkpoint, checkpoint_seq, created_at)
    SELECT (c.v ->> 'id')::uuid, t.tenant_id,
      (SELECT i.namespace FROM stepwell.task_instances i WHERE i.id = t.instance_id),
      t.instance_id, c.v ->> 'blockId', c.v ->> 'iteration', c.v ->> 'handlerName',
      stepwell.routed_queue(t.tenant_id, c.v ->> 'handlerName', c.v ->> 'queueName'), c.v -> 'params', c.v -> 'context', (c.v ->> 'attempt')::integer,
      (c.v ->> 'timeoutMs')::bigint, c.v ->> 'idempotencyKey', c.v ? 'ofHook', c.v ? 'atMostOnce', previous.checkpoint, coalesce(previous.checkpoint_seq, 0),
      t.at
    FROM jsonb_array_elements(p_more -> 'tasksCreated') AS c(v)
    JOIN unnest(a) AS t ON t.i = (c.v ->> 'i')::integer
    LEFT JOIN stepwell.worker_tasks previous
      ON previous.id = ANY (ARRAY[(c.v ->> 'previousTaskId')::uuid])
        AND (previous.instance_id = t.instance_id AND previous.tenant_id = t.tenant_id) IS TRUE
    WHERE t.verdict = 'ok';
  END IF;
END $$;

-- Children inherit what [SUB-3] lists. A second child for the same entry violates task_instances_child_key.
CREATE FUNCTION stepwell.write_children(p_more jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
BEGIN
  IF p_more ? 'children' THEN
    INSERT INTO stepwell.task_instances (id, sequence_id, run_id, parent_instance_id, parent_block_id, parent_iteration,
      parent_entry, depth, tenant_id, namespace, priority, timezone, session_id, budget, dry_run, dry_run_auto_approve,
      dry_run_real_time, metadata, data, state, next_fire_at, due_at, created_at, updated_at, progress_at)
    SELECT (c.v ->> 'id')::uuid, (c.v ->> 'sequenceId')::uuid, (c.v ->> 'runId')::uuid, i.id, c.v ->> 'blockId',
      c.v ->> 'iteration', (c.v ->> 'entry')::integer, i.depth + 1, i.tenant_id, i.namespace, i.priority, i.timezone,
      i.session_id, i.budget, i.dry_run, i.dry_run_auto_approve, i.dry_run_real_time, c.v -> 'metadata', c.v -> 'data', 'scheduled',
      t.at, t.at, t.at, t.at, t.at
    FROM jsonb_array_elements(p_more -> 'children') AS c(v)
    JOIN unnest(a) AS t ON t.i = (c.v ->> 'i')::integer
    JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[t.instance_id]) AND (i.tenant_id = t.tenant_id) IS TRUE
    WHERE t.verdict = 'ok';
    UPDATE stepwell.task_instances i SET has_children = true
    WHERE NOT i.has_children AND i.id = ANY (ARRAY(
      SELECT t.instance_id FROM jsonb_array_elements(p_more -> 'children') AS c(v)
      JOIN unnest(a) AS t ON t.i = (c.v ->> 'i')::integer WHERE t.verdict = 'ok'));
    INSERT INTO stepwell.start_inputs (instance_id, tenant_id, input)
    SELECT (c.v ->> 'id')::uuid, t.tenant_id, c.v -> 'data'
    FROM jsonb_array_elements(p_more -> 'children') AS c(v)
    JOIN unnest(a) AS t ON t.i = (c.v ->> 'i')::integer
    WHERE t.verdict = 'ok';
  END IF;
  IF p_more ? 'cancels' THEN
    -- The rows were locked together with the turn's own; a child that ended in the meantime needs no signal.
    FOR r IN
      SELECT i.id, i.tenant_id, (c.v ->> 'signalId')::uuid AS signal_id, t.at
      FROM jsonb_array_elements(p_more -> 'cancels') AS c(v)
      JOIN unnest(a) AS t ON t.i = (c.v ->> 'i')::integer
      JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[(c.v ->> 'instanceId')::uuid]) AND (i.tenant_id = t.tenant_id) IS TRUE
      WHERE t.verdict = 'ok' AND i.parent_instance_id = t.instance_id AND NOT stepwell.is_terminal(i.state)
        AND NOT EXISTS (
          SELECT 1 FROM stepwell.signal_inbox s WHERE s.instance_id = i.id AND s.id = (c.v ->> 'signalId')::uuid)
      ORDER BY i.id
    LOOP
      PERFORM stepwell.accept_fact(r.tenant_id, r.id, r.signal_id, 'signal', 'cancel', 'null', r.at);
    END LOOP;
  END IF;
END $$;

CREATE FUNCTION stepwell.write_records(p_more jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF p_more ? 'audit' THEN
    INSERT INTO stepwell.audit_log (tenant_id, instance_id, id, event_type, from_state, to_state, block_id, details, created_at)
    SELECT t.tenant_id, t.instance_id, (e.v ->> 'id')::uuid, 'state_transition', e.v ->> 'fromState', e.v ->> 'toState',
      e.v ->> 'blockId', coalesce(e.v -> 'details', '{}'), t.at
    FROM jsonb_array_elements(p_more -> 'audit') WITH ORDINALITY AS e(v, position)
    JOIN unnest(a) AS t ON t.i = (e.v ->> 'i')::integer
    WHERE t.verdict = 'ok'
    ORDER BY e.position;
  END IF;
  IF p_more ? 'journal' THEN
    INSERT INTO stepwell.journal (tenant_id, instance_id, id, kind, details, created_at)
    SELECT t.tenant_id, t.instance_id, (e.v ->> 'id')::uuid, e.v ->> 'kind', e.v -> 'details', t.at
    FROM jsonb_array_elements(p_more -> 'journal') WITH ORDINALITY AS e(v, position)
    JOIN unnest(a) AS t ON t.i = (e.v ->> 'i')::integer
    WHERE t.verdict = 'ok'
    ORDER BY e.position;
  END IF;
  IF p_more ? 'logs' THEN
    INSERT INTO stepwell.step_logs (tenant_id, instance_id, block_id, level, message, logged_at)
    SELECT t.tenant_id, t.instance_id, e.v ->> 'blockId', e.v ->> 'level', e.v ->> 'message',
      stepwell.from_ms((e.v ->> 'at')::bigint)
    FROM jsonb_array_elements(p_more -> 'logs') WITH ORDINALITY AS e(v, position)
    JOIN unnest(a) AS t ON t.i = (e.v ->> 'i')::integer
    WHERE t.verdict = 'ok'
    ORDER BY e.position;
  END IF;
END $$;

CREATE FUNCTION stepwell.write_more(p_more jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF p_more ? 'kv' OR p_more ? 'values' THEN
    PERFORM stepwell.write_values(p_more, a);
  END IF;
  IF p_more ? 'tasksCreated' OR p_more ? 'tasksClosed' THEN
    PERFORM stepwell.write_tasks(p_more, a);
  END IF;
  IF p_more ? 'shapes' THEN
    PERFORM stepwell.write_shapes(p_more -> 'shapes', a);
  END IF;
  IF p_more ? 'children' OR p_more ? 'cancels' THEN
    PERFORM stepwell.write_children(p_more, a);
  END IF;
  IF p_more ? 'webhooks' THEN
    PERFORM stepwell.queue_webhooks(p_more -> 'webhooks', a);
  END IF;
  IF p_more ? 'audit' OR p_more ? 'journal' OR p_more ? 'logs' THEN
    PERFORM stepwell.write_records(p_more, a);
  END IF;
  IF p_more ? 'goBack' THEN
    PERFORM stepwell.go_back(p_more -> 'goBack', a);
  END IF;
END $$;

-- The other instances that a turn touches: its parent and live children when it ends the instance, and the children that
-- it cancels. They are locked together with the turn's own row, in one order (RULINGS A16). Null when there is none.
CREATE FUNCTION stepwell.touched_by_turn(p_instance uuid, p_ends boolean, p_cancels jsonb) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
  v_others uuid[];
BEGIN
  IF p_ends THEN
    -- The parent of an instance never changes, so it may be read before the lock.
    SELECT i.parent_instance_id, i.has_children INTO r FROM stepwell.task_instances i WHERE i.id = p_instance;
    IF r.parent_instance_id IS NOT NULL THEN
      v_others := ARRAY[r.parent_instance_id];
    END IF;
    IF r.has_children THEN
      SELECT v_others || array_agg(c.id) INTO v_others FROM stepwell.task_instances c
      WHERE c.parent_instance_id = p_instance AND NOT stepwell.is_terminal(c.state);
    END IF;
  END IF;
  IF p_cancels IS NOT NULL THEN
    SELECT v_others || array_agg((c.v ->> 'instanceId')::uuid) INTO v_others FROM jsonb_array_elements(p_cancels) AS c(v);
  END IF;
  RETURN v_others;
END $$;

-- The same for a batch, per turn.
CREATE FUNCTION stepwell.touched_by(p jsonb) RETURNS TABLE (i integer, other uuid)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN QUERY
  SELECT (e.position - 1)::integer, o.other
  FROM jsonb_array_elements(p -> 'turns') WITH ORDINALITY AS e(v, position)
  JOIN stepwell.task_instances t ON t.id = ANY (ARRAY[(e.v ->> 'instanceId')::uuid])
  CROSS JOIN LATERAL (
    SELECT t.parent_instance_id AS other
    UNION ALL
    SELECT c.id FROM stepwell.task_instances c
    WHERE t.has_children AND c.parent_instance_id = t.id AND NOT stepwell.is_terminal(c.state)
  ) o
  WHERE stepwell.is_terminal(e.v -> 'settle' ->> 'state') AND o.other IS NOT NULL
  UNION ALL
  SELECT (c.v ->> 'i')::integer, (c.v ->> 'instanceId')::uuid
  FROM jsonb_array_elements(p -> 'more' -> 'cancels') AS c(v);
END $$;

-- What the end of an instance takes along ([INS-14], [SUB-8], [SUB-9]): facts nobody will process, open tasks, a cancel
-- for children that still run, and the parent's wake.
--
-- p_facts: some instance has had facts; p_family: some has a parent or children.
CREATE FUNCTION stepwell.finish_terminal(
  p_others uuid[], p_facts boolean, p_family boolean, a stepwell.checked_turn[]
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
  v_ids uuid[];
  v_at timestamptz;
  v_tasks uuid[];
BEGIN
  SELECT array_agg(t.instance_id), max(t.at) INTO v_ids, v_at FROM unnest(a) AS t
  WHERE t.verdict = 'ok' AND stepwell.is_terminal(t.settles_to);
  IF p_facts THEN
    WITH expired AS (
      UPDATE stepwell.signal_inbox s SET delivered = true, delivered_at = v_at, disposition = 'expired'
      WHERE s.instance_id = ANY (v_ids) AND NOT s.delivered
      RETURNING s.tenant_id, s.instance_id, s.id, s.kind, s.signal_type, s.seq
    )
    INSERT INTO stepwell.journal (tenant_id, instance_id, id, kind, details, created_at)
    SELECT e.tenant_id, e.instance_id, stepwell.uuid_v7(v_at), 'signal',
      jsonb_build_object('signal_id', e.id, 'signal_type', e.signal_type, 'disposition', 'expired'), v_at
    FROM expired e WHERE e.kind = 'signal' ORDER BY e.instance_id, e.seq;
  END IF;
  v_tasks := ARRAY(
    SELECT w.id FROM stepwell.worker_tasks w
    WHERE w.instance_id = ANY (v_ids) AND w.state IN ('pending', 'claimed') AND NOT w.of_hook);
  IF cardinality(v_tasks) > 0 THEN
    PERFORM stepwell.close_tasks(v_tasks, 'cancelled', v_at);
  END IF;
  IF NOT p_family THEN
    RETURN;
  END IF;
  FOR r IN
    -- A child of this very commit is seen by nobody else yet and needs no lock.
    SELECT c.id, c.tenant_id, t.at, c.xmin = pg_current_xact_id()::xid AS fresh
    FROM unnest(a) AS t
    JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[t.instance_id]) AND i.has_children
    JOIN stepwell.task_instances c ON c.parent_instance_id = ANY (ARRAY[i.id]) AND (c.tenant_id = i.tenant_id) IS TRUE
    WHERE t.verdict = 'ok' AND stepwell.is_terminal(t.settles_to) AND NOT stepwell.is_terminal(c.state)
    ORDER BY c.id
  LOOP
    IF NOT (r.fresh OR r.id = ANY (coalesce(p_others, '{}'))) THEN
      -- A child that came into being between the look and the lock: everything is undone and done again.
      RAISE EXCEPTION 'a child appeared while its parent ended' USING ERRCODE = 'serialization_failure';
    END IF;
    PERFORM stepwell.accept_fact(r.tenant_id, r.id, stepwell.uuid_v7(r.at), 'signal', 'cancel', 'null', r.at);
  END LOOP;
  FOR r IN
    SELECT t.instance_id, t.settles_to, t.at, t.body -> 'settle' -> 'failure' -> 'error' AS error,
      i.parent_instance_id, i.parent_block_id, i.tenant_id
    FROM unnest(a) AS t
    JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[t.instance_id])
    JOIN stepwell.task_instances parent ON parent.id = ANY (ARRAY[i.parent_instance_id]) AND (parent.tenant_id = i.tenant_id) IS TRUE
    WHERE t.verdict = 'ok' AND stepwell.is_terminal(t.settles_to) AND NOT stepwell.is_terminal(parent.state)
    ORDER BY i.parent_instance_id, t.instance_id
  LOOP
    PERFORM stepwell.accept_fact(r.tenant_id, r.parent_instance_id, stepwell.uuid_v7(r.at), 'child', NULL,
      jsonb_build_object('childId', r.instance_id, 'blockId', r.parent_block_id, 'state', r.settles_to,
        'error', coalesce(r.error, 'null')), r.at);
  END LOOP;
END $$;

-- What a cancel refused is kept: compensation must know that these effects may have happened (RULINGS A10).
CREATE FUNCTION stepwell.keep_refused(p_rows jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO stepwell.journal (tenant_id, instance_id, id, kind, details, created_at)
  SELECT t.tenant_id, t.instance_id, stepwell.uuid_v7(t.at), 'unknown_outcome',
    jsonb_build_object('block_id', r.v -> 'blockId', 'iteration', coalesce(r.v -> 'iteration', '""'),
      'attempt', coalesce(r.v -> 'attempt', '0'), 'output', r.v -> 'output'), t.at
  FROM jsonb_array_elements(p_rows) WITH ORDINALITY AS r(v, position)
  JOIN unnest(a) AS t ON t.i = (r.v ->> 'i')::integer
  JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[t.instance_id])
  WHERE t.verdict = 'refused' AND r.v ->> 'kind' = 'result' AND i.cancel_seq > t.seen
  ORDER BY r.position;
END $$;

-- A fact that a turn says it has processed and that it had not seen, that is not open, or that it names twice: a defect
-- of the turn.
CREATE FUNCTION stepwell.odd_fact(p_done jsonb, p_i integer, p_instance uuid, p_seen bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (
    SELECT d.seq
    FROM (SELECT (e.v ->> 'i')::integer AS i, (e.v ->> 'seq')::bigint AS seq FROM jsonb_array_elements(p_done) AS e(v)) d
    WHERE d.i = p_i
    GROUP BY d.seq
    HAVING count(*) > 1 OR d.seq > p_seen OR NOT EXISTS (
      SELECT 1 FROM stepwell.signal_inbox s WHERE s.instance_id = p_instance AND s.seq = d.seq AND NOT s.delivered)
    LIMIT 1);
END $$;

-- The instance rows of turns that neither settle nor change a column besides data: what nearly all steps of a batch are.
CREATE FUNCTION stepwell.update_steps(a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  UPDATE stepwell.task_instances i
  SET data = CASE WHEN t.body ? 'dataSet' OR t.body ? 'dataRemoved' THEN stepwell.patched_data(i.data, t.body)
      ELSE coalesce(t.body -> 'data', i.data) END,
    claims_without_progress = CASE WHEN t.body ? 'progress' THEN 0 ELSE i.claims_without_progress END,
    recovery_count = CASE WHEN t.body ? 'hasResult' THEN 0 ELSE i.recovery_count END,
    suspect = false,
    granted = t.granted,
    has_history = i.has_history OR t.body ? 'history',
    rev = t.rev,
    seen_seq = t.seen,
    committed_token = i.lease_token,
    total_steps = i.total_steps + coalesce((t.body ->> 'steps')::bigint, 0),
    progress_at = t.at,
    current_step = coalesce(t.body -> 'current', i.current_step),
    root_frame = CASE WHEN t.new_root THEN t.root ELSE i.root_frame END,
    gate_opened_at = CASE WHEN t.new_root THEN stepwell.open_gate(t.root) ELSE i.gate_opened_at END
  FROM (
    SELECT u.*, u.body ?| '{root,rootIntent,rootGone}' AS new_root, stepwell.root_after(u.body, u.granted) AS root
    FROM unnest(a) AS u
    WHERE u.verdict = 'ok' AND NOT u.body ?| '{settle,patch}'
  ) t
  WHERE i.id = ANY (ARRAY[t.instance_id]) AND (i.tenant_id = t.tenant_id) IS TRUE;
END $$;

-- The instance rows of the other turns. Whatever a turn does not change keeps its value, which keeps the update HOT.
CREATE FUNCTION stepwell.update_turns(a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  UPDATE stepwell.task_instances i
  SET data = CASE WHEN t.body ? 'dataSet' OR t.body ? 'dataRemoved' THEN stepwell.patched_data(i.data, t.body)
      ELSE coalesce(t.body -> 'data', i.data) END,
    claims_without_progress = CASE WHEN t.body ? 'progress' THEN 0 ELSE i.claims_without_progress END,
    suspect = false,
    granted = t.granted,
    has_history = i.has_history OR t.body ? 'history',
    rev = t.rev,
    progress_at = t.at,
    -- Facts that the end drops count as seen: they do not wake a later run.
    seen_seq = CASE WHEN stepwell.is_terminal(t.settles_to) THEN i.wake_seq ELSE t.seen END,
    committed_token = i.lease_token,
    current_step = coalesce(t.body -> 'current', CASE WHEN NOT t.new_run THEN i.current_step END),
    root_frame = CASE WHEN t.new_root THEN t.root ELSE i.root_frame END,
    gate_opened_at = CASE WHEN t.new_root THEN stepwell.open_gate(t.root) ELSE i.gate_opened_at END,
    config = coalesce(t.patch -> 'config', i.config),
    audit = coalesce(t.patch -> 'audit', i.audit),
    metadata = coalesce(t.patch -> 'metadata', i.metadata),
    budget = coalesce(t.patch -> 'budget', i.budget),
    usage = coalesce(t.patch -> 'usage', CASE WHEN NOT t.new_run THEN i.usage END),
    -- A new run starts counting afresh ([OP-2]); rev goes on, it orders the rows of all runs.
    run_no = coalesce((t.patch -> 'newRun' ->> 'runNo')::integer, i.run_no),
    run_id = coalesce((t.patch -> 'newRun' ->> 'runId')::uuid, i.run_id),
    recovery_count = CASE WHEN t.body ? 'hasResult' OR t.new_run THEN 0 ELSE i.recovery_count END,
    total_steps = CASE WHEN t.new_run THEN 0 ELSE i.total_steps END + coalesce((t.body ->> 'steps')::bigint, 0),
    started_at = CASE
      WHEN t.patch ? 'startedAt' THEN stepwell.from_ms((t.patch ->> 'startedAt')::bigint)
      WHEN t.new_run THEN NULL ELSE i.started_at END,
    cancel_requested_at = CASE
      WHEN t.patch ? 'cancelRequestedAt' THEN stepwell.from_ms((t.patch ->> 'cancelRequestedAt')::bigint)
      WHEN t.new_run THEN NULL ELSE i.cancel_requested_at END,
    state = coalesce(t.settles_to, t.patch ->> 'state', i.state),
    -- Without a state it is the settle of a turn after the end, which only did cleanup.
    failure = CASE WHEN t.settle ? 'state' THEN t.settle -> 'failure' WHEN t.new_run THEN NULL ELSE i.failure END,
    hooks_pending = CASE WHEN t.patch ? 'hooks' THEN nullif(t.patch -> 'hooks', 'null') ELSE i.hooks_pending END,
    next_fire_at = CASE WHEN t.settle IS NULL THEN i.next_fire_at
      ELSE stepwell.from_ms((t.settle ->> 'nextFireAt')::bigint) END,
    -- A settle decides from the row whether a fact came in after the last one the turn was given (RULINGS A5).
    due_at = CASE WHEN t.settle IS NULL THEN i.due_at
      WHEN i.wake_seq > t.seen AND stepwell.is_terminal(t.settles_to) IS NOT TRUE THEN t.at
      ELSE stepwell.from_ms((t.settle ->> 'dueAt')::bigint) END,
    open_waits = CASE WHEN t.settle IS NULL THEN i.open_waits
      ELSE coalesce((t.settle ->> 'openWaits')::integer, 0) END,
    lease_until = CASE WHEN t.settle IS NULL THEN i.lease_until END,
    lease_token = CASE WHEN t.settle IS NULL THEN i.lease_token END,
    lease_owner = CASE WHEN t.settle IS NULL THEN i.lease_owner END,
    -- A turn that ends clears the instance, unless it was alone before and nothing has come of it yet.
    company = CASE WHEN NOT t.new_run AND (t.settle IS NULL OR (i.recovery_count > 0 AND NOT t.body ? 'hasResult'))
      THEN i.company END,
    cancel_seq = CASE WHEN t.new_run THEN 0 ELSE i.cancel_seq END,
    updated_at = CASE WHEN t.settle IS NULL AND t.patch IS NULL THEN i.updated_at ELSE t.at END
  FROM (
    SELECT u.*, u.body -> 'settle' AS settle, u.body -> 'patch' AS patch,
      coalesce(u.body -> 'patch' ? 'newRun', false) AS new_run,
      u.body ?| '{root,rootIntent,rootGone}' AS new_root, stepwell.root_after(u.body, u.granted) AS root
    FROM unnest(a) AS u
    WHERE u.verdict = 'ok' AND u.body ?| '{settle,patch}'
  ) t
  WHERE i.id = ANY (ARRAY[t.instance_id]) AND (i.tenant_id = t.tenant_id) IS TRUE;
END $$;

CREATE FUNCTION stepwell.commit_turn_v1(p jsonb) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v jsonb := p -> 'turns' -> 0;
  v_tenant text := v ->> 'tenantId';
  v_id uuid := (v ->> 'instanceId')::uuid;
  v_run_no integer := coalesce((v -> 'patch' -> 'newRun' ->> 'runNo')::integer, (v ->> 'runNo')::integer);
  v_settles_to text := v -> 'settle' ->> 'state';
  v_others uuid[];
  v_seen bigint;
  v_verdict text;
  v_granted boolean;
  v_now timestamptz;
  v_at timestamptz;
  v_new_root boolean := v ?| '{root,rootIntent,rootGone}';
  v_root jsonb;
  v_row jsonb;
  v_odd bigint;
  v_next uuid;
  r record;
  a stepwell.checked_turn[];
BEGIN
  IF p ? 'touches' THEN
    v_others := stepwell.touched_by_turn(v_id, p ? 'ends', p -> 'more' -> 'cancels');
    IF p ? 'outside' THEN
      v_others := v_others || stepwell.hold_outside(v_tenant, v_id, p -> 'outside');
    END IF;
    IF v_others IS NOT NULL THEN
      PERFORM 1 FROM stepwell.task_instances i WHERE i.id = ANY (v_others || v_id) ORDER BY i.id FOR NO KEY UPDATE;
    END IF;
  END IF;
  SELECT i.epoch, i.lease_token, i.committed_token, i.rev, i.wake_seq, i.seen_seq, i.cancel_seq, i.run_no, i.granted,
    i.progress_at, i.state, i.concurrency_key,
    EXISTS (SELECT 1 FROM stepwell.circuit_breakers b WHERE b.tenant_id = v_tenant AND b.failure_count > 0) AS troubled
  INTO r
  FROM stepwell.task_instances i WHERE i.id = v_id AND (i.tenant_id = v_tenant) IS TRUE
  FOR NO KEY UPDATE;
  v_now := stepwell.sw_now();
  v_seen := greatest((v ->> 'seenSeq')::bigint, r.seen_seq);
  v_verdict := stepwell.turn_verdict(r.epoch, r.lease_token, r.committed_token, r.rev, r.wake_seq, r.cancel_seq, r.run_no,
    v_seen, v);
  IF v_verdict = 'ok' AND p ? 'done' THEN
    v_odd := stepwell.odd_fact(p -> 'done', 0, v_id, v_seen);
    IF v_odd IS NOT NULL THEN
      v_verdict := 'bug: fact ' || v_odd || ' is not open';
    END IF;
  END IF;
  IF v_verdict = 'ok' AND p ? 'outside' THEN
    -- Before the decision about the intents: what the run sends to itself comes first.
    r.wake_seq := stepwell.write_outside(v_tenant, v_id, p ? 'ends', p -> 'outside', v_now);
  END IF;
  v_granted := r.wake_seq = v_seen;
  v_at := greatest(v_now, r.progress_at);
  a := ARRAY[ROW(0, v_tenant, v_id, v_run_no, r.rev + 1, v_seen, r.wake_seq, v_verdict, v_granted, v_at, v_settles_to,
    NULL, v)::stepwell.checked_turn];
  IF v_verdict <> 'ok' THEN
    IF v_verdict = 'refused' AND p ? 'rows' THEN
      PERFORM stepwell.keep_refused(p -> 'rows', a);
    END IF;
    RETURN json_build_object('now', stepwell.to_ms(v_now), 'verdicts', json_build_array(json_build_object(
      'verdict', v_verdict, 'granted', r.granted,
      'inbox', CASE WHEN v_verdict = 'already' AND r.wake_seq > (v ->> 'seenSeq')::bigint
        THEN stepwell.inbox_json(v_tenant, v_id, (v ->> 'seenSeq')::bigint) END,
      'taken', CASE WHEN v_verdict = 'already' AND r.granted AND p ? 'takes'
        THEN stepwell.taken_before(p, 0, v_tenant, v_id) END)));
  END IF;
  IF p ? 'takes' OR p -> 'more' ? 'outcomes' OR (r.troubled AND v ? 'ok') THEN
    p := stepwell.limit_turns(p, a);
    a := stepwell.with_payload(p, a);
    v := p -> 'turns' -> 0;
  END IF;

  IF v ? 'settle' OR v ? 'patch' THEN
    PERFORM stepwell.update_turns(a);
  ELSE
    v_root := stepwell.root_after(v, v_granted);
    UPDATE stepwell.task_instances i
    SET data = CASE WHEN v ? 'dataSet' OR v ? 'dataRemoved' THEN stepwell.patched_data(i.data, v) ELSE coalesce(v -> 'data', i.data) END,
      recovery_count = CASE WHEN v ? 'hasResult' THEN 0 ELSE i.recovery_count END,
      claims_without_progress = CASE WHEN v ? 'progress' THEN 0 ELSE i.claims_without_progress END,
      suspect = false,
      granted = v_granted,
      has_history = i.has_history OR v ? 'history',
      rev = i.rev + 1,
      seen_seq = v_seen,
      committed_token = i.lease_token,
      total_steps = i.total_steps + coalesce((v ->> 'steps')::bigint, 0),
      progress_at = v_at,
      current_step = coalesce(v -> 'current', i.current_step),
      root_frame = CASE WHEN v_new_root THEN v_root ELSE i.root_frame END,
      gate_opened_at = CASE WHEN v_new_root THEN stepwell.open_gate(v_root) ELSE i.gate_opened_at END
    WHERE i.id = v_id;
  END IF;
  IF p -> 'more' ? 'supersede' THEN
    PERFORM stepwell.supersede_rows(p -> 'more' -> 'supersede', a);
  END IF;
  IF p ? 'rows' THEN
    IF jsonb_array_length(p -> 'rows') = 1 THEN
      v_row := p -> 'rows' -> 0;
      INSERT INTO stepwell.block_outputs (id, instance_id, rev, created_at, started_at, run_no, ordinal, attempt,
        output_size, tenant_id, block_id, iteration, kind, output)
      VALUES ((v_row ->> 'id')::uuid, v_id, r.rev + 1, v_at, stepwell.from_ms((v_row ->> 'startedAt')::bigint),
        coalesce((v_row ->> 'runNo')::integer, v_run_no), coalesce((v_row ->> 'n')::integer, 0),
        coalesce((v_row ->> 'attempt')::integer, 0), (v_row ->> 'size')::integer,
        v_tenant, v_row ->> 'blockId', coalesce(v_row ->> 'iteration', ''), v_row ->> 'kind', v_row -> 'output');
    ELSE
      PERFORM stepwell.write_rows(p -> 'rows', a);
    END IF;
  END IF;
  IF p ? 'gone' OR p ? 'frames' OR p ? 'done' OR p ? 'more' THEN
    PERFORM stepwell.write_parts(p, a);
  END IF;
  IF p ? 'ends' THEN
    PERFORM stepwell.finish_terminal(v_others, r.wake_seq > 0, v_others IS NOT NULL OR p -> 'more' ? 'children', a);
  END IF;
  IF r.concurrency_key IS NOT NULL AND r.state = 'running'
    AND coalesce(v_settles_to, v -> 'patch' ->> 'state', 'running') <> 'running' THEN
    v_next := stepwell.release_slot(v_tenant, r.concurrency_key, v_now);
  END IF;
  RETURN json_build_object('now', stepwell.to_ms(v_now), 'verdicts', json_build_array(json_build_object(
    'verdict', 'ok', 'granted', v_granted,
    'inbox', CASE WHEN r.wake_seq > (v ->> 'seenSeq')::bigint AND NOT p ? 'ends'
      THEN stepwell.inbox_json(v_tenant, v_id, (v ->> 'seenSeq')::bigint) END,
    'taken', p -> 'taken' -> '0', 'next', v_next,
    'breakers', CASE WHEN r.troubled OR p -> 'more' ? 'outcomes' THEN stepwell.open_breakers(v_tenant) END)));
END $$;

-- Group commit: one ordered lock for all instances, locked ones are left out as `busy` (RULINGS A13). No sub-transaction:
-- an SQL error undoes all of it and the caller sends each turn alone (RULINGS A15).
CREATE FUNCTION stepwell.commit_turns_v1(p jsonb) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  v_ids uuid[];
  v_others uuid[];
  v_other_turns integer[];
  v_busy integer[] := '{}';
  v_locked uuid[];
  v_all boolean;
  v_moves boolean;
  v_plain boolean;
  v_limits boolean;
  v_now timestamptz;
  v_next jsonb;
  a stepwell.checked_turn[];
BEGIN
  SELECT array_agg((x.v ->> 'instanceId')::uuid) INTO v_ids FROM jsonb_array_elements(p -> 'turns') AS x(v);
  IF p ? 'outside' THEN
    RAISE EXCEPTION 'a turn that reaches beyond its instance goes alone' USING ERRCODE = 'SW002';
  END IF;
  IF p ? 'touches' THEN
    SELECT array_agg(t.other), array_agg(t.i) INTO v_others, v_other_turns FROM stepwell.touched_by(p) AS t;
  END IF;
  SELECT coalesce(array_agg(l.id), '{}') INTO v_locked FROM (
    SELECT i.id FROM stepwell.task_instances i
    WHERE i.id = ANY (v_ids || v_others)
    ORDER BY i.id
    FOR NO KEY UPDATE SKIP LOCKED
  ) l;
  v_now := stepwell.sw_now();
  v_all := v_others IS NULL AND cardinality(v_locked) = cardinality(v_ids);
  -- Where as many rows are locked as there are turns, no two turns are of one instance.
  IF NOT v_all AND cardinality(v_ids) <> (SELECT count(DISTINCT u.id) FROM unnest(v_ids) AS u(id)) THEN
    RAISE EXCEPTION 'a batch holds two turns of one instance' USING ERRCODE = 'SW002';
  END IF;
  IF v_others IS NOT NULL THEN
    -- A turn whose parent or child is locked by somebody else is busy too.
    SELECT coalesce(array_agg(DISTINCT t.i), '{}') INTO v_busy
    FROM unnest(v_other_turns, v_others) AS t(i, other)
    JOIN stepwell.task_instances o ON o.id = t.other
    WHERE NOT (t.other = ANY (v_locked));
  END IF;

  -- Values are computed once and not wherever they are used: that is what OFFSET 0 is for.
  SELECT
    array_agg(ROW(d.n, d.tenant_id, d.instance_id, d.run_no, d.turn_rev + 1, d.seen, d.wake_seq, d.verdict, d.granted, d.at,
      d.settles_to, d.slot, d.v)::stepwell.checked_turn ORDER BY d.n),
    bool_or(d.moves), bool_and(d.verdict = 'ok' AND d.granted AND d.slot IS NULL AND d.wake_seq <= d.seen_before)
  INTO a, v_moves, v_plain
  FROM (
    SELECT c.n, c.tenant_id, c.instance_id, c.run_no, c.turn_rev, c.seen, c.wake_seq, c.settles_to, c.seen_before, c.v,
      CASE
        WHEN c.row_epoch IS NOT NULL AND NOT v_all AND (NOT (c.instance_id = ANY (v_locked)) OR c.n = ANY (v_busy)) THEN 'busy'
        ELSE stepwell.turn_verdict(c.row_epoch, c.row_token, c.row_committed, c.row_rev, c.wake_seq, c.row_cancel_seq,
          c.row_run_no, c.seen, c.v)
      END AS verdict,
      c.wake_seq = c.seen AS granted, greatest(v_now, c.progress_at) AS at,
      CASE WHEN c.row_state = 'running' AND coalesce(c.settles_to, c.v -> 'patch' ->> 'state', 'running') <> 'running'
        THEN c.concurrency_key END AS slot,
      c.v ?| '{settle,patch}' AS moves
    FROM (
      SELECT (x.position - 1)::integer AS n, x.v, x.v ->> 'tenantId' AS tenant_id, (x.v ->> 'instanceId')::uuid AS instance_id,
        coalesce((x.v -> 'patch' -> 'newRun' ->> 'runNo')::integer, (x.v ->> 'runNo')::integer) AS run_no,
        (x.v ->> 'rev')::bigint AS turn_rev, x.v -> 'settle' ->> 'state' AS settles_to,
        (x.v ->> 'seenSeq')::bigint AS seen_before, greatest((x.v ->> 'seenSeq')::bigint, i.seen_seq) AS seen,
        i.epoch AS row_epoch, i.lease_token AS row_token, i.committed_token AS row_committed, i.rev AS row_rev,
        i.wake_seq, i.cancel_seq AS row_cancel_seq, i.run_no AS row_run_no, i.progress_at, i.state AS row_state,
        i.concurrency_key
      FROM jsonb_array_elements(p -> 'turns') WITH ORDINALITY AS x(v, position)
      LEFT JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[(x.v ->> 'instanceId')::uuid]) AND (i.tenant_id = x.v ->> 'tenantId') IS TRUE
      OFFSET 0
    ) c
    OFFSET 0
  ) d;
  IF p ? 'done' THEN
    a := stepwell.check_facts(p -> 'done', a);
  END IF;
  v_limits := p ? 'takes' OR p -> 'more' ? 'outcomes'
    OR EXISTS (
      SELECT 1 FROM stepwell.circuit_breakers b
      WHERE b.tenant_id = ANY (ARRAY(SELECT DISTINCT t.tenant_id FROM unnest(a) AS t)) AND b.failure_count > 0);
  IF v_limits THEN
    p := stepwell.limit_turns(p, a);
    a := stepwell.with_payload(p, a);
  END IF;

  PERFORM stepwell.update_steps(a);
  IF v_moves THEN
    PERFORM stepwell.update_turns(a);
  END IF;
  IF p -> 'more' ? 'supersede' THEN
    PERFORM stepwell.supersede_rows(p -> 'more' -> 'supersede', a);
  END IF;
  IF p ? 'rows' THEN
    PERFORM stepwell.write_rows(p -> 'rows', a);
    IF EXISTS (SELECT 1 FROM unnest(a) AS t WHERE t.verdict = 'refused') THEN
      PERFORM stepwell.keep_refused(p -> 'rows', a);
    END IF;
  END IF;
  PERFORM stepwell.write_parts(p, a);
  IF p ? 'ends' THEN
    PERFORM stepwell.finish_terminal(v_others, true, v_others IS NOT NULL OR p -> 'more' ? 'children', a);
  END IF;
  -- Most batches have nothing more to tell, and each verdict would be the same.
  IF v_plain AND NOT v_limits AND NOT p ? 'done' THEN
    RETURN json_build_object('now', stepwell.to_ms(v_now), 'allGranted', true);
  END IF;
  SELECT jsonb_object_agg(k.i, stepwell.release_slot(k.tenant_id, k.slot, v_now)) INTO v_next
  FROM (
    SELECT t.i, t.tenant_id, t.slot FROM unnest(a) AS t WHERE t.verdict = 'ok' AND t.slot IS NOT NULL
    ORDER BY t.tenant_id, t.slot
  ) k;
  RETURN json_build_object('now', stepwell.to_ms(v_now), 'verdicts', (
    SELECT json_agg(json_build_object(
      'verdict', t.verdict,
      'granted', CASE WHEN t.verdict = 'already' THEN (
        SELECT i.granted FROM stepwell.task_instances i WHERE i.id = t.instance_id) ELSE t.granted END,
      'inbox', CASE WHEN t.verdict IN ('ok', 'already') AND t.wake_seq > (t.body ->> 'seenSeq')::bigint
        AND NOT coalesce(stepwell.is_terminal(t.settles_to), false)
        THEN stepwell.inbox_json(t.tenant_id, t.instance_id, (t.body ->> 'seenSeq')::bigint) END,
      'taken', CASE
        WHEN t.verdict = 'already' AND p ? 'takes' THEN stepwell.taken_before(p, t.i, t.tenant_id, t.instance_id)
        ELSE p -> 'taken' -> t.i::text END,
      'next', v_next ->> t.i::text,
      'breakers', CASE WHEN v_limits THEN stepwell.open_breakers(t.tenant_id) END) ORDER BY t.i)
    FROM unnest(a) AS t));
END $$;

-- The turns with a defect in their `done` list marked as such.
CREATE FUNCTION stepwell.check_facts(p_done jsonb, a stepwell.checked_turn[]) RETURNS stepwell.checked_turn[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  r record;
  t stepwell.checked_turn;
BEGIN
  FOR r IN
    SELECT u.i, stepwell.odd_fact(p_done, u.i, u.instance_id, u.seen) AS odd
    FROM unnest(a) AS u
    WHERE u.verdict = 'ok' AND u.i IN (SELECT (d.v ->> 'i')::integer FROM jsonb_array_elements(p_done) AS d(v))
  LOOP
    IF r.odd IS NOT NULL THEN
      t := a[r.i + 1];
      t.verdict := 'bug: fact ' || r.odd || ' is not open';
      a[r.i + 1] := t;
    END IF;
  END LOOP;
  RETURN a;
END $$;

CREATE FUNCTION stepwell.write_parts(p jsonb, a stepwell.checked_turn[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF p ? 'gone' THEN
    PERFORM stepwell.delete_frames(p -> 'gone', a);
  END IF;
  IF p ? 'frames' THEN
    PERFORM stepwell.write_frames(p -> 'frames', a);
  END IF;
  IF p ? 'done' THEN
    PERFORM stepwell.finish_facts(p -> 'done', a);
  END IF;
  IF p ? 'more' THEN
    PERFORM stepwell.write_more(p -> 'more', a);
  END IF;
END $$;
