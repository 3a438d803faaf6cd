import type { Frame, ItemDetail } from './frame.ts';

/** The root list at its start. */
export function rootFrame(now: number): Frame {
  return {
    blockId: '',
    branch: null,
    iteration: '',
    cursor: 0,
    leaf: null,
    detail: { kind: 'root' },
    state: 'open',
    startedAt: now,
  };
}

/** One branch of a joining frame at its start. */
export function branchFrame(join: Frame, branch: number): Frame {
  const { blockId, iteration, startedAt } = join;
  return {
    blockId,
    branch,
    iteration,
    cursor: 0,
    leaf: null,
    detail: { kind: 'branch' },
    state: 'open',
    startedAt,
  };
}

/** One item of a `for_each` that fans out, at its start. */
export function itemFrame(owner: Frame, index: number, detail: ItemDetail, now: number): Frame {
  const { blockId, iteration } = owner;
  return {
    blockId,
    branch: index,
    iteration,
    cursor: 0,
    leaf: null,
    detail,
    state: 'open',
    startedAt: now,
  };
}

/** The branches of an open join that have not ended, as they stand at their start; none for other frames. */
export function unstoredBranches(frame: Frame): readonly Frame[] {
  const { detail } = frame;
  if ((detail.kind !== 'parallel' && detail.kind !== 'race') || frame.state !== 'open') return [];
  return detail.ends.flatMap((end, branch) => (end === null ? [branchFrame(frame, branch)] : []));
}
