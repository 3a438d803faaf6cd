import type { Json } from '../../core/json.ts';
import type { Page } from '../../ports/store/page.ts';
import type {
  Frontier,
  GateItem,
  InstanceKey,
  InstanceView,
  ListGatesQuery,
} from '../../ports/store/reads.ts';
import { answersBehind } from './answer-rows.ts';
import { call, isUuid, tenantCall } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { readGates } from './listed-frames.ts';
import { type FrontierAnswer, answerOf, readFrontier } from './rows.ts';

const READ_OUTPUTS = 'SELECT stepwell.read_outputs_v1($1, $2, $3::jsonb)';
const READ_STATE = 'SELECT stepwell.read_state_v1($1, $2, $3::jsonb)';
const COUNT_STATE = 'SELECT stepwell.count_state_v1($1, $2)';
const READ_ITEMS = 'SELECT stepwell.read_items_v1($1, $2, $3, $4, $5)';

/** Every statement names the tenant as well as the policies do. */
const OF_TENANT = '($1::text IS NULL OR i.tenant_id = $1)';

const GET_INSTANCE = `
SELECT stepwell.instance_view(i) FROM stepwell.task_instances i WHERE ${OF_TENANT} AND i.id = $2`;

/** The frontier of the instance `i`. */
export const FRONTIER_OF = `json_build_object(
  'instance', stepwell.instance_view(i),
  'root', i.root_frame,
  'frames', stepwell.frames_json(i),
  'inbox', stepwell.inbox_json(i.tenant_id, i.id, 0),
  'openTasks', (
    SELECT coalesce(json_agg(stepwell.task_json(w) ORDER BY w.created_at, w.id), '[]')
    FROM stepwell.worker_tasks w
    WHERE w.tenant_id = i.tenant_id AND w.instance_id = i.id AND w.state IN ('pending', 'claimed')),
  'now', stepwell.to_ms(stepwell.sw_now()))`;

const FRONTIER = `SELECT ${FRONTIER_OF} FROM stepwell.task_instances i WHERE ${OF_TENANT} AND i.id = $2`;

/** One row of null where an instance has no children: it is known all the same. */
const LIST_CHILDREN = `
SELECT (SELECT stepwell.instance_view(c) FROM stepwell.task_instances c WHERE c.id = sorted.id)
FROM (
  SELECT l.id FROM stepwell.task_instances i
  LEFT JOIN LATERAL (
    SELECT k.id, k.created_at FROM stepwell.task_instances k
    WHERE k.tenant_id = i.tenant_id AND k.parent_instance_id = i.id
    ORDER BY k.created_at, k.id LIMIT $3::integer OFFSET $4::integer) l ON true
  WHERE ${OF_TENANT} AND i.id = $2
  ORDER BY l.created_at, l.id OFFSET 0
) sorted`;

/** When a gate times out, null for never. */
const deadlineOf = (frame: string): string =>
  `(${frame} #>> '{leaf,gate,openedAt}')::bigint + (${frame} #>> '{leaf,gate,timeoutMs}')::bigint`;

const GATE_ORDER = 'deadline NULLS LAST, created_at DESC, id DESC, block_id, branch_index, iteration';

