import type { Draft } from './draft.ts';
import { type Frame, frameKey } from './frame.ts';
import { passPath } from './plan.ts';
import { mayStillCome } from './upcoming.ts';

interface Pass {
  readonly blockId: string;
  readonly outer: string;
  readonly index: number;
}

/** As `mayStillCome`, of one pass: `each:3`, or the path of an outer pass that leads to it. */
export function passMayStillCome(draft: Draft, blockId: string, iteration: string): boolean {
  const isOver = passesOf(draft, blockId, iteration).some((pass) => {
    const owner = draft.frames.get(frameKey({ ...pass, branch: null, iteration: pass.outer }));
    return owner !== undefined && hasEnded(draft, owner, pass.index);
  });
  return !isOver && mayStillCome(draft, blockId);
}

/** The passes that a path names, outermost first, as far as it leads to the block. */
function passesOf(draft: Draft, blockId: string, iteration: string): readonly Pass[] {
  const passes: Pass[] = [];
  let outer = '';
  for (const id of repeatingAround(draft, blockId)) {
    const start = passPath(outer, id, 0).slice(0, -1);
    if (!iteration.startsWith(start)) break;
    const index = Number.parseInt(iteration.slice(start.length), 10);
    if (Number.isNaN(index)) break;
    passes.push({ blockId: id, outer, index });
    outer = passPath(outer, id, index);
  }
  return passes;
}

/** The loops around a block, outermost first. */
function repeatingAround(draft: Draft, blockId: string): readonly string[] {
  const { nodes } = draft.plan;
  const ids: string[] = [];
  for (let id = nodes.get(blockId)?.parentId ?? null; id !== null; id = nodes.get(id)?.parentId ?? null) {
    const type = nodes.get(id)?.block.type;
    if (type === 'loop' || type === 'for_each') ids.unshift(id);
  }
  return ids;
}

function hasEnded(draft: Draft, owner: Frame, index: number): boolean {
  const { detail } = owner;
  if (detail.kind === 'loop') return index < detail.passes;
  if (detail.kind === 'for_each') return index < detail.index || index >= detail.total;
  if (detail.kind !== 'fan_out' || index >= detail.total) return detail.kind === 'fan_out';
  const mayComeAgain = detail.again.length > 0;
  const isOpen = draft.frames.has(frameKey({ ...owner, branch: index }));
  return index < detail.next && !mayComeAgain && !isOpen;
}
