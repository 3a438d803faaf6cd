import type { StepBlock } from '../../definition/document.ts';
import type { Draft } from '../draft.ts';
import { type Frame, type Leaf, frameKey } from '../frame.ts';
import { placeOf } from '../place.ts';
import { currentList } from '../plan.ts';
import { needsIntentFirst } from './dispatch.ts';
import { freshLeaf } from './fresh-leaf.ts';

/**
 * A run that is paused before the turn that took it over could go on: the leaves that the lost turn may have called keep
 * a mark, so that their next call is told ([REC-2]).
 */
export function markLostCalls(draft: Draft): void {
  for (const frame of [...draft.frames.values()]) {
    const block = currentList(draft.plan, frame)[frame.cursor];
    if (frame.state !== 'open' || block?.type !== 'step' || draft.inFlight.has(frameKey(frame))) continue;
    if (!draft.lostCalls.mayHaveRun(frameKey(frame)) || !mayBeCalled(draft, frame, block)) continue;
    draft.putLeaf(frame, { ...(frame.leaf ?? freshLeaf(draft.env.now)), dispatchedAt: draft.env.now });
  }
}

/** What waits for something else, or for a later instant, is stored as such and was not called. */
function mayBeCalled(draft: Draft, frame: Frame, block: StepBlock): boolean {
  if (draft.env.kindOf(block.handler) !== 'effect' || block.handler === 'sleep') return false;
  if (needsIntentFirst(draft, placeOf(draft, frameKey(frame)), block)) return false;
  const { leaf } = frame;
  if (leaf === null) return block.delay === undefined && block.wait_for_input === undefined;
  return leaf.dispatchedAt === null && leaf.state === 'waiting' && isDueTimer(draft, leaf);
}

function isDueTimer(draft: Draft, leaf: Leaf): boolean {
  const timed = ['delay', 'retry', 'handler', 'breaker'].includes(leaf.reason ?? '');
  return timed && (leaf.wakeAt ?? 0) <= draft.env.now;
}
