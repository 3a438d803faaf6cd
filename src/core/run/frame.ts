import type { Failure } from '../failure.ts';
import type { Json, JsonObject } from '../json.ts';
import type { Taken } from './limits/takes.ts';

/**
 * A frame is one open list of a run with its cursor: the root list, one branch of a parallel, the chosen route, the
 * body of a loop. The frames of an instance are its whole frontier: what stands before a cursor is recorded in block
 * outputs, what stands after it has not begun. So a step costs one small row, however long the run has been.
 *
 * A `parallel` or `race` has a frame of its own that only joins, and one frame of kind `branch` per open branch. So has a
 * `for_each` that fans out: one frame of kind `item` per open item.
 */
export interface Frame {
  /** The composite that owns the list; the empty text for the root list. */
  readonly blockId: string;
  /** Index of the branch for a frame of kind `branch`, of the item for one of kind `item`, else null. */
  readonly branch: number | null;
  /** Path of the passes that enclose the owner, `outer:2/inner:0`; empty outside loops. */
  readonly iteration: string;
  /** Index of the element of the list that is worked on. */
  readonly cursor: number;
  /** The leaf at the cursor once it has begun; null while it is pending or while a composite stands there. */
  readonly leaf: Leaf | null;
  readonly detail: FrameDetail;
  /** `failed` frames stay until something absorbs the failure, so that a retry of the instance finds its place. */
  readonly state: 'open' | 'failed' | 'cancelled';
  /** Database time, epoch ms, at which the block was entered. */
  readonly startedAt: number;
  /** How the list is run where that is not the order of the document; absent nearly always ([OP-10], [OP-14]). */
  readonly order?: RunOrder;
  /** The attempt whose trace of `before_step` is stored ([INT-2]); named so that it fits no other one. */
  readonly traced?: string;
  /** Of the root list: such attempts of this run that have not begun and gave way when the run changed its shape. */
  readonly tracedApart?: readonly string[];
  /** Of the root list: the SLA alerts of a run ([SLA-1], [SLA-2]). */
  readonly alerted?: Alerted;
  /** Of a cancelled list: what was in flight at its cursor, whose outcome nobody knows (RULINGS B1). */
  readonly unknown?: UnknownOutcome;
}

/** What may be noted in a frame without moving the run on. */
export type FrameNote = Pick<Frame, 'traced' | 'tracedApart' | 'alerted'>;

/** A leaf that was cancelled in flight, and the run whose id its idempotency key has. */
export interface UnknownOutcome {
  readonly blockId: string;
  readonly keyRunId: string;
}

/** Blocks whose SLA alert is recorded; the empty text stands for the run itself. */
export interface Alerted {
  readonly runNo: number;
  readonly blockIds: readonly string[];
}

/** Blocks came to stand before others that had run already: they are run after these, and the cursor counts in this order. */
export interface RunOrder {
  /** Blocks that are run later than they stand, with their index in the order of the run, ascending. */
  readonly moved: readonly { readonly blockId: string; readonly to: number }[];
  /** What a block further on keeps of the run before: an accepted gate ([HI-5]), the key of an unknown attempt. */
  readonly held: { readonly blockId: string; readonly leaf: Leaf } | null;
}

export type ListEnd = 'drained' | 'failed' | 'cancelled';

export type FrameDetail =
  | { readonly kind: 'root' }
  | { readonly kind: 'branch' }
  | { readonly kind: 'cancellation_scope' }
  | { readonly kind: 'router'; readonly route: number }
  | { readonly kind: 'a_b_split'; readonly variant: number }
  | JoinDetail<'parallel'>
  | JoinDetail<'race'>
  | TryDetail
  | LoopDetail
  | ForEachDetail
  | FanOutDetail
  | ItemDetail
  | SagaDetail;

export interface JoinDetail<Kind extends string> {
  readonly kind: Kind;
  readonly ends: readonly (ListEnd | null)[];
  /** Branches that had failed before a cancel came: only what fails while it drains fails the block ([CAN-4]). */
  readonly failedBefore?: readonly number[];
}

