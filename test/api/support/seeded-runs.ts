import {
  auditEntry,
  frame,
  gate,
  nextId,
  row,
  settleAs,
  task,
  turnOf,
  waitingLeaf,
  write,
} from '../../support/turn-builder.ts';
import type { ApiFixture } from './api-fixture.ts';
import { started } from './documents.ts';

/** Instances brought to a place by turns that the test writes itself, so that no engine is needed. */

/** Claims an instance and commits one turn for it. */
export async function takeTurn(
  api: ApiFixture,
  id: string,
  turn: Parameters<typeof turnOf>[1],
): Promise<void> {
  const { tenantId } = (await api.store.getInstance(null, id)) ?? { tenantId: '' };
  const lease = { leaseToken: nextId(), leaseOwner: 'process-a', leaseMs: 60_000 };
  const claimed = await api.store.claimOne({ tenantId, instanceId: id, mode: 'operator', ...lease });
  if (claimed.status !== 'claimed') throw new Error(`claim answered ${claimed.status}`);
  const answer = await api.store.commit([turnOf(claimed.claim, turn)]);
  if (answer.verdicts[0]?.verdict !== 'ok') throw new Error(JSON.stringify(answer));
}

/** An instance that waits for a worker, and the id of its pending task. */
export async function waitingForWorker(
  api: ApiFixture,
): Promise<{ readonly id: string; readonly taskId: string }> {
  const id = await started(api);
  const created = task({ blockId: 'first' });
  await takeTurn(api, id, {
    tasksCreated: [created],
    frames: [
      write(frame({ leaf: waitingLeaf('worker', { taskId: created.id, dispatchedAt: api.clock.now }) })),
    ],
    audit: [auditEntry('running', 'waiting')],
    settle: settleAs('waiting', { openWaits: 1 }),
  });
  return { id, taskId: created.id };
}

/** An instance that waits for an answer at its block `first`, for an hour. */
export async function waitingForAnswer(api: ApiFixture): Promise<string> {
  const id = await started(api);
  const deadline = api.clock.now + 3_600_000;
  const open = gate({ openedAt: api.clock.now, timeoutMs: 3_600_000 });
  await takeTurn(api, id, {
    frames: [write(frame({ leaf: waitingLeaf('input', { gate: open, wakeAt: deadline }) }))],
    audit: [auditEntry('running', 'waiting')],
    settle: settleAs('waiting', { openWaits: 1, dueAt: deadline }),
  });
  return id;
}

/** An instance that ended, with one result or error row. */
export async function ended(api: ApiFixture, state: 'completed' | 'failed' | 'cancelled'): Promise<string> {
  const id = await started(api);
  const error = { message: 'upstream answered 503', retryable: true };
  await takeTurn(api, id, {
    rows:
      state === 'failed'
        ? [row({ kind: 'retry', blockId: 'first', output: error }), failedRow(error)]
        : [row()],
    audit: [auditEntry('running', state)],
    settle: settleAs(state, state === 'failed' ? { failure: { blockId: 'first', error } } : {}),
  });
  return id;
}

function failedRow(error: { readonly message: string; readonly retryable: boolean }) {
  return row({ kind: 'error', blockId: 'first', attempt: 1, output: error });
}
