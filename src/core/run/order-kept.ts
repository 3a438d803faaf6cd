import type { Frame } from './frame.ts';
import { currentListIndex, innerIteration } from './plan.ts';

/** The frame without its order when it has begun another list: the next pass of a loop, the next phase of a try_catch. */
export function orderKept(before: Frame | undefined, frame: Frame): Frame {
  const isSameList =
    before !== undefined &&
    innerIteration(before) === innerIteration(frame) &&
    currentListIndex(before) === currentListIndex(frame);
  if (isSameList) return frame;
  const { order: _, ...rest } = frame;
  return rest;
}
