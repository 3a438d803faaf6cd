import type { CancellationScopeBlock } from '../../definition/document.ts';
import type { Draft } from '../draft.ts';
import { type Outcome, type Place, type RunList, closeBlock, frameAt, inside, openFrame } from '../place.ts';

/** 9.9: a list that no cancel reaches once it has been entered. */
export function runCancellationScope(
  draft: Draft,
  place: Place,
  block: CancellationScopeBlock,
  runList: RunList,
): Outcome {
  const frame = openFrame(draft, place, block, () => ({ kind: 'cancellation_scope' }));
  const inner = inside(place, frame, true);
  const end = runList(draft, inner);
  return end === 'open' ? 'open' : closeBlock(draft, place, frameAt(draft, inner), end);
}
