import type { StepBlock } from '../../definition/document.ts';
import type { Draft } from '../draft.ts';
import type { Leaf } from '../frame.ts';
import { type Outcome, type Place, frameAt } from '../place.ts';
import { failLeaf } from './end-leaf.ts';

/** The answers to the question what became of an attempt (RULINGS B10). */
export const OUTCOME_CHOICES = [
  { label: 'Done', value: 'done' },
  { label: 'Not done: run it', value: 'not_done' },
  { label: 'Failed', value: 'failed' },
] as const;

/** Redeliveries of one leaf before it is given up, whatever its siblings commit (RULINGS A19). */
const REDELIVERIES_MAX = 10;

/** Whom the attempt was lost with. */
type LostWith = 'process' | 'worker';

/** Whether an attempt of the step must not begin a second time unless a person says so (RULINGS A20, B10). */
export function isAtMostOnce(block: StepBlock): boolean {
  return (block.on_uncertain ?? 'retry') !== 'retry';
}

/**
 * An attempt that had begun and whose result is unknown, because the process died or the worker fell silent. By default it
 * runs again under the same key; a step that must not ends as the author says (RULINGS A20, B10). null: run it again.
 */
export function resolveUncertain(
  draft: Draft,
  place: Place,
  block: StepBlock,
  leaf: Leaf,
  lostWith: LostWith,
): Outcome | null {
  const failure = {
    message: `the outcome of ${block.id} is unknown: ${lostWith === 'process' ? 'the process ended while it ran' : 'its worker fell silent'}`,
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
      prompt: `${lostWith === 'process' ? `The process ended while "${block.id}" ran` : `The worker of "${block.id}" fell silent`}. Was its effect carried out?`,
      choices: OUTCOME_CHOICES,
      storeAs: block.id,
      allowComment: true,
      timeoutMs: null,
      escalationHandler: null,
      kind: 'outcome',
    },
  });
  return 'open';
}
