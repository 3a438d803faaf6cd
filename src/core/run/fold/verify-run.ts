import type { Frame } from '../frame.ts';
import { differencesOf } from './compare-frames.ts';
import { type FoldInput, foldRun } from './fold-run.ts';

/**
 * What is stored of a run against what its rows alone say (RULINGS B2): the frontier, and with it the tree, which is made
 * of both. Answers the differences in words; empty when there are none.
 */
export function verifyRun(input: FoldInput & { readonly frames: readonly Frame[] }): readonly string[] {
  const isCancelling = input.instance.cancelRequestedAt !== null;
  return differencesOf({ plan: input.plan, isCancelling }, input.frames, foldRun(input));
}
