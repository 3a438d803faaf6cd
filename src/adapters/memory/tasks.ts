import { compareCodePoints } from '../../core/json.ts';
import { isTracked } from '../../core/run/limits/tracked-handlers.ts';
import { isTerminal } from '../../core/run/states.ts';
import {
  type HeartbeatAnswer,
  type HeartbeatRequest,
  POLL_BYTES_MAX,
  type PollRequest,
  type ReportTaskAnswer,
  type ReportTaskRequest,
  type WorkerTask,
} from '../../ports/store/accept.ts';
import type { StepLogLine } from '../../ports/store/turn.ts';
import { addTaskEvent, saveTask } from './apply-tasks.ts';
import type { Database, Tx } from './database.ts';
import { tellBreaker } from './limits.ts';
import { type TaskRow, stored } from './rows.ts';
import { acceptFact } from './wake.ts';
import { refusesWorker } from './worker-admin.ts';

export function pollTasks(tx: Tx, request: PollRequest): readonly WorkerTask[] {
  recordWorker(tx, request);
  const limit = Math.min(1000, Math.max(1, request.limit));
  const offered = allTasks(tx.db)
    .filter((task) => isOffered(tx, task, request))
    .sort(oldestFirst)
    .slice(0, limit);
  return thatFit(offered).map((task) => claimTask(tx, task, request.workerId));
}

function thatFit(tasks: readonly TaskRow[]): readonly TaskRow[] {
  let bytes = 0;
  return tasks.filter(({ params, context, resumeCheckpoint }, place) => {
    bytes += JSON.stringify([params, context, resumeCheckpoint]).length;
    return place === 0 || bytes <= POLL_BYTES_MAX;
  });
}

/** Tasks of paused and ended instances are not given out ([WRK-8]). */
function isOffered(tx: Tx, task: TaskRow, request: PollRequest): boolean {
  if (task.removed || task.state !== 'pending' || task.handlerName !== request.handlerName) return false;
  if (request.tenantId !== null && task.tenantId !== request.tenantId) return false;
  if (request.queueName !== undefined && task.queueName !== request.queueName) return false;
  if (refusesWorker(tx, task.tenantId, request)) return false;
  // Those of cleanup hooks belong to instances that have ended.
  if (task.ofHook === true) return true;
  const state = tx.db.instances.get(task.instanceId)?.state;
  return state !== undefined && state !== 'paused' && !isTerminal(state);
}

function claimTask(tx: Tx, task: TaskRow, workerId: string): WorkerTask {
  const claimed = saveTask(tx, {
    ...task,
    state: 'claimed',
    workerId,
    claimedAt: tx.t,
    heartbeatAt: tx.t,
    claimEpoch: task.claimEpoch + 1,
    redelivery: task.claimEpoch > 0,
  });
  addTaskEvent(tx, claimed, { event: 'claimed', workerId, reason: null });
  return taskView(claimed);
}

/** Every poll is recorded, also one that gets nothing (http-api.md 19.2). */
function recordWorker(tx: Tx, request: PollRequest): void {
  const { workerId, tenantId, queueName } = request;
  const key = JSON.stringify([workerId, tenantId]);
  const before = tx.db.workers.get(key);
  const handlers = new Map(before?.handlers).set(request.handlerName, tx.t);
  const queues = new Set(before?.queues);
  if (queueName !== undefined) queues.add(queueName);
  tx.db.workers.put(key, {
    workerId,
    tenantId,
    version: request.version,
    lastSeenAt: tx.t,
    handlers,
    queues: [...queues].sort(compareCodePoints),
  });
}

