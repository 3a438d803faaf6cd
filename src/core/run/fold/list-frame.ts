import type { Block } from '../../definition/document.ts';
import type { Failure } from '../../failure.ts';
import { type Json, isJsonObject, member } from '../../json.ts';
import { failedLeaves } from '../failures.ts';
import {
  type FailedLeaf,
  type Frame,
  type FrameDetail,
  type Leaf,
  type ListEnd,
  type RunOrder,
  frameKey,
} from '../frame.ts';
import type { Plan } from '../plan.ts';
import type { HistoryRow } from './history-row.ts';
import { type Records, endWord } from './records.ts';

/** What a fold works on: the plan and the rows, nothing else (RULINGS B2). */
export interface Fold {
  readonly plan: Plan;
  readonly records: Records;
  /** Folds a list; handed along so that the blocks need not know how. */
  readonly list: (blocks: readonly Block[], iteration: string) => ListFold;
}

/** How far a list is. `leaf` is the failed one at the cursor; what is in flight leaves no row and is not known. */
export interface ListFold {
  /** null while the list is open. */
  readonly end: ListEnd | null;
  readonly cursor: number;
  /** null when the list is run as it stands in the document. */
  readonly order: RunOrder | null;
  readonly leaf: Leaf | null;
  /** Frames of the composite at the cursor and of what is inside it. */
  readonly below: readonly Frame[];
}

/** A list in which nothing has happened. */
export const UNTOUCHED: ListFold = { end: null, cursor: 0, order: null, leaf: null, below: [] };

export interface BlockFold {
  readonly state: 'over' | 'failed' | 'cancelled' | 'open' | 'pending';
  readonly leaf: Leaf | null;
  readonly frames: readonly Frame[];
}

/** A composite in one of its passes, and the row that says how it ended. */
export interface Entered<B extends Block = Block> {
  readonly block: B;
  readonly iteration: string;
  readonly end: HistoryRow | undefined;
}

/** A composite whose own frame works on its list. */
export function listFrame(fold: Fold, of: Entered, detail: FrameDetail, list: ListFold): BlockFold {
  const state = stateOf(of.end, list.end);
  return { state, leaf: null, frames: [frameOf(fold, of, detail, { list, state }), ...list.below] };
}

export function frameOf(
  fold: Fold,
  { block, iteration, end }: Entered,
  detail: FrameDetail,
  { list, state }: { readonly list: ListFold; readonly state: Frame['state'] },
): Frame {
  return {
    blockId: block.id,
    branch: null,
    iteration,
    cursor: list.cursor,
    ...(list.order === null ? {} : { order: list.order }),
    leaf: list.leaf,
    detail,
    state,
    startedAt: end?.startedAt ?? fold.records.startOf(block.id, iteration) ?? 0,
  };
}

/** What the row of the end says goes first: a race that was decided cuts lists short that are open by themselves. */
export function stateOf(end: HistoryRow | undefined, list: ListEnd | null): Frame['state'] {
  const word = end === undefined ? null : endWord(end);
  if (word === 'failed' || word === 'cancelled') return word;
  return list === 'failed' || list === 'cancelled' ? list : 'open';
}

/** The failed leaves of a list, found as a run finds them: through the frames that a failure leaves behind. */
export function failuresIn(
  fold: Fold,
  of: Entered,
  detail: FrameDetail,
  list: ListFold,
): readonly FailedLeaf[] {
  const frame = frameOf(fold, of, detail, { list, state: 'failed' });
  const frames = new Map([frame, ...list.below].map((each) => [frameKey(each), each]));
  return failedLeaves({ plan: fold.plan, frames }, frame);
}

/** The failure that a hidden row carries; null for none. */
export function failureIn(output: Json): Failure | null {
  const error = member(output, 'error');
  if (!isJsonObject(error)) return null;
  const { message, retryable, code, details } = error;
  return {
    message: typeof message === 'string' ? message : '',
    retryable: retryable === true,
    ...(typeof code === 'string' ? { code } : {}),
    ...(details === undefined ? {} : { details }),
  };
}
