import type { ParallelBlock } from '../../definition/document.ts';
import { cancelBelow } from '../cancel-subtree.ts';
import type { Draft } from '../draft.ts';
import { type ListEnd, frameKey } from '../frame.ts';
import { branchFrame } from '../fresh-frames.ts';
import {
  type Outcome,
  type Place,
  type RunList,
  closeBlock,
  frameAt,
  inside,
  openFrame,
  removeSubtree,
  stopsHere,
} from '../place.ts';

type Ends = readonly (ListEnd | null)[];

/**
 * 9.1: every branch runs to its end, none holds up another. `fail_fast` and `min_successful` end the block earlier by
 * cancelling what still runs: at the first failure, when enough branches have drained, or as soon as so many have failed that
 * enough cannot drain any more (RULINGS B25).
 */
export function runParallel(draft: Draft, place: Place, block: ParallelBlock, runList: RunList): Outcome {
  const join = openFrame(draft, place, block, () => ({
    kind: 'parallel',
    ends: block.branches.map(() => null),
  }));
  const joinPlace = inside(place, join);
  noteCancel(draft, place, joinPlace);
  const decides = block.fail_fast === true || block.min_successful !== undefined;
  block.branches.forEach((_, branch) => {
    if (branchEnds(draft, joinPlace)[branch] !== null || decided(draft, joinPlace, block)) return;
    // A branch that has to read first may decide for those behind it.
    if (decides && draft.knowledge.hasNeeds) return;
    const end = runBranch(draft, joinPlace, branch, runList);
    if (end !== 'open') setEnd(draft, joinPlace, branch, end);
  });
  if (decides && draft.knowledge.hasNeeds) return 'open';
  if (decided(draft, joinPlace, block)) cancelOpenBranches(draft, joinPlace);
  const ends = endsOfNow(draft, joinPlace);
  if (ends.includes(null)) return 'open';
  return closeBlock(draft, place, frameAt(draft, joinPlace), resultOf(ends, block, stopsHere(draft, place)));
}

/** [PAR-3]; while a cancel drains, a block that did not fail is cancelled. */
function resultOf(ends: Ends, block: ParallelBlock, cancelling: boolean): ListEnd {
  const enough = block.min_successful !== undefined && successes(ends) >= block.min_successful;
  if (ends.includes('failed') && !enough) return 'failed';
  if (cancelling) return 'cancelled';
  return ends.includes('cancelled') && !enough ? 'cancelled' : 'drained';
}

function decided(draft: Draft, joinPlace: Place, block: ParallelBlock): boolean {
  const ends = branchEnds(draft, joinPlace);
  if (block.fail_fast === true && ends.includes('failed')) return true;
  if (block.min_successful === undefined) return false;
  if (successes(ends) >= block.min_successful) return true;
  const reachable = ends.filter((end) => end === null || end === 'drained').length;
  // What a cancel took away does not count against what is protected: that still ends (17.3).
  return endsOfNow(draft, joinPlace).includes('failed') && reachable < block.min_successful;
}

const successes = (ends: Ends): number => ends.filter((end) => end === 'drained').length;

/** Runs one branch of a parallel or race; its frame gets a row only when it first says something. */
export function runBranch(
  draft: Draft,
  joinPlace: Place,
  branch: number,
  runList: RunList,
): ListEnd | 'open' {
  const join = frameAt(draft, joinPlace);
  const key = frameKey({ blockId: join.blockId, branch, iteration: join.iteration });
  if (!draft.frames.has(key)) {
    draft.putUnstored(branchFrame(join, branch));
    draft.lostCalls.opened(joinPlace.key, key);
  }
  const place = inside(joinPlace, branchFrame(join, branch));
  const end = runList(draft, place);
  if (end === 'drained') removeSubtree(draft, frameAt(draft, place));
  return end;
}

/**
 * [CAN-3], [CAN-4]: a branch that failed before the cancel came no longer counts as one that failed; the block is
 * cancelled unless something protected fails while the cancel drains.
 */
export function noteCancel(draft: Draft, place: Place, joinPlace: Place): void {
  const frame = frameAt(draft, joinPlace);
  const { detail } = frame;
  if (detail.kind !== 'parallel' && detail.kind !== 'race') return;
  if (!stopsHere(draft, place) || detail.failedBefore !== undefined) return;
  const failedBefore = detail.ends.flatMap((end, branch) => (end === 'failed' ? [branch] : []));
  draft.put({ ...frame, detail: { ...detail, failedBefore } });
}

/** How the branches ended, as far as it decides about the block. */
export function endsOfNow(draft: Draft, joinPlace: Place): Ends {
  const { detail } = frameAt(draft, joinPlace);
  const before = detail.kind === 'parallel' || detail.kind === 'race' ? (detail.failedBefore ?? []) : [];
  return branchEnds(draft, joinPlace).map((end, branch) => (before.includes(branch) ? 'cancelled' : end));
}

export function branchEnds(draft: Draft, joinPlace: Place): Ends {
  const { detail } = frameAt(draft, joinPlace);
  return detail.kind === 'parallel' || detail.kind === 'race' ? detail.ends : [];
}

export function setEnd(draft: Draft, joinPlace: Place, branch: number, end: ListEnd): void {
  const frame = frameAt(draft, joinPlace);
  if (frame.detail.kind !== 'parallel' && frame.detail.kind !== 'race') return;
  const ends = frame.detail.ends.map((old, index) => (index === branch ? end : old));
  draft.put({ ...frame, detail: { ...frame.detail, ends } });
}

/**
 * Cancels the branches that have not ended; their frames stay for a retry until the block is closed. A branch whose leaf
 * has failed since it was visited last has failed all the same.
 */
export function cancelOpenBranches(draft: Draft, joinPlace: Place): void {
  const join = frameAt(draft, joinPlace);
  branchEnds(draft, joinPlace).forEach((end, branch) => {
    if (end !== null) return;
    const key = frameKey({ blockId: join.blockId, branch, iteration: join.iteration });
    const frame = draft.frames.get(key);
    if (frame !== undefined) cancelBelow(draft, frame);
    setEnd(draft, joinPlace, branch, draft.frames.get(key)?.state === 'failed' ? 'failed' : 'cancelled');
  });
}
