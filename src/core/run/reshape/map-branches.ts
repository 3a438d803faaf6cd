import type { ParallelBlock, RaceBlock } from '../../definition/document.ts';
import { type Frame, type ListEnd, frameKey } from '../frame.ts';
import { branchFrame } from '../fresh-frames.ts';
import { listsOf } from '../plan.ts';
import { type Status, type Statuses, statusesOf } from './list-status.ts';
import { type Mapping, framed, keptOnly, placeList } from './mapping.ts';

/**
 * All branches are worked on side by side, so a block may go to any of them; a branch of the new plan stands where its
 * blocks stand. One with blocks to come is open, also when the blocks it had before were all over.
 */
export function mapBranches(
  mapping: Mapping,
  block: ParallelBlock | RaceBlock,
  own: Frame,
): readonly Frame[] {
  if (own.detail.kind !== 'parallel' && own.detail.kind !== 'race') return [own];
  const statuses = keptOnly(
    mapping,
    ...own.detail.ends.map((end, index) => branchStatuses(mapping, own, index, end)),
  );
  const branches = listsOf(block).map((list, index) => {
    const placed = placeList(mapping, block.id, list, statuses);
    const frame = framed(branchFrame(oldBranch(mapping, own, index), index), placed);
    return { frame, end: endOf(placed.state, placed.isOver) };
  });
  const ends = branches.map(({ end }) => end);
  return [
    { ...own, detail: { kind: own.detail.kind, ends } },
    ...branches.flatMap(({ frame, end }) => (end === 'drained' ? [] : [frame])),
  ];
}

function endOf(state: Frame['state'], isOver: boolean): ListEnd | null {
  if (state !== 'open') return state;
  return isOver ? 'drained' : null;
}

/** The time at which a branch began is that of the old branch of this index. */
function oldBranch(mapping: Mapping, own: Frame, index: number): Frame {
  return mapping.draft.frames.get(keyOf(own, index)) ?? own;
}

function keyOf({ blockId, iteration }: Frame, branch: number): string {
  return frameKey({ blockId, branch, iteration });
}

/** A branch without a frame has drained, or was never entered. */
function branchStatuses(mapping: Mapping, own: Frame, index: number, end: ListEnd | null): Statuses {
  const { draft } = mapping;
  const frame = draft.frames.get(keyOf(own, index));
  if (frame !== undefined && end !== 'drained') return statusesOf(draft, frame, false);
  const block = draft.plan.nodes.get(own.blockId)?.block;
  const list = block === undefined ? [] : (listsOf(block)[index] ?? []);
  const status: Status = end === 'drained' ? { kind: 'done' } : { kind: 'pending', leaf: null };
  return new Map(list.map(({ id }) => [id, status]));
}
