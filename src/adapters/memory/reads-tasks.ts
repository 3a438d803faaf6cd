import { compareCodePoints } from '../../core/json.ts';
import type { TaskEvent, WorkerTask } from '../../ports/store/accept.ts';
import type { ListTasksQuery, TaskStats, WorkerView } from '../../ports/store/reads.ts';
import type { Database, Tx } from './database.ts';
import type { TaskRow, WorkerRow } from './rows.ts';
import { allTasks, findTask, oldestFirst, taskView } from './tasks.ts';

export function getTask(db: Database, tenantId: string | null, taskId: string): WorkerTask | null {
  const task = findTask(db, tenantId, taskId);
  return task === null || task.removed ? null : taskView(task);
}

/** Newest first. */
export function listTasks(db: Database, query: ListTasksQuery): readonly WorkerTask[] {
  return listed(db, query.tenantId)
    .filter((task) => query.states.length === 0 || query.states.includes(task.state))
    .filter((task) => query.handlerName === null || task.handlerName === query.handlerName)
    .filter((task) => query.workerId === null || task.workerId === query.workerId)
    .filter((task) => query.queueName === null || task.queueName === query.queueName)
    .sort((a, b) => oldestFirst(b, a))
    .slice(query.offset, query.offset + query.limit)
    .map(taskView);
}

function listed(db: Database, tenantId: string | null): TaskRow[] {
  return allTasks(db).filter((task) => !task.removed && (tenantId === null || task.tenantId === tenantId));
}

/** Oldest first; also of a task that is gone from the listings. */
export function listTaskEvents(
  db: Database,
  tenantId: string | null,
  taskId: string,
  limit: number,
): readonly TaskEvent[] | null {
  if (findTask(db, tenantId, taskId) === null) return null;
  return db.taskEvents.of(taskId).values().slice(0, limit);
}

export function taskStats(db: Database, tenantId: string | null): TaskStats {
  const byState = new Map<string, number>();
  const byHandler = new Map<string, Map<string, number>>();
  const workers = new Set<string>();
  for (const task of listed(db, tenantId)) {
    countIn(byState, task.state);
    const ofHandler = byHandler.get(task.handlerName) ?? new Map<string, number>();
    byHandler.set(task.handlerName, ofHandler);
    countIn(ofHandler, task.state);
    if (task.state === 'claimed' && task.workerId !== null) workers.add(task.workerId);
  }
  return {
    byState: Object.fromEntries(byState),
    byHandler: Object.fromEntries([...byHandler].map(([name, counts]) => [name, Object.fromEntries(counts)])),
    activeWorkers: [...workers].sort(compareCodePoints),
  };
}

function countIn(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Last seen first. A tenant sees the workers that polled for it or for no tenant (http-api.md 19.4). */
export function listWorkers(
  tx: Tx,
  tenantId: string | null,
  aliveWithinMs: number,
  includeStale: boolean,
): readonly WorkerView[] {
  const byWorker = new Map<string, WorkerRow[]>();
  for (const row of tx.db.workers.values()) {
    if (tenantId !== null && row.tenantId !== null && row.tenantId !== tenantId) continue;
    byWorker.set(row.workerId, [...(byWorker.get(row.workerId) ?? []), row]);
  }
  return [...byWorker.values()]
    .map((rows) => workerView(tx, tenantId, rows, aliveWithinMs))
    .filter((worker) => includeStale || worker.alive)
    .sort((a, b) => b.lastSeenAt - a.lastSeenAt || compareCodePoints(a.workerId, b.workerId));
}

function workerView(
  tx: Tx,
  tenantId: string | null,
  rows: readonly WorkerRow[],
  aliveWithinMs: number,
): WorkerView {
  const newest = rows.reduce((best, row) => (row.lastSeenAt >= best.lastSeenAt ? row : best));
  const { workerId, version, lastSeenAt } = newest;
  const inFlight = listed(tx.db, tenantId).filter(
    (task) => task.state === 'claimed' && task.workerId === workerId,
  );
  return {
    workerId,
    handlers: sortedUnion(rows.map((row) => [...row.handlers.keys()])),
    queues: sortedUnion(rows.map((row) => row.queues)),
    version,
    lastSeenAt,
    alive: lastSeenAt + aliveWithinMs >= tx.t,
    inFlight: inFlight.length,
  };
}

function sortedUnion(lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())].sort(compareCodePoints);
}

export function hasWorkerFor(tx: Tx, handlerName: string, withinMs: number): boolean {
  return tx.db.workers.values().some((row) => {
    const polledAt = row.handlers.get(handlerName);
    return polledAt !== undefined && polledAt + withinMs >= tx.t;
  });
}
