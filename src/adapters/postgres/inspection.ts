import type { Surroundings } from '../../core/diagnosis/surroundings.ts';
import {
  type ConcurrencyKey,
  COUNTED_MAX,
  type InspectionStore,
  SIGNAL_PAYLOAD_SHOWN_MAX,
  type SignalRow,
  SURROUNDINGS_MAX,
} from '../../ports/store/inspection.ts';
import type { Json } from '../../core/json.ts';
import { isUuid, tenantCall } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { type StandingAnswer, readStanding } from './listed-frames.ts';
import { answerOf } from './rows.ts';

const SURROUNDINGS = `
SELECT json_build_object(
  'workers', (
    SELECT coalesce(json_agg(json_build_object('handler', h.name, 'versions', v.versions) ORDER BY h.n), '[]')
    FROM jsonb_array_elements_text($4::jsonb) WITH ORDINALITY AS h(name, n)
    CROSS JOIN LATERAL (
      SELECT coalesce(json_agg(d.version ORDER BY d.version COLLATE "C" NULLS LAST), '[]') AS versions FROM (
        SELECT DISTINCT g.version FROM stepwell.worker_registry g
        WHERE g.handler_name = h.name COLLATE "C" AND g.tenant_id IN ($1, '')
          AND g.last_seen_at >= stepwell.sw_now() - $3::bigint * interval '1 millisecond'
        LIMIT ${SURROUNDINGS_MAX.versions}
      ) d
    ) v),
  'pins', (
    SELECT coalesce(json_agg(json_build_object('handler', p.handler_name, 'minVersion', p.min_version)
      ORDER BY p.handler_name), '[]')
    FROM stepwell.version_pins p
    WHERE p.tenant_id = $1 AND p.handler_name IN (SELECT jsonb_array_elements_text($4::jsonb) COLLATE "C")),
  'breakers', (
    SELECT coalesce(json_agg(json_build_object('handler', b.handler, 'state', b.state,
      'openedAt', stepwell.to_ms(b.opened_at), 'cooldownMs', b.cooldown_ms, 'failureCount', b.failure_count)
      ORDER BY b.handler), '[]')
    FROM (
      SELECT * FROM stepwell.circuit_breakers k
      WHERE k.tenant_id = $1 AND k.failure_count > 0 AND k.state <> 'closed'
      ORDER BY k.handler LIMIT ${SURROUNDINGS_MAX.breakers}
    ) b),
  'children', (
    SELECT coalesce(json_agg(json_build_object('id', c.id, 'state', c.state) ORDER BY c.id), '[]')
    FROM stepwell.task_instances c
    WHERE c.id = ANY (ARRAY(SELECT jsonb_array_elements_text($5::jsonb)::uuid)) AND (c.tenant_id = $1) IS TRUE),
  'slots', CASE WHEN $7::text IS NOT NULL THEN json_build_object(
    'holders', (
      SELECT coalesce(json_agg(r.id ORDER BY r.started_at, r.id), '[]') FROM (
        SELECT i.id, i.started_at FROM stepwell.task_instances i
        WHERE i.tenant_id = $1 AND i.concurrency_key = $7 AND i.state = 'running'
        ORDER BY i.started_at, i.id LIMIT ${SURROUNDINGS_MAX.holders}
      ) r),
    'holderCount', (
      SELECT count(*) FROM (
        SELECT 1 FROM stepwell.task_instances i
        WHERE i.tenant_id = $1 AND i.concurrency_key = $7 AND i.state = 'running' LIMIT ${COUNTED_MAX}) r),
    'aheadCount', (
      SELECT count(*) FROM (
        SELECT 1 FROM stepwell.task_instances s
        JOIN stepwell.task_instances i ON i.tenant_id = $1 AND i.concurrency_key = $7 AND i.state = 'scheduled'
          AND i.waits_for_slot AND i.id <> s.id
          AND (-i.priority, coalesce(i.due_at, i.next_fire_at), i.id)
            < (-s.priority, coalesce(s.due_at, s.next_fire_at), s.id)
        WHERE s.id = $2 LIMIT ${COUNTED_MAX}) r)) END,
  'rates', (
    SELECT coalesce(json_agg(json_build_object('key', k.resource_key, 'count', coalesce(g.used, 0), 'max', k.max_count,
      'windowMs', k.window_ms) ORDER BY k.resource_key), '[]')
    FROM stepwell.rate_limits k
    LEFT JOIN LATERAL (
      SELECT sum(r.grants) AS used FROM stepwell.rate_grants r
      WHERE r.tenant_id = k.tenant_id AND r.resource_key = k.resource_key
        AND r.granted_at > stepwell.sw_now() - k.window_ms * interval '1 millisecond'
    ) g ON true
    WHERE k.tenant_id = $1 AND k.resource_key IN (SELECT jsonb_array_elements_text($6::jsonb) COLLATE "C")))`;

