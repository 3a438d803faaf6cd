import type { Json, JsonObject } from '../json.ts';
import type { RowRef } from './fold/history-row.ts';
import type { Frame } from './frame.ts';
import type { HooksPending } from './hooks/hooks-pending.ts';
import type { BreakerOutcome, Takes } from './limits/takes.ts';
import type { NewRow, RowKind } from './output-row.ts';
import type { CurrentStep, Usage } from './record.ts';
import type { Outside } from './outside.ts';
import type { ShapeWrite } from './reshape/shape-state.ts';
import type { InstanceState } from './states.ts';
import type { WebhookEvent } from '../webhook-events.ts';

/**
 * What one commit of a turn writes. The core composes it, the store applies all of it or nothing (but intents, which
 * depend on the inbox).
 */
export interface Changes {
  /** Acts on an absence (timeout, terminal, expiry): refused when wake_seq > seenSeq (RULINGS A11). */
  readonly strict: boolean;
  /** A result of a protected leaf: a pending cancel does not refuse it (RULINGS A10). */
  readonly protectedResult: boolean;
  /** A leaf result is in it: recovery_count becomes 0 ([REC-3]). */
  readonly hasResult: boolean;
  /** Handler attempts dispatched since the last commit ([END-2]). */
  readonly stepsDelta: number;
  readonly rows: readonly NewRow[];
  readonly supersede: readonly SupersedeRows[];
  readonly frames: readonly FrameWrite[];
  readonly framesDeleted: readonly FrameRef[];
  readonly inboxDone: readonly InboxDone[];
  readonly instance: InstancePatch;
  readonly kv: readonly KvWrite[];
  /** Values stored aside, such as the collection of a for_each. Keys are unique per instance. */
  readonly values: readonly { readonly key: string; readonly value: Json }[];
  readonly tasksCreated: readonly NewTask[];
  readonly tasksClosed: readonly { readonly taskId: string; readonly event: 'cancelled' | 'timed_out' }[];
  readonly childrenStarted: readonly NewChild[];
  readonly childrenCancelled: readonly { readonly instanceId: string; readonly signalId: string }[];
  /** Rows of the audit log, in order ([AUD-1]); ids are UUID v7. */
  readonly audit: readonly AuditEntry[];
  readonly journal: readonly JournalEntry[];
  readonly logs: readonly StepLogLine[];
  /** At most one: the run goes back to an earlier block (20.2). */
  readonly goBack?: readonly GoBack[];
  /** What is done beyond this instance; absent nearly always. Such a turn is committed alone (RULINGS A15). */
  readonly outside?: Outside;
  /** How attempts ended, in order, for the circuit breakers ([CB-2]). */
  readonly outcomes: readonly BreakerOutcome[];
  /** Outgoing webhooks that the commit queues (http-api.md 21.1); absent nearly always. */
  readonly webhooks?: readonly QueuedWebhook[];
}

/** One event for one target. */
export interface QueuedWebhook {
  readonly id: string;
  readonly eventType: WebhookEvent;
  readonly url: string;
  readonly payload: JsonObject;
}

/** Rows that a reset, a retry or `retain_iterations` takes out of the lists; they stay for the timeline (RULINGS B1). */
export interface SupersedeRows {
  readonly blockIds: readonly string[];
  readonly kinds: readonly RowKind[];
  /** Only rows of exactly this iteration or of passes inside it; null for all. */
  readonly iteration: string | null;
  /** Keep the newest row of each block even when it matches ([LOOP-10]). */
  readonly keepLatest: boolean;
  /** The rule does nothing when an earlier commit has stored a value under one of these keys; absent: none. */
  readonly unlessStored?: readonly string[];
}

/**
 * Going back to a block, together with a new run: rows leave the lists, results that were kept under cache keys are
 * removed ([CACHE-3]), and signals are accepted, in order, as the first facts of the new run.
 */
export interface GoBack {
  readonly superseded: readonly (RowRef & { readonly blockId: string })[];
  readonly signals: readonly { readonly id: string; readonly signalType: string; readonly payload: Json }[];
}

export interface InboxDone {
  readonly seq: number;
  readonly disposition: 'applied' | 'no_effect' | 'rejected' | 'expired';
}

