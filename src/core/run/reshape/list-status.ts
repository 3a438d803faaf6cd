import type { Block } from '../../definition/document.ts';
import type { Draft } from '../draft.ts';
import type { Frame, Leaf } from '../frame.ts';
import { currentList } from '../plan.ts';
import { type Standing, standIn } from '../run-order.ts';
import { hasBegun } from './has-begun.ts';

/** How far a block of an open list is. */
export type Status =
  | { readonly kind: 'done' }
  /** Stands at the cursor: it is worked on, or the list has ended with it. */
  | {
      readonly kind: 'current';
      readonly state: Frame['state'];
      readonly leaf: Leaf | null;
      readonly notes: Notes;
    }
  /** Has not begun; `leaf` is what it keeps of an earlier run. */
  | { readonly kind: 'pending'; readonly leaf: Leaf | null }
  /** Stands behind what has failed or was cut short, and is over with it; a retry runs it after that ([LIST-3]). */
  | { readonly kind: 'rest' };

/** What a frame remembers of the block at its cursor goes with the block, also to another branch. */
type Notes = Pick<Frame, 'traced' | 'unknown'>;

export type Statuses = ReadonlyMap<string, Status>;

const DONE: Status = { kind: 'done' };
const PENDING: Status = { kind: 'pending', leaf: null };
const REST: Status = { kind: 'rest' };

/**
 * The blocks of the list that a frame works on.
 *
 * @param restarts The run begins again after an end: what stands at the cursor of the root list has not begun anew yet,
 *   so that blocks put before it are run first.
 */
export function statusesOf(draft: Draft, frame: Frame, restarts: boolean): Statuses {
  const list = currentList(draft.plan, frame);
  const rest = frame.state === 'open' ? PENDING : REST;
  const statuses = new Map<string, Status>();
  list.forEach((block, index) => {
    const held = frame.order?.held?.blockId === block.id ? frame.order.held.leaf : null;
    if (index < frame.cursor) statuses.set(block.id, DONE);
    else if (index > frame.cursor)
      statuses.set(block.id, held === null ? rest : { kind: 'pending', leaf: held });
    else statuses.set(block.id, statusAtCursor(draft, frame, block, restarts));
  });
  return statuses;
}

function statusAtCursor(draft: Draft, frame: Frame, block: Block, restarts: boolean): Status {
  const { leaf, state } = frame;
  const current: Status = { kind: 'current', state, leaf, notes: notesOf(frame) };
  if (state !== 'open') return current;
  if (restarts && frame.detail.kind === 'root') return { kind: 'pending', leaf };
  return hasBegun(draft, frame, block) ? current : { kind: 'pending', leaf: null };
}

function notesOf({ traced, unknown }: Frame): Notes {
  return { ...(traced === undefined ? {} : { traced }), ...(unknown === undefined ? {} : { unknown }) };
}

/** A list of the new plan as a frame works on it. */
export interface Placed {
  readonly cursor: number;
  readonly leaf: Leaf | null;
  readonly state: Frame['state'];
  readonly order: Frame['order'] | null;
  readonly notes: Notes;
  /** Every block of it is over. */
  readonly isOver: boolean;
}

/** Ids of the blocks of a list that are worked on; more than one cannot stand at one cursor. */
export function worked(list: readonly Block[], statuses: Statuses): readonly string[] {
  return list.flatMap(({ id }) => (statuses.get(id)?.kind === 'current' ? [id] : []));
}

export function placeIn(list: readonly Block[], statuses: Statuses): Placed {
  const [current = null] = worked(list, statuses);
  const at = current === null ? undefined : statuses.get(current);
  // Where what has failed is gone, nothing is left to come back to.
  const over: readonly (Status['kind'] | undefined)[] = current === null ? ['done', 'rest'] : ['done'];
  const done = new Set(list.flatMap(({ id }) => (over.includes(statuses.get(id)?.kind) ? [id] : [])));
  const held = heldOf(list, statuses);
  const { cursor, order } = standIn(list, { done, current, held });
  const isOver = list.length > 0 && done.size === list.length;
  if (at?.kind === 'current') {
    const { leaf, state, notes } = at;
    return { cursor, order, leaf, state, notes, isOver };
  }
  const isNext = held !== null && nextOf(list, done)?.id === held.blockId;
  if (!isNext) return { cursor, order, leaf: null, state: 'open', notes: {}, isOver };
  const kept = standIn(list, { done, current, held: null });
  return { cursor: kept.cursor, order: kept.order, leaf: held.leaf, state: 'open', notes: {}, isOver };
}

function heldOf(list: readonly Block[], statuses: Statuses): Standing['held'] {
  for (const { id } of list) {
    const status = statuses.get(id);
    if (status?.kind === 'pending' && status.leaf !== null) return { blockId: id, leaf: status.leaf };
  }
  return null;
}

/** With nothing at the cursor the first block that is not over is the next one. */
function nextOf(list: readonly Block[], done: ReadonlySet<string>): Block | undefined {
  return list.find(({ id }) => !done.has(id));
}