const LIST_SIGNALS = `
SELECT (
  SELECT coalesce(json_agg(json_build_object('id', s.id, 'instanceId', s.instance_id, 'signalType', s.signal_type,
    'payload', CASE WHEN s.size > ${SIGNAL_PAYLOAD_SHOWN_MAX} THEN NULL ELSE s.payload END,
    'isLeftOut', s.size > ${SIGNAL_PAYLOAD_SHOWN_MAX}, 'createdAt', stepwell.to_ms(s.created_at),
    'deliveredAt', stepwell.to_ms(s.delivered_at), 'disposition', s.disposition) ORDER BY s.seq DESC), '[]')
  FROM (
    SELECT x.*, octet_length(x.payload::text) AS size FROM stepwell.signal_inbox x
    WHERE x.instance_id = i.id AND x.tenant_id = i.tenant_id AND x.kind = 'signal'
    ORDER BY x.seq DESC LIMIT $3 OFFSET $4
  ) s)
FROM stepwell.task_instances i WHERE ($1::text IS NULL OR i.tenant_id = $1) AND i.id = $2`;

const START_INPUT = `
SELECT json_build_object('input', s.input) FROM stepwell.start_inputs s
WHERE ($1::text IS NULL OR s.tenant_id = $1) AND s.instance_id = $2`;

/** Only what waits; a run may have thousands of open lists. */
const LIST_STANDING = `
SELECT coalesce(json_agg(json_build_object('id', i.id, 'root', i.root_frame, 'frames', w.frames)), '[]')
FROM (
  SELECT x.id, x.tenant_id, x.root_frame FROM stepwell.task_instances x
  WHERE x.id = ANY (ARRAY(SELECT jsonb_array_elements_text($2::jsonb)::uuid)) AND (($1::text IS NULL OR x.tenant_id = $1)) IS TRUE
  OFFSET 0
) i
CROSS JOIN LATERAL (
  SELECT json_agg(json_build_object('b', f.block_id, 'n', f.branch_index, 'i', f.iteration, 'f', f.frame)) AS frames
  FROM (
    SELECT t.block_id, t.branch_index, t.iteration, t.frame FROM stepwell.execution_tree t
    WHERE t.instance_id = i.id AND t.tenant_id = i.tenant_id AND t.state = 'open'
      AND (t.frame -> 'leaf' ? 'reason' OR t.frame -> 'detail' ->> 'pollUntil' IS NOT NULL)
    ORDER BY t.gate_opened_at IS NULL,
      coalesce((t.frame -> 'leaf' ->> 'wakeAt')::bigint, (t.frame -> 'detail' ->> 'pollUntil')::bigint) NULLS LAST,
      t.block_id, t.branch_index, t.iteration
    LIMIT $3
  ) f
) w`;

