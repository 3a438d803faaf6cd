import type { TaskEvent } from '../../ports/store/accept.ts';
import type { NewTask, TurnCommit } from '../../ports/store/turn.ts';
import { type Tx, isOpenTask, openTasks } from './database.ts';
import { type InstanceRow, type TaskRow, stored } from './rows.ts';
import { routedQueue } from './worker-admin.ts';

/** Closes first: a retry replaces the task of its block in one commit ([WRK-8]). */
export function applyTasks(tx: Tx, row: InstanceRow, turn: TurnCommit): void {
  for (const { taskId, event } of turn.tasksClosed) {
    const task = tx.db.tasks.of(row.id).get(taskId);
    if (task !== undefined && isOpenTask(task)) closeTask(tx, task, event);
  }
  for (const task of turn.tasksCreated) createTask(tx, row, task);
}

/** A cancelled task leaves the listings, a timed out one stays as failed; a late report of either is stale. */
export function closeTask(tx: Tx, task: TaskRow, event: 'cancelled' | 'timed_out'): void {
  const closed: TaskRow =
    event === 'cancelled'
      ? { ...task, removed: true, completedAt: tx.t }
      : { ...task, state: 'failed', completedAt: tx.t, errorMessage: 'timed out', errorRetryable: true };
  saveTask(tx, closed);
  addTaskEvent(tx, task, { event, workerId: task.workerId, reason: null });
}

function createTask(tx: Tx, row: InstanceRow, task: NewTask): void {
  const { previousTaskId, ...given } = task;
  if (
    openTasks(tx.db, row.id).some(
      (other) =>
        other.blockId === task.blockId && other.iteration === task.iteration && other.ofHook === task.ofHook,
    )
  ) {
    throw new Error(`Block ${task.blockId} has an open task already (RULINGS B9).`);
  }
  if (tx.db.taskOwners.has(task.id)) throw new Error(`The task ${task.id} exists already.`);
  const previous = previousTaskId === null ? undefined : tx.db.tasks.of(row.id).get(previousTaskId);
  saveTask(tx, {
    ...given,
    tenantId: row.tenantId,
    namespace: row.namespace,
    queueName: routedQueue(tx, row.tenantId, task),
    instanceId: row.id,
    state: 'pending',
    workerId: null,
    claimedAt: null,
    heartbeatAt: null,
    claimEpoch: 0,
    resumeCheckpoint: previous?.resumeCheckpoint ?? null,
    checkpointSeq: previous?.checkpointSeq ?? 0,
    redelivery: false,
    completedAt: null,
    output: null,
    errorMessage: null,
    errorRetryable: null,
    createdAt: tx.t,
    removed: false,
  });
  tx.db.taskOwners.put(task.id, row.id);
}

export function saveTask(tx: Tx, task: TaskRow): TaskRow {
  const saved = stored(task);
  tx.db.tasks.of(task.instanceId).put(task.id, saved);
  tx.touched.add(task.instanceId);
  return saved;
}

export function addTaskEvent(
  tx: Tx,
  task: TaskRow,
  what: Pick<TaskEvent, 'event' | 'workerId' | 'reason'>,
): void {
  const id = tx.newId();
  const event: TaskEvent = { id, taskId: task.id, claimEpoch: task.claimEpoch, ...what, createdAt: tx.t };
  tx.db.taskEvents.of(task.id).put(id, Object.freeze(event));
}
