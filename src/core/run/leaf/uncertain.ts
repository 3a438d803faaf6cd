import type { StepBlock } from '../../definition/document.ts';
import type { Draft } from '../draft.ts';
import type { Leaf } from '../frame.ts';
import { type Outcome, type Place, frameAt } from '../place.ts';
import { failLeaf } from './end-leaf.ts';

/** Redeliveries of one leaf before it is given up, whatever its siblings commit (RULINGS A19). */
const REDELIVERIES_MAX = 10;

/**
 * An attempt whose intent was durable and whose result is unknown, because the process died. By default it runs again
 * under the same key; a step that must not ends as the author says (RULINGS A20, B10). null: run it again.
 */
export function resolveUncertain(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): Outcome | null {
  const failure = {
    message: `the outcome of ${block.id} is unknown: the process ended while it ran`,
    retryable: false,
    code: 'UNKNOWN_OUTCOME',
  };
  const rule = block.on_uncertain ?? 'retry';
  if (rule === 'fail' || leaf.redeliveries >= REDELIVERIES_MAX) return failLeaf(draft, place, leaf, failure);
  if (rule === 'retry') return null;
  draft.putLeaf(frameAt(draft, place), {
    ...leaf,
    state: 'waiting',
    reason: 'input',
    wakeAt: null,
    error: failure,
    gate: {
      openedAt: draft.env.now,
      prompt: `The process ended while "${block.id}" ran. Was its effect carried out?`,
      choices: [
        { label: 'Done', value: 'done' },
        { label: 'Not done: run it', value: 'not_done' },
        { label: 'Failed', value: 'failed' },
      ],
      storeAs: block.id,
      allowComment: true,
      timeoutMs: null,
      escalationHandler: null,
      kind: 'outcome',
    },
  });
  return 'open';
}
