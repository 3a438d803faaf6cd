import type { HooksPending } from '../../src/core/run/hooks/hooks-pending.ts';
import type { Store } from '../../src/ports/store/store.ts';
import type { Claim, TurnCommit } from '../../src/ports/store/turn.ts';
import { auditEntry, settleAs, task, turnOf } from '../support/turn-builder.ts';
import { claim, commitOk, startClaimed } from './acts.ts';

export const hooks = (more: Partial<HooksPending> = {}): HooksPending => ({
  cause: 'on_failure',
  runNo: 1,
  runId: '01900000-0000-7000-8000-00000000beef',
  next: 0,
  tasks: [],
  ...more,
});

/** An instance that has ended and has a hook left; due at once. */
export async function ended(store: Store): Promise<string> {
  const begun = await startClaimed(store);
  const { now } = await store.ping();
  await commitOk(
    store,
    turnOf(begun, {
      audit: [auditEntry('running', 'failed')],
      instance: { hooks: hooks() },
      settle: settleAs('failed', { dueAt: now }),
    }),
  );
  return begun.instanceId;
}

/** The turn that has given its last hook to a worker, who has it; it still holds the lease. */
export async function workerHasHook(
  store: Store,
): Promise<{ readonly held: Claim; readonly taskId: string }> {
  const begun = await claim(store, await ended(store));
  const created = task({ handlerName: `hook-${begun.instanceId}`, ofHook: true });
  const left = hooks({ next: null, tasks: [{ taskId: created.id, blockId: 'sweep', runNo: 1 }] });
  await commitOk(store, turnOf(begun, { tasksCreated: [created], instance: { hooks: left } }));
  const poll = { tenantId: null, handlerName: created.handlerName, workerId: 'w', version: null, limit: 1 };
  if ((await store.pollTasks(poll)).length === 0) throw new Error('the task was not given out');
  return {
    held: { ...begun, instance: { ...begun.instance, rev: begun.instance.rev + 1 } },
    taskId: created.id,
  };
}

/** The settle of a turn that waits for the worker of a hook. */
export const rest = (held: Claim): TurnCommit =>
  turnOf(held, { settle: settleAs('failed', { afterEnd: true, openWaits: 1 }) });
