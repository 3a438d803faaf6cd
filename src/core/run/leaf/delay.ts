import type { StepBlock } from '../../definition/document.ts';
import type { Draft } from '../draft.ts';
import type { Leaf } from '../frame.ts';
import { type Place, frameAt } from '../place.ts';

/**
 * [DELAY-1], [DELAY-3], [DELAY-5]: the target is computed once per pass and kept on the leaf. True when the step has
 * to wait. A dry run does not wait ([DRY-3]).
 */
export function startDelay(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): boolean {
  if (block.delay === undefined || draft.record.dryRun) return false;
  const base = draft.env.now;
  const target = Math.max(base, base + block.delay.duration + jitterOf(draft, block.delay.jitter ?? 0));
  if (target <= base) return false;
  draft.putLeaf(frameAt(draft, place), { ...leaf, state: 'waiting', reason: 'delay', wakeAt: target });
  return true;
}

/** Uniform in [-jitter, +jitter] ms. */
function jitterOf(draft: Draft, jitter: number): number {
  return jitter === 0 ? 0 : Math.floor(draft.env.random() * (2 * jitter + 1)) - jitter;
}

/** True when the delay is over. */
export function resumeDelay(draft: Draft, leaf: Leaf): boolean {
  return (leaf.wakeAt ?? 0) <= draft.env.now;
}
