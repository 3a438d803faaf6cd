-- Worker tasks. Lock order: the instance, then its task (RULINGS A16). Workers are held to the claim epoch they were
-- given; whatever does not fit it is stale and leaves one event behind ([WRK-6]).

CREATE FUNCTION stepwell.task_json(w stepwell.worker_tasks) RETURNS json
LANGUAGE sql STABLE
RETURN json_build_object(
  'id', w.id, 'tenantId', w.tenant_id, 'namespace', w.namespace, 'instanceId', w.instance_id, 'blockId', w.block_id,
  'iteration', w.iteration,
  'handlerName', w.handler_name, 'queueName', w.queue_name, 'params', w.params, 'context', w.context,
  'attempt', w.attempt, 'timeoutMs', w.timeout_ms, 'state', w.state, 'workerId', w.worker_id,
  'claimedAt', stepwell.to_ms(w.claimed_at), 'heartbeatAt', stepwell.to_ms(w.heartbeat_at),
  'claimEpoch', w.claim_epoch, 'resumeCheckpoint', w.checkpoint, 'checkpointSeq', w.checkpoint_seq,
  'redelivery', w.claim_epoch > 1, 'idempotencyKey', w.idempotency_key,
  'completedAt', stepwell.to_ms(w.completed_at), 'output', w.output, 'errorMessage', w.error_message,
  'errorRetryable', w.error_retryable, 'createdAt', stepwell.to_ms(w.created_at));

