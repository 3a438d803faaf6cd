import type { Block } from '../definition/document.ts';
import type { Frame, Leaf, RunOrder } from './frame.ts';

/** The lists that were asked for last; the object of an order lives as long as the order of its frame stays as it is. */
const memo = new WeakMap<RunOrder, { readonly list: readonly Block[]; readonly ordered: readonly Block[] }>();

/** A list in the order in which a frame runs it. */
export function inRunOrder(list: readonly Block[], order: RunOrder | undefined): readonly Block[] {
  if (order === undefined || order.moved.length === 0) return list;
  const known = memo.get(order);
  if (known?.list === list) return known.ordered;
  const later = new Map(order.moved.map(({ blockId, to }) => [blockId, to]));
  const moved = list.filter((block) => later.has(block.id));
  const targets = new Map(moved.map((block) => [later.get(block.id) ?? 0, block]));
  const others = list.filter((block) => !later.has(block.id)).values();
  const ordered = list.map((block, index) => targets.get(index) ?? others.next().value ?? block);
  memo.set(order, { list, ordered });
  return ordered;
}

/** What stands where in a list that blocks have come to or gone from. */
export interface Standing {
  /** What has ended. */
  readonly done: ReadonlySet<string>;
  /** What is being worked on, or has failed: it stays at the cursor. */
  readonly current: string | null;
  readonly held: RunOrder['held'];
}

/**
 * The cursor and the order of a list: what has ended, what is worked on, and then everything else as it stands in the
 * document. So a block that stands before ended ones is the next to run ([LIST-1]), and nothing that is worked on is put
 * aside.
 */
export function standIn(
  list: readonly Block[],
  { done, current, held }: Standing,
): { readonly cursor: number; readonly order: RunOrder | null } {
  const cursor = list.filter((block) => done.has(block.id)).length;
  const lastDone = list.findLastIndex((block) => done.has(block.id));
  const last = Math.max(
    lastDone,
    list.findIndex((block) => block.id === current),
  );
  const first = list.filter((block, index) => block.id === current && index < lastDone);
  const passed = list.filter((block, index) => index < last && !done.has(block.id) && block.id !== current);
  const start = current !== null && first.length === 0 ? cursor + 1 : cursor;
  const moved = [...first, ...passed].map((block, index) => ({ blockId: block.id, to: start + index }));
  const keeps = held !== null && held.blockId !== current;
  if (moved.length === 0 && !keeps) return { cursor, order: null };
  return { cursor, order: { moved, held: keeps ? held : null } };
}

/** A frame with its cursor one further on. An order that says nothing about what is still to come is dropped. */
export function stepOn(frame: Frame, list: readonly Block[]): Frame {
  const cursor = frame.cursor + 1;
  if (frame.order === undefined) return { ...frame, cursor, leaf: null };
  const { order, ...rest } = frame;
  const { held } = order;
  const isHeld = held !== null && list[cursor]?.id === held.blockId;
  const leaf: Leaf | null = isHeld ? held.leaf : null;
  const left: RunOrder = {
    moved: order.moved.some(({ to }) => to >= cursor) ? order.moved : [],
    held: isHeld ? null : held,
  };
  const says = left.moved.length > 0 || left.held !== null;
  if (!says) return { ...rest, cursor, leaf };
  // The same object as long as it says the same: the list in its order is remembered by it.
  const same = left.moved === order.moved && left.held === held;
  return { ...rest, cursor, leaf, order: same ? order : left };
}
