import { compareCodePoints } from '../json.ts';
import type { Block } from '../definition/document.ts';
import type { Frame } from '../run/frame.ts';
import { compareIterations } from '../run/iteration-order.ts';
import { type Plan, currentList, innerIteration } from '../run/plan.ts';
import type { DiagnosisFacts, StandingLeaf } from './facts.ts';

/** What the open lists of a run stand at. Without a plan the blocks stay unnamed. */
export function standingIn(
  frames: readonly Frame[],
  plan: Plan | null,
): Pick<DiagnosisFacts, 'leaves' | 'polls'> {
  const open = frames.filter(({ state }) => state === 'open');
  return {
    leaves: open
      .flatMap((frame) => leafOf(frame, plan))
      .sort((a, b) => compareIterations(a.iteration, b.iteration) || byBlock(a, b)),
    polls: open
      .flatMap(({ blockId, detail }) =>
        detail.kind === 'loop' && detail.pollUntil !== null && !detail.inPass
          ? [{ blockId, until: detail.pollUntil }]
          : [],
      )
      .sort((a, b) => byBlock(a, b) || a.until - b.until),
  };
}

function leafOf(frame: Frame, plan: Plan | null): readonly StandingLeaf[] {
  const { leaf } = frame;
  if (leaf === null || leaf.state === 'failed' || leaf.state === 'cancelled') return [];
  const block = plan === null ? undefined : currentList(plan, frame)[frame.cursor];
  return [{ blockId: block?.id ?? null, iteration: innerIteration(frame), leaf, ...ofStep(block) }];
}

function ofStep(block: Block | undefined): Pick<StandingLeaf, 'handler' | 'fallbackHandler' | 'maxAttempts'> {
  if (block?.type !== 'step') return { handler: null, fallbackHandler: null, maxAttempts: null };
  return {
    handler: block.handler,
    fallbackHandler: block.fallback_handler ?? null,
    maxAttempts: block.retry?.max_attempts ?? null,
  };
}

function byBlock(a: { readonly blockId: string | null }, b: { readonly blockId: string | null }): number {
  return compareCodePoints(a.blockId ?? '', b.blockId ?? '');
}
