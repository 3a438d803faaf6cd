import type { Block } from '../../definition/document.ts';
import { ranOf } from '../blocks/saga.ts';
import { type Frame, frameKey } from '../frame.ts';
import { rootFrame, unstoredBranches } from '../fresh-frames.ts';
import { parentOf } from '../place.ts';
import { type Plan, listsOf } from '../plan.ts';
import type { Standing } from '../standing.ts';

/**
 * The frames without those that say nothing: a composite that was entered and in which nothing has ended yet leaves no
 * row, so a fold cannot know of it, and going on from the fold enters it again.
 */
export function silentFree(plan: Plan, stored: readonly Frame[]): readonly Frame[] {
  // Lists at their start need not be stored; what lies below them is found through their frames.
  const known = [rootFrame(0), ...stored.flatMap(unstoredBranches), ...stored];
  const frames = new Map(known.map((frame) => [frameKey(frame), frame]));
  const standing = { plan, frames };
  const byDepth = [...frames.values()]
    .map((frame) => ({ frame, depth: depthOf(standing, frame) }))
    .sort((left, right) => right.depth - left.depth);
  /** Keys of frames with something in them. */
  const parents = new Set<string>();
  const told: Frame[] = [];
  for (const { frame } of byDepth) {
    const holds = parents.has(frameKey(frame));
    const shown = holds ? frame : atRest(plan, frame);
    if (!holds && isSilent(shown, listsIn(plan, shown))) continue;
    told.push(shown);
    const parent = parentOf(standing, frame);
    if (parent !== undefined) parents.add(frameKey(parent));
  }
  return told;
}

function depthOf(standing: Standing, frame: Frame): number {
  let depth = 0;
  for (let at = parentOf(standing, frame); at !== undefined; at = parentOf(standing, at)) depth += 1;
  return depth;
}

/**
 * A pass in which nothing has ended yet looks like one that has not begun, and a saga at an action in which nothing has
 * ended like one at the first action that has not run: a migration may have put that one before it.
 */
function atRest(plan: Plan, frame: Frame): Frame {
  const { detail, cursor, leaf, state } = frame;
  if (cursor !== 0 || leaf !== null || state !== 'open') return frame;
  if (detail.kind === 'loop' || detail.kind === 'for_each') {
    return { ...frame, detail: { ...detail, inPass: false } };
  }
  if (detail.kind !== 'saga' || detail.phase !== 'forward') return frame;
  const ran = ranOf(detail);
  const first = listsIn(plan, frame).findIndex((_, index) => !ran.includes(index / 2) && index % 2 === 0);
  return first === -1 ? frame : { ...frame, detail: { ...detail, step: first / 2, ran } };
}

function listsIn(plan: Plan, frame: Frame): readonly (readonly Block[])[] {
  const block = plan.nodes.get(frame.blockId)?.block;
  return block === undefined ? [] : listsOf(block);
}

/** `lists`: those of the composite; an empty one drains without a row. */
function isSilent({ detail, cursor, leaf, state }: Frame, lists: readonly (readonly Block[])[]): boolean {
  if (cursor !== 0 || leaf !== null) return false;
  if (detail.kind === 'branch' || detail.kind === 'item') return true;
  if (state !== 'open') return false;
  switch (detail.kind) {
    case 'root':
    case 'cancellation_scope':
      return true;
    case 'try_catch':
      return detail.phase === 'try' || (detail.tryEnd === 'drained' && lists[0]?.length === 0);
    case 'loop':
      return detail.passes === 0;
    case 'for_each':
    case 'fan_out':
      return detail.snapshotKey === null && detail.error === null;
    case 'saga':
      return detail.phase === 'forward' && ranOf(detail).length === 0;
    case 'parallel':
    case 'race':
      return detail.ends.every((end, index) => end === null || lists[index]?.length === 0);
    case 'router':
    case 'a_b_split':
      return false;
  }
}