/** Gates are few: the partial indexes hold the open ones only. OFFSET makes them the beginning of every plan. */
const LIST_GATES = `
WITH gates AS (
  SELECT i.id, i.created_at, '' AS block_id, -1 AS branch_index, '' AS iteration, i.root_frame AS frame,
    CASE WHEN $7 THEN ${deadlineOf('i.root_frame')} END AS deadline
  FROM (SELECT * FROM stepwell.task_instances WHERE gate_opened_at IS NOT NULL OFFSET 0) i
  WHERE ${OF_TENANT} AND i.state IN ('waiting', 'scheduled')
    AND ($2::text IS NULL OR i.namespace = $2) AND ($3::uuid IS NULL OR i.id = $3)
    AND ($4::uuid IS NULL OR i.sequence_id = $4)
  UNION ALL
  SELECT i.id, i.created_at, f.block_id, f.branch_index, f.iteration, f.frame,
    CASE WHEN $7 THEN ${deadlineOf('f.frame')} END
  FROM (SELECT * FROM stepwell.execution_tree WHERE gate_opened_at IS NOT NULL OFFSET 0) f
  JOIN stepwell.task_instances i ON i.id = ANY (ARRAY[f.instance_id]) AND (i.tenant_id = f.tenant_id) IS TRUE
  WHERE ${OF_TENANT} AND i.state IN ('waiting', 'scheduled')
    AND ($2::text IS NULL OR i.namespace = $2) AND ($3::uuid IS NULL OR i.id = $3)
    AND ($4::uuid IS NULL OR i.sequence_id = $4)
), page AS (
  SELECT * FROM gates ORDER BY ${GATE_ORDER} LIMIT $5 OFFSET $6
)
SELECT to_json(g.total), CASE WHEN g.id IS NOT NULL THEN json_build_object(
  'instance', (SELECT stepwell.instance_view(i) FROM stepwell.task_instances i WHERE i.id = g.id),
  'sequenceName', coalesce((
    SELECT s.name FROM stepwell.task_instances i JOIN stepwell.sequences s ON s.id = i.sequence_id AND s.tenant_id = i.tenant_id
    WHERE i.id = g.id), ''),
  'frame', json_build_object('b', g.block_id, 'n', g.branch_index, 'i', g.iteration, 'f', g.frame)) END
FROM (
  SELECT c.total, p.* FROM (SELECT count(*) AS total FROM gates) c LEFT JOIN page p ON true
  ORDER BY ${GATE_ORDER} OFFSET 0
) g`;

export async function readOutputs(
  driver: SqlDriver,
  { tenantId, instanceId }: InstanceKey,
  blockIds: readonly string[] | 'all',
): Promise<ReadonlyMap<string, Json>> {
  const blocks = blockIds === 'all' ? null : JSON.stringify([...new Set(blockIds)]);
  return new Map(
    answerOf<[string, Json][]>(await call(driver, READ_OUTPUTS, [tenantId, instanceId, blocks])),
  );
}

export async function readState(
  driver: SqlDriver,
  { tenantId, instanceId }: InstanceKey,
  keys: readonly string[] | 'all',
): Promise<ReadonlyMap<string, Json>> {
  const wanted = keys === 'all' ? null : JSON.stringify(keys);
  return new Map(answerOf<[string, Json][]>(await call(driver, READ_STATE, [tenantId, instanceId, wanted])));
}

export async function countState(driver: SqlDriver, { tenantId, instanceId }: InstanceKey): Promise<number> {
  return answerOf(await call(driver, COUNT_STATE, [tenantId, instanceId]));
}

export async function readItems(
  driver: SqlDriver,
  { tenantId, instanceId }: InstanceKey,
  snapshotKey: string,
  range: { readonly from: number; readonly count: number },
): Promise<readonly Json[]> {
  return answerOf(
    await call(driver, READ_ITEMS, [tenantId, instanceId, snapshotKey, range.from, range.count]),
  );
}

export async function getInstance(
  driver: SqlDriver,
  tenantId: string | null,
  id: string,
): Promise<InstanceView | null> {
  if (!isUuid(id)) return null;
  return (
    answerOf<InstanceView | undefined>(await tenantCall(driver, tenantId, GET_INSTANCE, [tenantId, id])) ??
    null
  );
}

export async function getFrontier(
  driver: SqlDriver,
  tenantId: string | null,
  id: string,
): Promise<Frontier | null> {
  if (!isUuid(id)) return null;
  const answer = answerOf<FrontierAnswer | undefined>(
    await tenantCall(driver, tenantId, FRONTIER, [tenantId, id]),
  );
  return answer === undefined ? null : readFrontier(answer);
}

export async function listChildren(
  driver: SqlDriver,
  tenantId: string | null,
  id: string,
  page?: Page,
): Promise<readonly InstanceView[] | null> {
  if (!isUuid(id)) return null;
  const params = [tenantId, id, page?.limit ?? null, page?.offset ?? 0];
  return answersBehind<InstanceView>(await tenantCall(driver, tenantId, LIST_CHILDREN, params));
}

export async function listOpenGates(
  driver: SqlDriver,
  query: ListGatesQuery,
): Promise<{ readonly items: readonly GateItem[]; readonly total: number }> {
  const { tenantId, namespace, instanceId, sequenceId, limit, offset } = query;
  if ([instanceId, sequenceId].some((id) => id !== null && !isUuid(id))) return { items: [], total: 0 };
  const byDeadline = query.order === 'deadline';
  const params = [tenantId, namespace, instanceId, sequenceId, limit, offset, byDeadline];
  return readGates(await tenantCall(driver, tenantId, LIST_GATES, params));
}