export interface TryDetail {
  readonly kind: 'try_catch';
  readonly phase: 'try' | 'catch' | 'finally';
  readonly tryEnd: ListEnd | null;
  /** null while the catch list has not ended or was not taken. */
  readonly catchEnd: ListEnd | null;
  /** The `_error` object of [TRY-4], once the try list has failed. */
  readonly error: JsonObject | null;
  /** What failed in the try and catch lists and was not absorbed; their frames are gone in the next phase. */
  readonly failures: readonly FailedLeaf[];
}

export interface LoopDetail {
  readonly kind: 'loop';
  /** Passes that have ended, failed ones under `continue_on_error` included. */
  readonly passes: number;
  /** True while a pass is open, false between passes. */
  readonly inPass: boolean;
  /** The instant at which the poll interval ends, while the loop waits between passes. */
  readonly pollUntil: number | null;
}

export interface ForEachDetail {
  readonly kind: 'for_each';
  /** Index of the item that is worked on. */
  readonly index: number;
  readonly total: number;
  /** Key of the stored collection; null when the block has no items. */
  readonly snapshotKey: string | null;
  /** The current item; undefined only inside a turn, until the engine has read it. */
  readonly item?: Json;
  readonly inPass: boolean;
  /** Why the block itself failed: its collection could not be resolved ([EACH-1]). */
  readonly error: Failure | null;
}

/**
 * A `for_each` that runs several items at once, or that outlives failed ones (RULINGS B25). An item below `next` without a
 * frame has ended; so the frame stays small, however many items there are.
 */
export interface FanOutDetail {
  readonly kind: 'fan_out';
  /** Index of the first item that has never been opened. */
  readonly next: number;
  readonly total: number;
  /** Key of the stored collection; null when the block has no items. */
  readonly snapshotKey: string | null;
  /** Items that have ended, tolerated failures included. */
  readonly ended: number;
  /** Tolerated failures of this run; where they stood is stored aside under `failedKey`. */
  readonly failed: number;
  readonly failedKey: string;
  /** Index of the item that was set aside last; absent for none. */
  readonly setAside?: number;
  /** After a retry: failed items of earlier runs, to be opened again before new ones, each list from an index on. */
  readonly again: readonly { readonly key: string; readonly from: number }[];
  /** Index of the item whose failure ended the block; null for none. */
  readonly decidedBy: number | null;
  /** Why the block itself failed: no collection ([EACH-1]), or more output than can be collected. */
  readonly error: Failure | null;
}

/** One open item of a `for_each` that fans out. Its index is the `branch` of its frame. */
export interface ItemDetail {
  readonly kind: 'item';
  /** Absent when it is too large to be written with every step: then it is read from the stored collection. */
  readonly item?: Json;
}

export interface SagaDetail {
  readonly kind: 'saga';
  readonly phase: 'forward' | 'rollback';
  /** Index of the saga step whose action or compensation is worked on. */
  readonly step: number;
  /** Steps whose actions have run, when they are not just those before `step`: a migration put new ones before them. */
  readonly ran?: readonly number[];
  /** Indexes of the saga steps whose actions completed, in that order (a skipped action is not compensated). */
  readonly done: readonly number[];
  readonly failedStep: number | null;
  readonly error: JsonObject | null;
  readonly failures: readonly FailedLeaf[];
  readonly failedCompensations: readonly string[];
}

/** A leaf (or a block that failed by itself) with its last failure. */
export interface FailedLeaf {
  readonly blockId: string;
  readonly iteration: string;
  readonly attempt: number;
  readonly failure: Failure;
  /** A rollback has answered it: it is named in `_error`, but leaves no error row ([ERR-ROW-3]). */
  readonly rolledBack?: true;
  /** A retry has taken the row of its breached deadline away ([OP-2]), so that it leaves an error row after all. */
  readonly breachGone?: true;
}

/**
 * Why a leaf waits (sequences.md 5.2). `sleep` is shown as running: a parked sleep (SETTLE-4). `handler`: only processes of
 * another build can call its handler (RULINGS B8).
 */
export type WaitReason =
  | 'delay'
  | 'send_window'
  | 'rate_limit'
  | 'breaker'
  | 'pool'
  | 'retry'
  | 'handler'
  | 'worker'
  | 'input'
  | 'child'
  | 'event'
  | 'sleep';

