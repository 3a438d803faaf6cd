import { type SQL, and, asc, desc, eq, inArray, isNull, ne, or, sql } from 'drizzle-orm';
import type { TaskEvent, WorkerTask } from '../../ports/store/accept.ts';
import type { Page } from '../../ports/store/page.ts';
import type { ListTasksQuery, TaskStats, WorkerView } from '../../ports/store/reads.ts';
import { isUuid, tenantCall } from './call.ts';
import { askTables } from './database.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';
import { workerTaskEvents, workerTasks } from './schema.ts';
import { readTask, readTaskEvent } from './tables/rows.ts';

/** A cancelled task is gone from the listings and known from its events only ([WRK-6]). */
const LISTED: SQL | undefined = or(isNull(workerTasks.closedBy), ne(workerTasks.closedBy, 'cancelled'));

function ofTenant(tenantId: string | null): SQL | undefined {
  return tenantId === null ? undefined : eq(workerTasks.tenantId, tenantId);
}

export async function getTask(
  driver: SqlDriver,
  tenantId: string | null,
  taskId: string,
): Promise<WorkerTask | null> {
  if (!isUuid(taskId)) return null;
  const rows = await askTables(driver, tenantId, (tables) =>
    tables
      .select()
      .from(workerTasks)
      .where(and(ofTenant(tenantId), eq(workerTasks.id, taskId), LISTED)),
  );
  return rows[0] === undefined ? null : readTask(rows[0]);
}

/** Newest first. */
export async function listTasks(driver: SqlDriver, query: ListTasksQuery): Promise<readonly WorkerTask[]> {
  const rows = await askTables(driver, query.tenantId, (tables) =>
    tables
      .select()
      .from(workerTasks)
      .where(
        and(
          ofTenant(query.tenantId),
          LISTED,
          query.states.length === 0 ? undefined : inArray(workerTasks.state, [...query.states]),
          query.handlerName === null ? undefined : eq(workerTasks.handlerName, query.handlerName),
          query.workerId === null ? undefined : eq(workerTasks.workerId, query.workerId),
          query.queueName === null ? undefined : eq(workerTasks.queueName, query.queueName),
        ),
      )
      .orderBy(desc(workerTasks.createdAt), desc(workerTasks.id))
      .limit(query.limit)
      .offset(query.offset),
  );
  return rows.map(readTask);
}

/** Oldest first; also of a task that is gone from the listings. null: no such task. */
export async function listTaskEvents(
  driver: SqlDriver,
  tenantId: string | null,
  taskId: string,
  limit: number,
): Promise<readonly TaskEvent[] | null> {
  if (!isUuid(taskId)) return null;
  const rows = await askTables(driver, tenantId, (tables) =>
    tables
      .select({ row: workerTaskEvents })
      .from(workerTasks)
      .leftJoin(
        workerTaskEvents,
        and(eq(workerTaskEvents.taskId, workerTasks.id), eq(workerTaskEvents.tenantId, workerTasks.tenantId)),
      )
      .where(and(ofTenant(tenantId), eq(workerTasks.id, taskId)))
      .orderBy(asc(workerTaskEvents.ordinal))
      .limit(limit),
  );
  return rows.length === 0 ? null : rows.flatMap(({ row }) => (row === null ? [] : [readTaskEvent(row)]));
}

export async function taskStats(driver: SqlDriver, tenantId: string | null): Promise<TaskStats> {
  const counts = await askTables(driver, tenantId, (tables) =>
    tables
      .select({
        state: workerTasks.state,
        handlerName: workerTasks.handlerName,
        count: sql<number>`count(*)`.mapWith(Number),
        workers: sql<
          string[] | null
        >`to_json(array_agg(DISTINCT worker_id) FILTER (WHERE state = 'claimed'))`,
      })
      .from(workerTasks)
      .where(and(ofTenant(tenantId), LISTED))
      .groupBy(workerTasks.state, workerTasks.handlerName),
  );
  const byState = new Map<string, number>();
  const byHandler = new Map<string, Map<string, number>>();
  const workers = new Set<string>();
  for (const { state, handlerName, count, workers: claimants } of counts) {
    byState.set(state, (byState.get(state) ?? 0) + count);
    const ofHandler = byHandler.get(handlerName) ?? new Map<string, number>();
    byHandler.set(handlerName, ofHandler.set(state, count));
    for (const worker of claimants ?? []) workers.add(worker);
  }
  return {
    byState: Object.fromEntries(byState),
    byHandler: Object.fromEntries([...byHandler].map(([name, states]) => [name, Object.fromEntries(states)])),
    activeWorkers: [...workers].sort(),
  };
}

/** A tenant sees the workers that polled for it or for no tenant (http-api.md 19.4). Last seen first. */
const LIST_WORKERS = `
WITH workers AS (
  SELECT g.worker_id, max(g.last_seen_at) AS last_seen_at,
    array_agg(DISTINCT g.handler_name) AS handlers,
    (array_agg(g.version ORDER BY g.last_seen_at DESC))[1] AS version
  FROM stepwell.worker_registry g
  WHERE $1::text IS NULL OR g.tenant_id IN ($1, '')
  GROUP BY g.worker_id
)
SELECT json_build_object(
  'workerId', w.worker_id,
  'handlers', w.handlers,
  'queues', (
    SELECT coalesce(json_agg(DISTINCT q.name), '[]')
    FROM stepwell.worker_registry g CROSS JOIN LATERAL unnest(g.queues) AS q(name)
    WHERE g.worker_id = w.worker_id AND ($1::text IS NULL OR g.tenant_id IN ($1, ''))),
  'version', w.version,
  'lastSeenAt', stepwell.to_ms(w.last_seen_at),
  'alive', w.last_seen_at >= n.alive_since,
  'inFlight', (
    SELECT count(*) FROM stepwell.worker_tasks t
    WHERE t.state = 'claimed' AND t.worker_id = w.worker_id AND ($1::text IS NULL OR t.tenant_id = $1)))
FROM workers w
CROSS JOIN (SELECT stepwell.sw_now() - $2::bigint * interval '1 millisecond' AS alive_since) n
WHERE $3::boolean OR w.last_seen_at >= n.alive_since
ORDER BY w.last_seen_at DESC, w.worker_id
LIMIT $4::integer OFFSET $5::integer`;

interface WhichWorkers {
  readonly aliveWithinMs: number;
  readonly includeStale: boolean;
  readonly page: Page | undefined;
}

export async function listWorkers(
  driver: SqlDriver,
  tenantId: string | null,
  { aliveWithinMs, includeStale, page }: WhichWorkers,
): Promise<readonly WorkerView[]> {
  const params = [tenantId, aliveWithinMs, includeStale, page?.limit ?? null, page?.offset ?? 0];
  const rows = await tenantCall(driver, tenantId, LIST_WORKERS, params);
  return rows.map((row) => answerOf<WorkerView>([row]));
}

const HAS_WORKER = `
SELECT EXISTS (
  SELECT 1 FROM stepwell.worker_registry g
  WHERE g.handler_name = $1 AND g.last_seen_at >= stepwell.sw_now() - $2::bigint * interval '1 millisecond')`;

/** Over all tenants: whether a name is served decides what becomes of a leaf (RULINGS B8). */
export async function hasWorkerFor(
  driver: SqlDriver,
  handlerName: string,
  withinMs: number,
): Promise<boolean> {
  return answerOf(await tenantCall(driver, null, HAS_WORKER, [handlerName, withinMs]));
}
