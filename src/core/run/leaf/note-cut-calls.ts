import type { JsonObject } from '../../json.ts';
import type { Dispatch } from '../env.ts';
import type { Draft } from '../draft.ts';
import type { Leaf } from '../frame.ts';
import { currentList } from '../plan.ts';
import { markLostCalls } from './mark-lost-calls.ts';

/** A result that nobody may use any more goes to the journal, for people and for compensation (RULINGS A10, A40). */
export function noteLateResult(
  draft: Draft,
  call: Pick<Dispatch, 'blockId' | 'attempt'>,
  succeeded: boolean | null,
): void {
  const details: JsonObject = {
    block_id: call.blockId,
    attempt: call.attempt,
    outcome: succeeded === null ? 'unknown_outcome' : succeeded ? 'succeeded' : 'failed',
  };
  draft.note('late_result', details);
}

/**
 * The run is taken away from whoever holds it: what that one has called is cut off, and the answer will find nobody
 * (RULINGS A40). What a worker has is told by the events of its task.
 */
export function noteCutCalls(draft: Draft): void {
  markLostCalls(draft);
  for (const frame of draft.frames.values()) {
    const block = currentList(draft.plan, frame)[frame.cursor];
    const { leaf } = frame;
    if (frame.state !== 'open' || leaf === null || block?.type !== 'step' || !mayBeRunning(leaf)) continue;
    noteLateResult(draft, { blockId: block.id, attempt: leaf.attempt }, null);
  }
}

/** The attempt has begun, and nothing of its end is stored; it does not only wait for somebody. */
function mayBeRunning({ state, reason, dispatchedAt }: Leaf): boolean {
  if (state === 'failed' || state === 'cancelled' || dispatchedAt === null) return false;
  switch (reason) {
    case null:
    case 'retry':
    case 'handler':
    case 'rate_limit':
    case 'breaker':
    case 'pool':
      return true;
    case 'delay':
    case 'send_window':
    case 'worker':
    case 'input':
    case 'child':
    case 'event':
    case 'sleep':
      return false;
  }
}
