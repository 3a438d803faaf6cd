const ROWS = 50_000;
/** The sequence of all instances of the tenant `big-1`. */
export const FILLED_SEQUENCE_ID = '0190aaaa-0000-7000-8000-000000000001';
/** The schedule of the scene, which has started very many instances before. */
export const SCHEDULE_ID = '0190bbbb-0000-7000-8000-000000000000';

/** Fills the tables as years of work would, with statistics of an empty database. */
export const FILL = `
INSERT INTO stepwell.task_instances (id, sequence_id, run_id, created_at, priority, tenant_id, namespace, timezone, state,
  next_fire_at, due_at, updated_at, progress_at, metadata)
SELECT gen_random_uuid(), ('0190aaaa-0000-7000-8000-00000000000' || n % 5)::uuid, gen_random_uuid(), date_trunc('milliseconds', now()), n % 3, 'big-' || n % 5, 'n', 'UTC',
  CASE WHEN n % 4 = 0 THEN 'completed' ELSE 'scheduled' END, now(),
  CASE WHEN n % 4 = 0 THEN NULL ELSE now() - interval '1 s' * (n % 1000) END,
  date_trunc('milliseconds', now()), now(), jsonb_build_object('n', n::text)
FROM generate_series(1, ${ROWS}) n;
INSERT INTO stepwell.block_outputs (id, instance_id, rev, created_at, run_no, ordinal, attempt, output_size, tenant_id, block_id,
  iteration, kind, output)
SELECT gen_random_uuid(), i.id, n, now(), 1, 0, 0, 2, i.tenant_id, 'block-' || n % 10, 'l:' || n, 'result', '{}'
FROM (SELECT id, tenant_id FROM stepwell.task_instances LIMIT 5) i, generate_series(1, ${ROWS / 5}) n;
INSERT INTO stepwell.signal_inbox (instance_id, seq, id, tenant_id, kind, signal_type, payload, created_at)
SELECT i.id, 1, gen_random_uuid(), i.tenant_id, 'signal', 'custom:x', 'null', now() FROM stepwell.task_instances i WHERE i.tenant_id LIKE 'big-%';
INSERT INTO stepwell.worker_tasks (id, tenant_id, namespace, instance_id, block_id, iteration, handler_name, params, context,
  attempt, idempotency_key, created_at)
SELECT gen_random_uuid(), i.tenant_id, 'n', i.id, 'b', '', 'filler', '{}', '{}', 0, 'k', now() FROM stepwell.task_instances i;
INSERT INTO stepwell.audit_log (tenant_id, instance_id, id, event_type, created_at)
SELECT i.tenant_id, i.id, gen_random_uuid(), 'state_transition', now() FROM stepwell.task_instances i;
INSERT INTO stepwell.kv (instance_id, key, tenant_id, value, updated_at)
SELECT i.id, 'filler', i.tenant_id, '1', now() FROM stepwell.task_instances i;
INSERT INTO stepwell.sequences (id, tenant_id, namespace, name, version, status, definition, content_hash, created_at)
SELECT gen_random_uuid(), 'big', 'n', 's' || n, 1, 'draft', '{}', '', now() FROM generate_series(1, 20000) n;
INSERT INTO stepwell.schedules (id, tenant_id, namespace, sequence_id, cron_expr, timezone, enabled, metadata, overlap_policy,
  next_fire_at, created_at, updated_at)
SELECT gen_random_uuid(), 'big', 'n', gen_random_uuid(), '* * * * *', 'UTC', true, '{}', 'allow', now() - interval '1 s' * n,
  now(), now() FROM generate_series(1, 20000) n;
UPDATE stepwell.task_instances i SET metadata = i.metadata || jsonb_build_object('cron_schedule_id', '${SCHEDULE_ID}')
WHERE i.tenant_id = 'big-1' AND i.state = 'completed';
UPDATE stepwell.task_instances i
SET state = 'running', due_at = NULL, lease_until = now() - interval '1 ms' * (i.metadata ->> 'n')::integer,
  lease_token = gen_random_uuid(), lease_owner = 'gone'
WHERE i.id IN (SELECT s.id FROM stepwell.task_instances s WHERE s.state = 'scheduled' AND s.tenant_id = 'big-2' LIMIT 50);
INSERT INTO stepwell.concurrency_keys (tenant_id, concurrency_key) SELECT 'big-3', 'key-' || n FROM generate_series(1, 20000) n;
UPDATE stepwell.task_instances i SET concurrency_key = 'key-' || (i.metadata ->> 'n'), max_concurrency = 1
WHERE i.tenant_id = 'big-3' AND i.state = 'scheduled';
INSERT INTO stepwell.instance_changes (instance_id, number, id, tenant_id, kind, body, created_at)
SELECT i.id, 1, gen_random_uuid(), i.tenant_id, 'inject', '{"blocks": []}', now() FROM stepwell.task_instances i WHERE i.tenant_id LIKE 'big-%';
INSERT INTO stepwell.checkpoints (instance_id, created_at, id, tenant_id, data)
SELECT i.id, now(), gen_random_uuid(), i.tenant_id, '1' FROM stepwell.task_instances i;
INSERT INTO stepwell.sessions (id, tenant_id, session_key, data, expires_at, created_at, updated_at)
SELECT gen_random_uuid(), 'big', n::text, '{}', now() + interval '1 s' * n, now(), now() FROM generate_series(1, 20000) n;`;
