import type { Block } from '../../definition/document.ts';
import type { Draft } from '../draft.ts';
import { type Frame, frameKey, frameOfKey } from '../frame.ts';
import { innerIteration, isInside } from '../plan.ts';

/**
 * The first leaves of a turn are not stored before their results, nor are the composites around them (RULINGS A22): what
 * is being called says that its block has begun, and after a crash it may have been called.
 */
export function hasBegun(draft: Draft, frame: Frame, block: Block): boolean {
  const key = frameKey(frame);
  if (frame.leaf !== null || draft.inFlight.has(key) || draft.lostCalls.mayHaveRun(key)) return true;
  const iteration = innerIteration(frame);
  if (draft.frames.has(frameKey({ blockId: block.id, branch: null, iteration }))) return true;
  return [...draft.inFlight].some((flying) => {
    const { blockId, iteration: pass } = frameOfKey(flying);
    const isInPass = pass === iteration || iteration === '' || pass.startsWith(`${iteration}/`);
    return isInPass && (blockId === block.id || isInside(draft.plan, blockId, block.id));
  });
}