/** Keys whose instances have all ended, or are not due, are passed over. */
const LIST_CONCURRENCY = `
SELECT coalesce(json_agg(json_build_object('tenantId', k.tenant_id, 'key', k.concurrency_key, 'max', k.max,
  'holders', k.holders, 'holderCount', k.holder_count, 'waiters', k.waiters, 'waiterCount', k.waiter_count)
  ORDER BY k.tenant_id, k.concurrency_key), '[]')
FROM (
  SELECT c.tenant_id, c.concurrency_key, m.max, h.holders, h.holder_count, w.waiters, w.waiter_count
  FROM (
    SELECT c.tenant_id, c.concurrency_key FROM stepwell.concurrency_keys c
    WHERE ($1::text IS NULL OR c.tenant_id = $1) AND ($2::text IS NULL OR c.concurrency_key = $2)
      AND (EXISTS (
        SELECT 1 FROM stepwell.task_instances i
        WHERE i.tenant_id = c.tenant_id AND i.concurrency_key = c.concurrency_key AND i.state = 'running')
      OR EXISTS (
        SELECT 1 FROM stepwell.task_instances i
        WHERE i.tenant_id = c.tenant_id AND i.concurrency_key = c.concurrency_key AND i.state = 'scheduled'
          AND i.waits_for_slot))
    ORDER BY c.tenant_id, c.concurrency_key LIMIT $3 OFFSET $4
  ) c
  CROSS JOIN LATERAL (
    SELECT max(i.max_concurrency) AS max FROM stepwell.task_instances i
    WHERE i.tenant_id = c.tenant_id AND i.concurrency_key = c.concurrency_key
      AND i.state IN ('running', 'scheduled') AND (i.state = 'running' OR i.waits_for_slot)
  ) m
  CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(json_build_object('instanceId', r.id, 'since', stepwell.to_ms(r.started_at))
      ORDER BY r.started_at, r.id) FILTER (WHERE r.n <= $5), '[]') AS holders, count(*) AS holder_count
    FROM (
      SELECT i.id, i.started_at, row_number() OVER (ORDER BY i.started_at, i.id) AS n FROM stepwell.task_instances i
      WHERE i.tenant_id = c.tenant_id AND i.concurrency_key = c.concurrency_key AND i.state = 'running'
      ORDER BY i.started_at, i.id LIMIT ${COUNTED_MAX}
    ) r
  ) h
  CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(json_build_object('instanceId', r.id, 'priority', r.priority, 'max', r.max_concurrency,
      'retryAt', stepwell.to_ms(r.next_fire_at)) ORDER BY r.n) FILTER (WHERE r.n <= $5), '[]') AS waiters,
      count(*) AS waiter_count
    FROM (
      SELECT i.id, i.priority, i.max_concurrency, i.next_fire_at,
        row_number() OVER (ORDER BY i.priority DESC, coalesce(i.due_at, i.next_fire_at), i.id) AS n
      FROM stepwell.task_instances i
      WHERE i.tenant_id = c.tenant_id AND i.concurrency_key = c.concurrency_key AND i.state = 'scheduled'
        AND i.waits_for_slot
      ORDER BY n LIMIT ${COUNTED_MAX}
    ) r
  ) w
) k`;

export function createInspectionStore(driver: SqlDriver): InspectionStore {
  return {
    async getSurroundings({ tenantId, instanceId, aliveWithinMs, concurrencyKey, ...asked }) {
      const lists = [asked.handlers, asked.childIds.filter(isUuid), asked.rateKeys].map((names) =>
        JSON.stringify([...new Set(names)]),
      );
      const params = [tenantId, instanceId, aliveWithinMs, ...lists, concurrencyKey];
      return answerOf<Surroundings>(await tenantCall(driver, tenantId, SURROUNDINGS, params));
    },
    async listSignals({ tenantId, instanceId, limit, offset }) {
      if (!isUuid(instanceId)) return null;
      const rows = await tenantCall(driver, tenantId, LIST_SIGNALS, [tenantId, instanceId, limit, offset]);
      return answerOf<SignalRow[] | undefined>(rows) ?? null;
    },
    async getStartInput(tenantId, instanceId) {
      if (!isUuid(instanceId)) return 'unknown';
      const rows = await tenantCall(driver, tenantId, START_INPUT, [tenantId, instanceId]);
      return answerOf<{ readonly input: Json } | undefined>(rows) ?? 'unknown';
    },
    async listStanding(tenantId, ids, perInstance) {
      const wanted = JSON.stringify(ids.filter(isUuid));
      const rows = await tenantCall(driver, tenantId, LIST_STANDING, [tenantId, wanted, perInstance]);
      return new Map(answerOf<StandingAnswer[]>(rows).map(readStanding));
    },
    async listConcurrencyKeys({ tenantId, key, limit, offset, perKey }) {
      const params = [tenantId, key, limit, offset, perKey];
      return answerOf<ConcurrencyKey[]>(await tenantCall(driver, tenantId, LIST_CONCURRENCY, params));
    },
  };
}
