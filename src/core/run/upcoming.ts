import type { Draft } from './draft.ts';
import type { Frame } from './frame.ts';
import { type Plan, type PlanNode, currentList, currentListIndex } from './plan.ts';

/**
 * True while the run may still reach a block: it stands at or behind a cursor, or inside a loop that may have another
 * pass. So long an answer to its gate is kept ([HI-6]).
 */
export function mayStillCome(draft: Draft, blockId: string): boolean {
  for (let node = draft.plan.nodes.get(blockId); node !== undefined; node = parentOf(draft, node)) {
    const { parentId, listIndex } = node;
    const owned = [...draft.frames.values()].filter((frame) => frame.blockId === (parentId ?? ''));
    // A block around it that has not been entered yet, or is over: what stands further out decides.
    if (owned.length === 0) continue;
    if (owned.some(repeats)) return true;
    const inRepeat = ancestorsOf(draft, node).some((id) => isRepeating(draft, id));
    // A branch without a frame of its own has not begun, or has ended: the join knows which.
    const byBranch = (branch: number | null): Frame | undefined =>
      owned.find((frame) => frame.branch === branch);
    const list = byBranch(listIndex) ?? byBranch(null);
    return inRepeat || (list !== undefined && isAhead(draft, list, node));
  }
  return true;
}

function parentOf(draft: Draft, node: PlanNode): PlanNode | undefined {
  return node.parentId === null ? undefined : draft.plan.nodes.get(node.parentId);
}

function ancestorsOf(draft: Draft, node: PlanNode): readonly string[] {
  const parent = parentOf(draft, node);
  return parent === undefined ? [] : [parent.block.id, ...ancestorsOf(draft, parent)];
}

function isRepeating(draft: Draft, blockId: string): boolean {
  return [...draft.frames.values()].some((frame) => frame.blockId === blockId && repeats(frame));
}

function repeats({ detail, state }: Frame): boolean {
  return (
    state === 'open' && (detail.kind === 'loop' || detail.kind === 'for_each' || detail.kind === 'fan_out')
  );
}

function indexInRun(plan: Plan, frame: Frame, node: PlanNode): number {
  return currentList(plan, frame).findIndex((block) => block.id === node.block.id);
}

function isAhead(draft: Draft, frame: Frame, node: PlanNode): boolean {
  const { detail } = frame;
  const { listIndex } = node;
  if (frame.state !== 'open') return false;
  if (detail.kind === 'parallel' || detail.kind === 'race') return (detail.ends[listIndex] ?? null) === null;
  if (detail.kind === 'saga') return true;
  if (node.parentId !== null && detail.kind !== 'branch' && listIndex !== currentListIndex(frame)) {
    return detail.kind === 'try_catch' && listIndex > currentListIndex(frame);
  }
  // The gate of the leaf at the cursor is not asked twice in a pass.
  const { order } = frame;
  const index = order === undefined ? node.index : indexInRun(draft.plan, frame, node);
  if (index === frame.cursor) return frame.leaf === null || !frame.leaf.passed.gate;
  return index > frame.cursor;
}
