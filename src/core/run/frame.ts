import type { Failure } from '../failure.ts';
import type { Json, JsonObject } from '../json.ts';

/**
 * A frame is one open list of a run with its cursor: the root list, one branch of a parallel, the chosen route, the
 * body of a loop. The frames of an instance are its whole frontier: what stands before a cursor is recorded in block
 * outputs, what stands after it has not begun. So a step costs one small row, however long the run has been.
 *
 * A `parallel` or `race` has a frame of its own that only joins, and one frame of kind `branch` per open branch.
 */
export interface Frame {
  /** The composite that owns the list; the empty text for the root list. */
  readonly blockId: string;
  /** Index of the branch for a frame of kind `branch`, else null. */
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
}

export type ListEnd = 'drained' | 'failed' | 'cancelled';

export type FrameDetail =
  | { readonly kind: 'root' }
  | { readonly kind: 'branch' }
  | { readonly kind: 'cancellation_scope' }
  | { readonly kind: 'router'; readonly route: number }
  | { readonly kind: 'a_b_split'; readonly variant: number }
  | { readonly kind: 'parallel'; readonly ends: readonly (ListEnd | null)[] }
  | { readonly kind: 'race'; readonly ends: readonly (ListEnd | null)[] }
  | TryDetail
  | LoopDetail
  | ForEachDetail
  | SagaDetail;

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

export interface SagaDetail {
  readonly kind: 'saga';
  readonly phase: 'forward' | 'rollback';
  /** Index of the saga step whose action or compensation is worked on. */
  readonly step: number;
  /** Indexes of the saga steps whose actions completed (a skipped action is not compensated). */
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
}

/**
 * Why a leaf waits (sequences.md 5.2). `sleep` is shown as running: a parked sleep (SETTLE-4). `handler`: only processes of
 * another build can call its handler (RULINGS B8).
 */
export type WaitReason =
  | 'delay'
  | 'send_window'
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
}

/** Identity of a frame inside one run. NUL cannot occur in an id, so the parts cannot run together. */
export function frameKey(frame: Pick<Frame, 'blockId' | 'branch' | 'iteration'>): string {
  return `${frame.blockId}\u0000${frame.branch ?? ''}\u0000${frame.iteration}`;
}

export const ROOT_KEY = frameKey({ blockId: '', branch: null, iteration: '' });