CREATE FUNCTION stepwell.note_task_event(
  w stepwell.worker_tasks, p_worker text, p_epoch integer, p_event text, p_reason text, p_now timestamptz
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO stepwell.worker_task_events
    (task_id, id, tenant_id, instance_id, claim_epoch, worker_id, event, reason, created_at)
  VALUES (w.id, stepwell.uuid_v7(p_now), w.tenant_id, w.instance_id, p_epoch, p_worker, p_event, p_reason, p_now);
END $$;

-- Why this worker's claim of the task does not hold, or null when it does.
CREATE FUNCTION stepwell.stale_reason(w stepwell.worker_tasks, p_worker text, p_epoch integer) RETURNS text
LANGUAGE sql IMMUTABLE
RETURN CASE
  WHEN w.closed_by IS NOT NULL THEN w.closed_by
  WHEN w.state <> 'claimed' THEN w.state
  WHEN w.worker_id <> p_worker THEN 'other_worker'
  WHEN w.claim_epoch <> p_epoch THEN 'other_epoch'
END;

CREATE FUNCTION stepwell.report_task_v1(
  p_tenant text, p_task uuid, p_worker text, p_epoch integer, p_fact uuid, p_outcome jsonb, p_logs jsonb
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  w stepwell.worker_tasks;
  v_state text;
  v_reason text;
  v_now timestamptz;
  v_breaker jsonb := p_outcome -> 'breaker';
BEGIN
  p_outcome := p_outcome - 'breaker';
  -- The instance of a task never changes, so it may be read before the locks.
  SELECT i.state INTO v_state FROM stepwell.task_instances i
  WHERE i.id = (SELECT t.instance_id FROM stepwell.worker_tasks t
    WHERE t.id = p_task AND (p_tenant IS NULL OR t.tenant_id = p_tenant))
  FOR NO KEY UPDATE;
  SELECT * INTO w FROM stepwell.worker_tasks t
  WHERE t.id = p_task AND (p_tenant IS NULL OR t.tenant_id = p_tenant)
  FOR UPDATE;
  IF w.id IS NULL THEN
    RETURN json_build_object('status', 'not_found');
  END IF;
  v_now := stepwell.sw_now();
  -- The same fact again after a lost answer is accepted again, without effect (RULINGS A36).
  IF EXISTS (SELECT 1 FROM stepwell.signal_inbox s WHERE s.instance_id = w.instance_id AND s.id = p_fact) THEN
    RETURN json_build_object('status', 'accepted', 'tenantId', w.tenant_id, 'instanceId', w.instance_id);
  END IF;
  v_reason := coalesce(stepwell.stale_reason(w, p_worker, p_epoch),
    CASE WHEN v_state IS NULL OR (stepwell.is_terminal(v_state) AND NOT w.of_hook) THEN 'instance_ended' END);
  IF v_reason IS NOT NULL THEN
    PERFORM stepwell.note_task_event(w, p_worker, p_epoch, 'stale_mutation_rejected', v_reason, v_now);
    RETURN json_build_object('status', 'stale');
  END IF;

  UPDATE stepwell.worker_tasks t
  SET state = CASE WHEN (p_outcome -> 'ok')::boolean THEN 'completed' ELSE 'failed' END,
    output = p_outcome -> 'output',
    error_message = p_outcome ->> 'message',
    error_retryable = (p_outcome -> 'retryable')::boolean,
    error_code = p_outcome ->> 'code',
    error_details = p_outcome -> 'details',
    completed_at = v_now
  WHERE t.id = w.id;
  PERFORM stepwell.note_task_event(w, p_worker, p_epoch,
    CASE WHEN (p_outcome -> 'ok')::boolean THEN 'completed' ELSE 'failed' END, p_outcome ->> 'message', v_now);
  IF jsonb_array_length(p_logs) > 0 THEN
    INSERT INTO stepwell.step_logs (tenant_id, instance_id, block_id, level, message, logged_at)
    SELECT w.tenant_id, w.instance_id, w.block_id, l.v ->> 'level', l.v ->> 'message',
      coalesce(stepwell.from_ms((l.v ->> 'at')::bigint), v_now)
    FROM jsonb_array_elements(p_logs) WITH ORDINALITY AS l(v, position)
    ORDER BY l.position;
  END IF;
  IF v_breaker IS NOT NULL THEN
    PERFORM stepwell.tell_worker_failure(w.tenant_id, w.instance_id, w.handler_name, v_breaker);
  END IF;
  PERFORM stepwell.accept_fact(w.tenant_id, w.instance_id, p_fact, 'task', NULL,
    jsonb_build_object('taskId', w.id, 'blockId', w.block_id, 'outcome', p_outcome), v_now);
  RETURN json_build_object('status', 'accepted', 'tenantId', w.tenant_id, 'instanceId', w.instance_id);
END $$;

-- A sign of life, perhaps with a checkpoint. The answer tells whether the instance is to be cancelled ([WRK-12]).
CREATE FUNCTION stepwell.heartbeat_task_v1(
  p_tenant text, p_task uuid, p_worker text, p_epoch integer, p_seq integer, p_checkpoint jsonb
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  w stepwell.worker_tasks;
  v_reason text;
  v_now timestamptz;
BEGIN
  SELECT * INTO w FROM stepwell.worker_tasks t
  WHERE t.id = p_task AND (p_tenant IS NULL OR t.tenant_id = p_tenant)
  FOR UPDATE;
  IF w.id IS NULL THEN
    RETURN json_build_object('status', 'not_found');
  END IF;
  v_now := stepwell.sw_now();
  v_reason := stepwell.stale_reason(w, p_worker, p_epoch);
  IF v_reason IS NOT NULL THEN
    PERFORM stepwell.note_task_event(w, p_worker, p_epoch, 'stale_mutation_rejected', v_reason, v_now);
    RETURN json_build_object('status', 'stale');
  END IF;
  IF p_seq <> w.checkpoint_seq THEN
    RETURN json_build_object('status', 'stale_checkpoint');
  END IF;
  UPDATE stepwell.worker_tasks t
  SET heartbeat_at = v_now,
    checkpoint = CASE WHEN p_seq IS NULL THEN t.checkpoint ELSE p_checkpoint END,
    checkpoint_seq = CASE WHEN p_seq IS NULL THEN t.checkpoint_seq ELSE t.checkpoint_seq + 1 END
  WHERE t.id = w.id
  RETURNING t.* INTO w;
  RETURN json_build_object('status', 'ok', 'checkpointSeq', w.checkpoint_seq, 'cancelled', (
    SELECT i.cancel_seq > 0 AND NOT w.of_hook FROM stepwell.task_instances i WHERE i.id = w.instance_id));
END $$;

-- Remembers who asks for what. A row that was written in the last second and knows it all is left alone, so that the
-- polls of an idle worker cost few writes.
CREATE FUNCTION stepwell.register_worker(
  p_tenant text, p_worker text, p_handler text, p_queue text, p_version text, p_now timestamptz
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF EXISTS (
    SELECT 1 FROM stepwell.worker_registry g
    WHERE g.tenant_id = p_tenant AND g.worker_id = p_worker AND g.handler_name = p_handler
      AND (p_queue IS NULL OR p_queue = ANY (g.queues)) AND g.version IS NOT DISTINCT FROM p_version
      AND g.last_seen_at > p_now - interval '1 second' AND g.last_seen_at <= p_now) THEN
    RETURN;
  END IF;
  INSERT INTO stepwell.worker_registry AS g
    (tenant_id, worker_id, handler_name, queues, version, registered_at, last_seen_at)
  VALUES (p_tenant, p_worker, p_handler, CASE WHEN p_queue IS NULL THEN '{}' ELSE ARRAY[p_queue] END, p_version, p_now, p_now)
  ON CONFLICT ON CONSTRAINT worker_registry_pkey DO UPDATE
  SET queues = CASE WHEN p_queue IS NULL OR p_queue = ANY (g.queues) THEN g.queues ELSE g.queues || p_queue END,
    version = excluded.version,
    last_seen_at = excluded.last_seen_at;
END $$;

CREATE FUNCTION stepwell.poll_tasks_v1(
  p_tenant text, p_handler text, p_queue text, p_worker text, p_version text, p_limit integer, p_max_bytes integer
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET enable_sort = off AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
  v_ids uuid[];
  v_refused text[];
  v_bytes bigint := 0;
BEGIN
  PERFORM stepwell.register_worker(coalesce(p_tenant, ''), p_worker, p_handler, p_queue, p_version, v_now);
  v_refused := stepwell.tenants_that_refuse(p_tenant, p_handler, p_version);
  IF p_tenant = ANY (v_refused) THEN
    RETURN '[]'::json;
  END IF;
  -- Tasks of a paused instance stay where they are ([WRK-8]); those of cleanup hooks belong to ended ones.
  IF p_tenant IS NULL THEN
    SELECT array_agg(c.id) INTO v_ids FROM (
      SELECT w.id FROM stepwell.worker_tasks w
      WHERE w.state = 'pending' AND w.handler_name = p_handler AND (p_queue IS NULL OR w.queue_name = p_queue)
        AND w.tenant_id <> ALL (v_refused)
        -- One look per task: with EXISTS under an OR the planner would read all instances for a hash.
        AND (w.of_hook OR (SELECT true FROM stepwell.task_instances i
          WHERE i.id = w.instance_id AND i.state IN ('scheduled', 'running', 'waiting') LIMIT 1))
      ORDER BY w.created_at, w.id LIMIT p_limit
      FOR UPDATE OF w SKIP LOCKED
    ) c;
  ELSE
    SELECT array_agg(c.id) INTO v_ids FROM (
      SELECT w.id FROM stepwell.worker_tasks w
      WHERE w.state = 'pending' AND w.handler_name = p_handler AND w.tenant_id = p_tenant
        AND (p_queue IS NULL OR w.queue_name = p_queue)
        -- One look per task: with EXISTS under an OR the planner would read all instances for a hash.
        AND (w.of_hook OR (SELECT true FROM stepwell.task_instances i
          WHERE i.id = w.instance_id AND i.state IN ('scheduled', 'running', 'waiting') LIMIT 1))
      ORDER BY w.created_at, w.id LIMIT p_limit
      FOR UPDATE OF w SKIP LOCKED
    ) c;
  END IF;
  IF v_ids IS NULL THEN
    RETURN '[]'::json;
  END IF;
  -- What is claimed and does not fit through the host would come to nobody: the others stay where they are. Telling how
  -- large a task is means reading all of it, so nobody looks beyond the first that does not fit.
  FOR v_place IN 1 .. CASE WHEN cardinality(v_ids) > 1 THEN cardinality(v_ids) ELSE 0 END LOOP
    SELECT v_bytes + octet_length(w.params::text) + octet_length(w.context::text)
      + coalesce(octet_length(w.checkpoint::text), 0) INTO v_bytes
    FROM stepwell.worker_tasks w WHERE w.id = v_ids[v_place];
    IF v_place > 1 AND v_bytes > p_max_bytes THEN
      v_ids := v_ids[1:v_place - 1];
      EXIT;
    END IF;
  END LOOP;
  UPDATE stepwell.worker_tasks w
  SET state = 'claimed', worker_id = p_worker, claim_epoch = w.claim_epoch + 1, claimed_at = v_now, heartbeat_at = v_now
  WHERE w.id = ANY (v_ids);
  INSERT INTO stepwell.worker_task_events (task_id, id, tenant_id, instance_id, claim_epoch, worker_id, event, created_at)
  SELECT w.id, stepwell.uuid_v7(v_now), w.tenant_id, w.instance_id, w.claim_epoch, p_worker, 'claimed', v_now
  FROM stepwell.worker_tasks w WHERE w.id = ANY (v_ids);
  RETURN (
    SELECT json_agg(stepwell.task_json(w) ORDER BY w.created_at, w.id)
    FROM stepwell.worker_tasks w WHERE w.id = ANY (v_ids));
END $$;

-- Claims of steps that must not be done twice, whose worker fell silent, are not given out again: nobody knows what became
-- of them, and the run is told so ([CON-6], RULINGS A20, B10). What somebody else holds right now waits for the next look.
CREATE FUNCTION stepwell.give_up_silent_tasks(p_since timestamptz, p_now timestamptz, p_limit integer) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  v_instances uuid[];
  w stepwell.worker_tasks;
  v_outcome jsonb := jsonb_build_object('ok', false, 'message', 'the worker fell silent', 'retryable', false,
    'code', 'UNKNOWN_OUTCOME', 'silent', true);
  v_count integer := 0;
BEGIN
  v_instances := ARRAY(
    SELECT s.instance_id FROM stepwell.worker_tasks s
    WHERE s.state = 'claimed' AND s.heartbeat_at <= p_since AND s.at_most_once
    ORDER BY s.heartbeat_at, s.id LIMIT p_limit);
  IF cardinality(v_instances) = 0 THEN
    RETURN 0;
  END IF;
  v_instances := ARRAY(
    SELECT i.id FROM stepwell.task_instances i WHERE i.id = ANY (v_instances) ORDER BY i.id FOR NO KEY UPDATE SKIP LOCKED);
  FOR w IN
    SELECT s.* FROM stepwell.worker_tasks s
    WHERE s.instance_id = ANY (v_instances) AND s.state = 'claimed' AND s.heartbeat_at <= p_since AND s.at_most_once
    ORDER BY s.heartbeat_at, s.id LIMIT p_limit
    FOR UPDATE SKIP LOCKED
  LOOP
    UPDATE stepwell.worker_tasks t
    SET state = 'failed', closed_by = 'silent', completed_at = p_now, error_message = v_outcome ->> 'message',
      error_retryable = false, error_code = v_outcome ->> 'code'
    WHERE t.id = w.id;
    PERFORM stepwell.note_task_event(w, w.worker_id, w.claim_epoch, 'failed', 'silent', p_now);
    PERFORM stepwell.accept_fact(w.tenant_id, w.instance_id, stepwell.uuid_v7(p_now), 'task', NULL,
      jsonb_build_object('taskId', w.id, 'blockId', w.block_id, 'outcome', v_outcome), p_now);
    v_count := v_count + 1;
  END LOOP;
  RETURN v_count;
END $$;

-- Claims whose worker fell silent go back in the same row; the checkpoint and the epoch stay ([WRK-10]).
CREATE FUNCTION stepwell.release_silent_tasks_v1(p_silent_ms bigint, p_limit integer) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET enable_sort = off AS $$
DECLARE
  v_now timestamptz := stepwell.sw_now();
  v_since timestamptz := v_now - p_silent_ms * interval '1 millisecond';
  v_ids uuid[];
  v_given_up integer;
BEGIN
  v_given_up := stepwell.give_up_silent_tasks(v_since, v_now, p_limit);
  SELECT array_agg(l.id) INTO v_ids FROM (
    SELECT s.id FROM stepwell.worker_tasks s
    WHERE s.state = 'claimed' AND s.heartbeat_at <= v_since AND NOT s.at_most_once
    ORDER BY s.heartbeat_at, s.id LIMIT p_limit
    FOR UPDATE SKIP LOCKED
  ) l;
  IF v_ids IS NULL THEN
    RETURN v_given_up;
  END IF;
  INSERT INTO stepwell.worker_task_events (task_id, id, tenant_id, instance_id, claim_epoch, worker_id, event, reason, created_at)
  SELECT w.id, stepwell.uuid_v7(v_now), w.tenant_id, w.instance_id, w.claim_epoch, w.worker_id, 'reclaimed', 'silent', v_now
  FROM stepwell.worker_tasks w WHERE w.id = ANY (v_ids);
  UPDATE stepwell.worker_tasks w SET state = 'pending', worker_id = NULL, claimed_at = NULL, heartbeat_at = NULL
  WHERE w.id = ANY (v_ids);
  RETURN v_given_up + cardinality(v_ids);
END $$;
