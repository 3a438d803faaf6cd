import type { RaceBlock } from '../../definition/document.ts';
import type { Draft } from '../draft.ts';
import type { ListEnd } from '../frame.ts';
import {
  type Outcome,
  type Place,
  type RunList,
  closeBlock,
  frameAt,
  inside,
  openFrame,
  stopsHere,
} from '../place.ts';
import { branchEnds, cancelOpenBranches, endsOfNow, noteCancel, runBranch, setEnd } from './parallel.ts';

/**
 * 9.2: the first branch that drains wins. The decision is made after every branch had its round, so that of several
 * winners the lowest index counts ([RACE-2]) and a win beats a failure of the same round ([RACE-6]).
 */
export function runRace(draft: Draft, place: Place, block: RaceBlock, runList: RunList): Outcome {
  const join = openFrame(draft, place, block, () => ({ kind: 'race', ends: block.branches.map(() => null) }));
  const joinPlace = inside(place, join);
  noteCancel(draft, place, joinPlace);
  block.branches.forEach((_, branch) => {
    if (branchEnds(draft, joinPlace)[branch] !== null || draft.knowledge.hasNeeds) return;
    const end = runBranch(draft, joinPlace, branch, runList);
    if (end !== 'open') setEnd(draft, joinPlace, branch, end);
  });
  // A branch that has to read first may win in this very round.
  if (draft.knowledge.hasNeeds) return 'open';
  const ends = endsOfNow(draft, joinPlace);
  const end = decide(ends, block, stopsHere(draft, place));
  if (end === null) return 'open';
  cancelOpenBranches(draft, joinPlace);
  return closeBlock(draft, place, frameAt(draft, joinPlace), end);
}

function decide(ends: readonly (ListEnd | null)[], block: RaceBlock, cancelling: boolean): ListEnd | null {
  if (cancelling) {
    if (ends.includes(null)) return null;
    return ends.includes('failed') ? 'failed' : 'cancelled';
  }
  if (ends.includes('drained')) return 'drained';
  const out = ends.filter((end) => end === 'failed' || end === 'cancelled').length;
  if (block.semantics === 'first_to_resolve') return out > 0 ? 'failed' : null;
  return out === ends.length ? 'failed' : null;
}