/** [WRK-5], [WRK-6]. The same fact again after a lost answer is accepted again, without effect (RULINGS A36). */
export function reportTask(tx: Tx, request: ReportTaskRequest): ReportTaskAnswer {
  const task = findTask(tx.db, request.tenantId, request.taskId);
  const row = task === null ? undefined : tx.db.instances.get(task.instanceId);
  if (task === null || row === undefined) return { status: 'not_found' };
  const accepted = { status: 'accepted' as const, tenantId: row.tenantId, instanceId: row.id };
  if (tx.db.inbox.of(row.id).has(request.factId)) return accepted;
  if (!isHeldBy(task, request)) return reject(tx, task, request);
  const { outcome } = request;
  saveTask(tx, {
    ...task,
    state: outcome.ok ? 'completed' : 'failed',
    completedAt: tx.t,
    output: outcome.ok ? outcome.output : null,
    errorMessage: outcome.ok ? null : outcome.message,
    errorRetryable: outcome.ok ? null : outcome.retryable,
  });
  const event = outcome.ok ? 'completed' : 'failed';
  addTaskEvent(tx, task, { event, workerId: request.workerId, reason: outcome.ok ? null : outcome.message });
  for (const line of request.logs) tx.db.logs.of(row.id).put(tx.newId(), stored(logLine(tx, task, line)));
  if (!outcome.ok && request.breaker !== undefined && isTracked(task.handlerName)) {
    const error = outcome.message.slice(0, BREAKER_ERROR_CHARS);
    const failure = { ...request.breaker, handler: task.handlerName, ok: false as const, error };
    tellBreaker(tx, row.tenantId, row.id, failure);
  }
  const fact = { kind: 'task' as const, taskId: task.id, blockId: task.blockId, outcome };
  acceptFact(tx, row, { id: request.factId, fact, moves: true });
  return accepted;
}

/** What a breaker shows of the last failure. */
const BREAKER_ERROR_CHARS = 500;

/** A worker's clock or level word may be anything; what cannot be read becomes now and `info`. */
function logLine(
  tx: Tx,
  task: TaskRow,
  line: { readonly ts: string; readonly level: string; readonly message: string },
): StepLogLine {
  const at = Date.parse(line.ts);
  const { level } = line;
  const known = level === 'debug' || level === 'warn' || level === 'error' ? level : 'info';
  return { blockId: task.blockId, at: Number.isNaN(at) ? tx.t : at, level: known, message: line.message };
}

/** [WRK-10] to [WRK-12]. */
export function heartbeatTask(tx: Tx, request: HeartbeatRequest): HeartbeatAnswer {
  const task = findTask(tx.db, request.tenantId, request.taskId);
  if (task === null) return { status: 'not_found' };
  if (!isHeldBy(task, request)) return reject(tx, task, request);
  const { checkpoint } = request;
  if (checkpoint !== undefined && checkpoint.seq !== task.checkpointSeq)
    return { status: 'stale_checkpoint' };
  const beating = { ...task, heartbeatAt: tx.t };
  const saved = saveTask(
    tx,
    checkpoint === undefined
      ? beating
      : { ...beating, resumeCheckpoint: checkpoint.value, checkpointSeq: task.checkpointSeq + 1 },
  );
  const cancelled =
    task.ofHook !== true && (tx.db.instances.get(task.instanceId)?.cancelSeq ?? null) !== null;
  return { status: 'ok', checkpointSeq: saved.checkpointSeq, cancelled };
}

function isHeldBy(
  task: TaskRow,
  caller: { readonly workerId: string; readonly claimEpoch: number },
): boolean {
  return (
    !task.removed &&
    task.state === 'claimed' &&
    task.workerId === caller.workerId &&
    task.claimEpoch === caller.claimEpoch
  );
}

/** The event says who came and with which epoch, not who holds the task. */
function reject(
  tx: Tx,
  task: TaskRow,
  caller: { readonly workerId: string; readonly claimEpoch: number },
): { readonly status: 'stale' } {
  const { workerId, claimEpoch } = caller;
  addTaskEvent(tx, { ...task, claimEpoch }, { event: 'stale_mutation_rejected', workerId, reason: null });
  return { status: 'stale' };
}

/** Also a removed one: reports to it are stale, not unknown ([WRK-6]). */
export function findTask(db: Database, tenantId: string | null, taskId: string): TaskRow | null {
  const owner = db.taskOwners.get(taskId);
  const task = owner === undefined ? undefined : db.tasks.of(owner).get(taskId);
  return task !== undefined && (tenantId === null || task.tenantId === tenantId) ? task : null;
}

export function allTasks(db: Database): TaskRow[] {
  return db.taskOwners.entries().flatMap(([id, owner]) => db.tasks.of(owner).get(id) ?? []);
}

export function oldestFirst(a: TaskRow, b: TaskRow): number {
  return a.createdAt - b.createdAt || compareCodePoints(a.id, b.id);
}

/** The task without the columns that no reader sees. */
export function taskView(row: TaskRow): WorkerTask {
  const { removed: _removed, ofHook: _ofHook, atMostOnce: _atMostOnce, ...task } = row;
  return task;
}
