import { compareCodePoints } from '../../core/json.ts';
import type { TaskOutcome } from '../../ports/store/turn.ts';
import { addTaskEvent, saveTask } from './apply-tasks.ts';
import type { Tx } from './database.ts';
import type { TaskRow } from './rows.ts';
import { allTasks } from './tasks.ts';
import { acceptFact } from './wake.ts';

const FELL_SILENT: TaskOutcome & { readonly ok: false } = {
  ok: false,
  message: 'the worker fell silent',
  retryable: false,
  code: 'UNKNOWN_OUTCOME',
  silent: true,
};

/**
 * The same row goes back to pending; epoch, attempt and checkpoint stay ([WRK-10]). What must not be done twice is not
 * offered again: the run is told that nobody knows what became of it ([CON-6], RULINGS A20).
 */
export function releaseSilentTasks(tx: Tx, silentMs: number, limit: number): number {
  const silent = allTasks(tx.db)
    .filter((task) => !task.removed && task.state === 'claimed' && (task.heartbeatAt ?? 0) + silentMs <= tx.t)
    .sort((a, b) => (a.heartbeatAt ?? 0) - (b.heartbeatAt ?? 0) || compareCodePoints(a.id, b.id));
  const givenUp = silent.filter((task) => task.atMostOnce === true).slice(0, limit);
  const offered = silent.filter((task) => task.atMostOnce !== true).slice(0, limit);
  for (const task of givenUp) giveUp(tx, task);
  for (const task of offered) {
    saveTask(tx, { ...task, state: 'pending', workerId: null, claimedAt: null, heartbeatAt: null });
    addTaskEvent(tx, task, { event: 'reclaimed', workerId: task.workerId, reason: 'silent' });
  }
  return givenUp.length + offered.length;
}

function giveUp(tx: Tx, task: TaskRow): void {
  const { message: errorMessage, retryable: errorRetryable } = FELL_SILENT;
  saveTask(tx, { ...task, state: 'failed', completedAt: tx.t, errorMessage, errorRetryable });
  addTaskEvent(tx, task, { event: 'failed', workerId: task.workerId, reason: 'silent' });
  const row = tx.db.instances.get(task.instanceId);
  if (row === undefined) return;
  const fact = { kind: 'task' as const, taskId: task.id, blockId: task.blockId, outcome: FELL_SILENT };
  acceptFact(tx, row, { id: tx.newId(), fact, moves: true });
}
