import type { AbSplitBlock, Block, RouterBlock } from '../../definition/document.ts';
import type { Frame } from '../frame.ts';
import { currentListIndex, listsOf } from '../plan.ts';
import { statusesOf } from './list-status.ts';
import { type Mapping, framed, keptOnly, placeList, refuse } from './mapping.ts';

/**
 * A choice is made once per entry and stays. The chosen list is found again by its blocks, or, when none of them is left,
 * by what stands for it: the condition of a route, the name of a variant.
 */
export function mapChoice(mapping: Mapping, block: RouterBlock | AbSplitBlock, own: Frame): Frame {
  const statuses = keptOnly(mapping, statusesOf(mapping.draft, own, false));
  const touched = [...statuses].filter(([, { kind }]) => kind !== 'pending').map(([id]) => id);
  const lists = listsOf(block);
  const index = chosenList(mapping, block, own, touched.length > 0 ? touched : [...statuses.keys()]);
  if (index === null) {
    refuse(mapping, block.id, 'the list that was chosen is not in the target');
    return own;
  }
  const list = lists[index] ?? [];
  const astray = touched.find((id) => !list.some((inner) => inner.id === id));
  if (astray !== undefined) {
    refuse(mapping, block.id, `${astray} has begun and stands in another list than the chosen one`);
  }
  const frame = framed(own, placeList(mapping, block.id, list, statuses));
  if (own.detail.kind === 'router') return { ...frame, detail: { kind: 'router', route: index } };
  return own.detail.kind === 'a_b_split'
    ? { ...frame, detail: { kind: 'a_b_split', variant: index } }
    : frame;
}

/** Index of the list that holds these blocks; null when they are spread, or when nothing tells it. */
function chosenList(
  mapping: Mapping,
  block: RouterBlock | AbSplitBlock,
  own: Frame,
  blockIds: readonly string[],
): number | null {
  const lists = listsOf(block);
  const holding = lists.flatMap((list, index) =>
    list.some(({ id }) => blockIds.includes(id)) ? [index] : [],
  );
  const [only, second] = holding;
  if (only !== undefined) return second === undefined ? only : null;
  const old = mapping.draft.plan.nodes.get(block.id)?.block;
  const name = old === undefined ? null : nameOf(old, currentListIndex(own));
  const named = lists.flatMap((_, index) => (nameOf(block, index) === name ? [index] : []));
  return named.length === 1 ? (named[0] ?? null) : null;
}

/** What stands for a list of a choice besides its blocks; the default route has the name of none. */
function nameOf(block: Block, index: number): string | null {
  if (block.type === 'router') return block.routes[index]?.condition ?? '';
  return block.type === 'a_b_split' ? (block.variants[index]?.name ?? null) : null;
}
