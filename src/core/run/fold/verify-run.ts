import type { Frame } from '../frame.ts';
import { differencesOf } from './compare-frames.ts';
import { type FoldInput, foldRun } from './fold-run.ts';

/**
 * What is stored of a run against what its rows alone say (RULINGS B2): the frontier, and with it the tree, which is made
 * of both. Answers the differences in words; empty when there are none.
 */
export function verifyRun(input: FoldInput & { readonly frames: readonly Frame[] }): readonly string[] {
  if (input.instance.state === 'paused' && input.frames.some(hasFailedUnseen)) return [];
  const isCancelling = input.instance.cancelRequestedAt !== null;
  return differencesOf({ plan: input.plan, isCancelling }, input.frames, foldRun(input));
}

/** A result that came while the run is paused: its row says that the list has failed, and no walk has seen to it yet. */
function hasFailedUnseen({ state, leaf }: Frame): boolean {
  return state === 'open' && leaf?.state === 'failed';
}
