import type { Leaf, WaitReason } from '../frame.ts';
import type { Denial, TakeAnswer, Takes } from './takes.ts';

/** The leaf as it waits for the limit that denied it; null when waiting is of no use. */
export function heldLeaf(
  before: Leaf,
  takes: Takes,
  answer: Extract<TakeAnswer, { readonly granted: false }>,
): Leaf | null {
  const reason = waitFor(answer.reason);
  if (reason === null) return null;
  return { ...before, state: 'waiting', reason, wakeAt: answer.until, limit: limitOf(answer.reason, takes) };
}

function waitFor(denial: Denial): WaitReason | null {
  switch (denial) {
    case 'rate_limit':
    case 'breaker':
    case 'pool':
      return denial;
    case 'pool_empty':
    case 'pool_unknown':
      return null;
  }
}

function limitOf(denial: Denial, { rate = '', breaker, pool }: Takes): string {
  if (denial === 'rate_limit') return rate;
  return denial === 'breaker' ? (breaker?.handler ?? '') : (pool?.name ?? '');
}
