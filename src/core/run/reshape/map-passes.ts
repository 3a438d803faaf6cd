import type { CancellationScopeBlock, ForEachBlock, LoopBlock } from '../../definition/document.ts';
import { fansOut, isConcurrent } from '../blocks/items.ts';
import type { Frame } from '../frame.ts';
import { itemFrames } from '../item-frames.ts';
import { listsOf } from '../plan.ts';
import { statusesOf } from './list-status.ts';
import { type Mapping, framed, keptOnly, placeList, refuse } from './mapping.ts';

/** A list that is worked on in one pass after the other, or once. The next pass begins with the new list. */
export function mapPass(
  mapping: Mapping,
  block: LoopBlock | ForEachBlock | CancellationScopeBlock,
  own: Frame,
): Frame {
  checkWay(mapping, block);
  const { detail } = own;
  const isBetween = (detail.kind === 'loop' || detail.kind === 'for_each') && !detail.inPass;
  if (isBetween) return own;
  const statuses = keptOnly(mapping, statusesOf(mapping.draft, own, false));
  return framed(own, placeList(mapping, block.id, listsOf(block)[0] ?? [], statuses));
}

/** A `for_each` that fans out: each item stands where it stood. */
export function mapItems(mapping: Mapping, block: ForEachBlock, own: Frame): readonly Frame[] {
  checkWay(mapping, block);
  const items = itemFrames(mapping.draft.frames.values(), own).map((item) => {
    const statuses = keptOnly(mapping, statusesOf(mapping.draft, item, false));
    return framed(item, placeList(mapping, block.id, block.body, statuses));
  });
  return [own, ...items];
}

/** Items that run side by side have frames and outputs of their own; an open block cannot change over. */
function checkWay(mapping: Mapping, block: LoopBlock | ForEachBlock | CancellationScopeBlock): void {
  const old = mapping.draft.plan.nodes.get(block.id)?.block;
  if (block.type !== 'for_each' || old?.type !== 'for_each') return;
  if (fansOut(block) === fansOut(old) && isConcurrent(block) === isConcurrent(old)) return;
  refuse(mapping, block.id, 'its items would run in another way while it is open');
}