export interface Leaf {
  readonly state: 'running' | 'waiting' | 'failed' | 'cancelled';
  readonly reason: WaitReason | null;
  /** Earliest instant at which the engine must look at the leaf; null for none. */
  readonly wakeAt: number | null;
  /** From 0. */
  readonly attempt: number;
  /** When the leaf first left `pending` in this pass. */
  readonly startedAt: number;
  /** The open intent: when this attempt was dispatched; null while nothing may be in flight. */
  readonly dispatchedAt: number | null;
  /** Deliveries of this leaf after the first one that were caused by crashes (RULINGS A19). */
  readonly redeliveries: number;
  /** The checks of sequences.md 8.1 that are behind this leaf in this pass. */
  readonly passed: { readonly when: boolean; readonly delay: boolean; readonly gate: boolean };
  readonly gate: Gate | null;
  readonly taskId: string | null;
  readonly childId: string | null;
  /** How the child ended, once it has; its rows are read before the leaf completes ([SUB-7]). */
  readonly childEnd: 'completed' | 'failed' | 'cancelled' | null;
  /** Run whose id the idempotency key keeps, after a retry of an attempt with unknown outcome (RULINGS B1). */
  readonly keyRunId: string | null;
  /** When the deadline of the step is over, once its clock has started; absent for none ([DL-1]). */
  readonly deadlineAt?: number;
  /** Key of the instance's store under which the result of this attempt is kept; absent for none ([CACHE-3]). */
  readonly cacheKey?: string;
  /** What this attempt was given by limits (13.3, 13.4, 13.8); absent for nothing. A retry begins without it. */
  readonly taken?: Taken;
  /** While it waits for one: the rate key, the handler of the breaker, or the pool that denied the attempt. */
  readonly limit?: string;
  /** A person has ended its wait for the send window: the next attempt may begin outside of it. Absent nearly always. */
  readonly offWindow?: true;
  /** What a person has put in the place of the params or the input of the block, for this run (20.2). */
  readonly input?: Json;
  /** Failure of the last attempt, also while the leaf waits for a retry. */
  readonly error: Failure | null;
}

/** The earliest instant at which the engine must look at a leaf: its timer, or the end of its deadline ([DL-2]). */
export function wakeOf({ wakeAt, deadlineAt }: Leaf): number | null {
  if (deadlineAt === undefined) return wakeAt;
  return wakeAt === null ? deadlineAt : Math.min(wakeAt, deadlineAt);
}

export interface Gate {
  readonly openedAt: number;
  /** Already resolved ([HI-8]). */
  readonly prompt: string;
  readonly choices: readonly { readonly label: string; readonly value: string }[];
  readonly storeAs: string;
  readonly allowComment: boolean;
  readonly timeoutMs: number | null;
  readonly escalationHandler: string | null;
  /** `choice`: a human gate of chapter 14. `outcome`: asks what became of an at-most-once attempt (RULINGS B10). */
  readonly kind: 'choice' | 'outcome';
  /** The last answer that was not taken, for whoever asks why the gate still waits; absent for none. */
  readonly refused?: { readonly at: number; readonly why: string };
  /** The wait for events that opens this gate as the answer `yes` does ([WAIT-4]); absent for none. */
  readonly waitId?: string;
  /** Resolved params of a `human_review` whose notification has not been sent yet ([HR-2]); absent for none. */
  readonly notify?: Json;
}

/** Identity of a frame inside one run. NUL cannot occur in an id, so the parts cannot run together. */
export function frameKey({
  blockId,
  branch,
  iteration,
}: Pick<Frame, 'blockId' | 'branch' | 'iteration'>): string {
  // The key that is asked for most is not made anew each time.
  if (blockId === '' && branch === null && iteration === '') return ROOT_KEY;
  return `${blockId}\u0000${branch ?? ''}\u0000${iteration}`;
}

/** The owner of the list whose frame has this key, and its pass. */
export function frameOfKey(key: string): Pick<Frame, 'blockId' | 'iteration'> {
  const [blockId = '', , iteration = ''] = key.split('\u0000');
  return { blockId, iteration };
}

export const ROOT_KEY = '\u0000\u0000';