/** Columns that change; an absent member stays as it is. */
export interface InstancePatch {
  /** Visible state between settles: `running` when a waiting instance went on, `paused` under a live lease. */
  readonly state?: InstanceState;
  /** Top-level keys set in data; null removes nothing, it stores null. Data that is no object is replaced by {} first. */
  readonly dataSet?: JsonObject;
  readonly dataRemoved?: readonly string[];
  /** Replaces data as a whole, before `dataSet`. */
  readonly data?: Json;
  readonly config?: JsonObject;
  readonly audit?: readonly Json[];
  readonly metadata?: JsonObject;
  readonly startedAt?: number;
  readonly cancelRequestedAt?: number;
  readonly currentStep?: CurrentStep;
  /** The sequence that a migration led to ([OP-14]). */
  readonly sequenceId?: string;
  /** What the run is made of from this commit on (20.4, 20.5). */
  readonly shape?: ShapeWrite;
  /** What the run has used of its budget besides steps and time ([BUD-2]). */
  readonly usage?: Usage;
  /** Replaces the caps ([BUD-4]). */
  readonly budget?: JsonObject;
  /** A new run of the same instance ([OP-2]): run number and id, counters to 0, started_at null. */
  /** What cleanup is left after an end; null when there is none ([HOOK-4]). */
  readonly hooks?: HooksPending | null;
  readonly newRun?: { readonly runNo: number; readonly runId: string };
}

export type KvWrite =
  | { readonly key: string; readonly value: Json }
  | { readonly key: string; readonly deleted: true };

export interface NewTask {
  readonly id: string;
  readonly blockId: string;
  readonly iteration: string;
  readonly handlerName: string;
  readonly queueName: string | null;
  readonly params: Json;
  readonly context: Json;
  readonly attempt: number;
  readonly timeoutMs: number | null;
  readonly idempotencyKey: string;
  /** Taken over from the task of the attempt before ([WRK-8]). */
  readonly previousTaskId: string | null;
  /** Of a cleanup hook: the end of the instance does not close it ([HOOK-2]). */
  readonly ofHook?: true;
  /** Is not offered again when its worker falls silent: the run is told so ([CON-6], RULINGS A20, B10). */
  readonly atMostOnce?: true;
}

export interface NewChild {
  readonly id: string;
  readonly runId: string;
  readonly sequenceId: string;
  readonly blockId: string;
  readonly iteration: string;
  readonly entry: number;
  readonly data: Json;
  readonly metadata: JsonObject;
}

export interface AuditEntry {
  readonly id: string;
  readonly fromState: InstanceState;
  readonly toState: InstanceState;
  readonly blockId: string | null;
  readonly details: JsonObject;
}

export interface JournalEntry {
  readonly id: string;
  readonly kind: string;
  readonly details: JsonObject;
}

export interface StepLogLine {
  readonly blockId: string;
  readonly at: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
}

export interface Settle {
  readonly state: InstanceState;
  /** Wire value, display only (RULINGS A26). */
  readonly nextFireAt: number | null;
  /** When the instance must be claimed again; null when only a fact from outside can move it. */
  readonly dueAt: number | null;
  /** Open tasks, gates, event waits and live children: what a `waiting` instance hangs on. */
  readonly openWaits: number;
  /** Shown in dead letters; null unless the instance failed. */
  readonly failure: { readonly blockId: string | null; readonly error: JsonObject } | null;
  /**
   * The settle of a turn after the end, which did cleanup only: state and failure stay, and what an end takes along is
   * not done again.
   */
  readonly afterEnd?: true;
}

/**
 * `intent` replaces `frame` when the intents of this commit are granted and, with `takes`, when the store can give all
 * that it asks for; it then adds what was given to `taken` of the intent's leaf. When it cannot, `held` replaces `frame`,
 * with a leaf that waits for the limit in question (RULINGS A32), or nothing does where waiting is of no use.
 */
export interface FrameWrite {
  readonly frame: Frame;
  readonly intent: Frame | null;
  readonly takes?: Takes;
  /** Present with `takes`. */
  readonly held?: Frame;
}

export type FrameRef = Pick<Frame, 'blockId' | 'branch' | 'iteration'>;
