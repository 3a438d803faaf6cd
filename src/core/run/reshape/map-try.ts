import type { TryCatchBlock } from '../../definition/document.ts';
import type { Frame } from '../frame.ts';
import { currentListIndex, listsOf } from '../plan.ts';
import { statusesOf } from './list-status.ts';
import { type Mapping, framed, keptOnly, placeList, refuse } from './mapping.ts';

/**
 * The lists of a try_catch have their roles: what has begun in one must not stand in another, where it would be run once
 * more, or not be undone. What has not begun may go where it wants, if its list is still to come.
 */
export function mapTry(mapping: Mapping, block: TryCatchBlock, own: Frame): Frame {
  const current = currentListIndex(own);
  const statuses = keptOnly(mapping, statusesOf(mapping.draft, own, false));
  const lists = listsOf(block);
  for (const [index, list] of lists.entries()) {
    const astray = list.find(({ id }) => wasTouchedElsewhere(mapping, own, id, index));
    if (astray !== undefined) {
      refuse(mapping, block.id, `${astray.id} has begun in another list of ${block.id}`);
    }
  }
  return framed(own, placeList(mapping, block.id, lists[current] ?? [], statuses));
}

/** True for a block that was in a list of the old plan that has been entered, and stands in another one now. */
function wasTouchedElsewhere(mapping: Mapping, own: Frame, blockId: string, index: number): boolean {
  const node = mapping.draft.plan.nodes.get(blockId);
  if (!mapping.same.has(blockId) || node === undefined || node.listIndex === index) return false;
  const current = currentListIndex(own);
  if (node.listIndex < current) return index >= current;
  if (node.listIndex > current) return false;
  return statusesOf(mapping.draft, own, false).get(blockId)?.kind !== 'pending';
}
