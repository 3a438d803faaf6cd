import type { Frame } from '../../core/run/frame.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { NewRow, RowKind } from '../../core/run/output-row.ts';
import type { InstanceState } from '../../core/run/states.ts';

/**
 * The turn protocol (DESIGN 4, RULINGS A): claim, commits under the fence, settle with the last commit. All instants are
 * database time in epoch milliseconds.
 */
export interface TurnStore {
  /**
   * Claims due instances that nobody holds ([CLAIM-1], RULINGS A28 and A30): priority, then tenants in turn, then due
   * time. Locked rows are skipped. A `scheduled` instance becomes `running`; others keep their state (TURN-1).
   */
  claimDue(request: ClaimDueRequest): Promise<ClaimBatch>;
  /**
   * Claims one named instance for a hint or an operator. Waits up to the lock timeout for a locked row and takes an
   * expired lease over. With the lease token it already holds, it answers what it holds, read afresh (RULINGS A24).
   */
  claimOne(request: ClaimOneRequest): Promise<ClaimOneResult>;
  /** Takes expired leases over ([REC-1], RULINGS A18), oldest first. Each counts as a take-over. */
  claimExpired(request: ClaimDueRequest): Promise<ClaimBatch>;
  /**
   * Applies turns, each under its own fence, in one transaction (RULINGS A13 to A15). The verdicts stand in the order
   * of the turns. A batch that fails as a whole (SQL error) rejects; the caller sends each turn alone.
   */
  commit(turns: readonly TurnCommit[]): Promise<CommitAnswer>;
  /** Moves the end of the leases that are still held under epoch and token to now + leaseMs; answers those ids. */
  renewLeases(leases: readonly LeaseRef[], leaseMs: number): Promise<ReadonlySet<string>>;
  /**
   * Gives leases back without having run (shutdown, no room): a `running` row becomes `scheduled` again, due now.
   */
  releaseLeases(leases: readonly LeaseRef[]): Promise<void>;
  /** Voids the leases of a dead process that owned the data folder (RULINGS B18). Answers how many. Local engine only. */
  voidAllLeases(): Promise<number>;
  /** Which of these held instances have inbox rows above what they have seen (RULINGS B22). One read for all. */
  peekInbox(leases: readonly (LeaseRef & { readonly seenSeq: number })[]): Promise<ReadonlySet<string>>;
  /** The least `due_at` over all instances without a lease, and the least lease end; null for none. */
  nextWake(): Promise<NextWake>;
}

export interface LeaseRef {
  readonly tenantId: string;
  readonly instanceId: string;
  readonly epoch: number;
  readonly leaseToken: string;
}

export interface ClaimDueRequest {
  /** A fresh UUID made by the caller before the call (RULINGS A24); shared by all rows of this claim. */
  readonly leaseToken: string;
  readonly leaseOwner: string;
  readonly leaseMs: number;
  readonly limit: number;
  /** At most this many of one tenant in one claim; 0 = no cap. */
  readonly perTenantLimit: number;
}

export interface ClaimOneRequest {
  /** null only for queue-less local hints that know just the id. */
  readonly tenantId: string;
  readonly instanceId: string;
  readonly leaseToken: string;
  readonly leaseOwner: string;
  readonly leaseMs: number;
  /**
   * `hint`: only when due or when the inbox is not empty. `operator`: in any state, terminal ones included, waiting for
   * nothing but the lock; a live lease of another turn is taken over when `takeOver` is set (immediate cancel, retry).
   */
  readonly mode: 'hint' | 'operator';
  readonly takeOver?: boolean;
}

export type ClaimOneResult =
  | { readonly status: 'claimed'; readonly now: number; readonly claim: Claim }
  | { readonly status: 'not_found' | 'held' | 'not_due' | 'terminal'; readonly now: number };

export interface ClaimBatch {
  readonly now: number;
  readonly claims: readonly Claim[];
}

/** All that a turn needs to begin: the instance, its open frames, its unprocessed inbox. */
export interface Claim extends LeaseRef {
  readonly leaseUntil: number;
  readonly instance: InstanceRecord;
  readonly frames: readonly Frame[];
  readonly inbox: readonly InboxRow[];
  /** True when this claim took over the lease of a turn that did not settle ([REC-1]). */
  readonly takenOver: boolean;
  /** A `scheduled` instance that had not fallen due (RULINGS A26): only its inbox is processed. */
  readonly mayRun: boolean;
}

/** The instance as a turn sees it. Columns of their own so that a step touches few bytes (RULINGS A29). */
export interface InstanceRecord {
  readonly id: string;
  readonly tenantId: string;
  readonly namespace: string;
  readonly sequenceId: string;
  readonly state: InstanceState;
  /** 0 Low to 3 Critical. */
  readonly priority: number;
  readonly timezone: string;
  readonly nextFireAt: number | null;
  readonly data: Json;
  readonly config: JsonObject;
  readonly audit: readonly Json[];
  readonly metadata: JsonObject;
  readonly parent: ParentRef | null;
  /** 0 for a root instance ([SUB-5]). */
  readonly depth: number;
  readonly sessionId: string | null;
  readonly dryRun: boolean;
  readonly dryRunAutoApprove: boolean;
  readonly createdAt: number;
  /** First claim of this run; null before it. */
  readonly startedAt: number | null;
  readonly runNo: number;
  readonly runId: string;
  /** Commits so far under any epoch; the order of rows (RULINGS A8, A35). */
  readonly rev: number;
  readonly totalSteps: number;
  readonly recoveryCount: number;
  readonly cancelRequestedAt: number | null;
  /** Leaf shown as current (sequences.md 11.4). */
  readonly currentStep: CurrentStep | null;
  /** False until the first row or kv entry was written: then nothing needs to be read (frontier reads). */
  readonly hasHistory: boolean;
}

export interface CurrentStep {
  readonly blockId: string;
  readonly startedAt: number;
  readonly attempt: number;
}

/** Where a child hangs: unique per (parent, node, iteration, entry) (RULINGS A17). */
export interface ParentRef {
  readonly instanceId: string;
  readonly blockId: string;
  readonly iteration: string;
  readonly entry: number;
}

/** A fact from outside, in the order of acceptance (RULINGS A4). `seq` is the instance's wake_seq at acceptance. */
export interface InboxRow {
  readonly seq: number;
  readonly id: string;
  readonly acceptedAt: number;
  readonly fact: Fact;
}

export type Fact =
  | { readonly kind: 'signal'; readonly signalType: string; readonly payload: Json }
  | {
      readonly kind: 'task';
      readonly taskId: string;
      readonly blockId: string;
      readonly outcome: TaskOutcome;
    }
  | {
      readonly kind: 'child';
      readonly childId: string;
      readonly blockId: string;
      readonly state: 'completed' | 'failed' | 'cancelled';
      readonly error: Json;
    }
  | { readonly kind: 'context'; readonly sections: ContextSections; readonly mode: 'replace' | 'merge' };

export type TaskOutcome =
  | { readonly ok: true; readonly output: Json }
  | {
      readonly ok: false;
      readonly message: string;
      readonly retryable: boolean;
      readonly code?: string;
      readonly details?: Json;
    };

export interface ContextSections {
  readonly data?: Json;
  readonly config?: JsonObject;
  readonly audit?: readonly Json[];
}

/**
 * One commit of one turn. Everything is applied or nothing, but the intents: those only while no inbox row above
 * `seenSeq` exists (RULINGS A9).
 */
export interface TurnCommit extends LeaseRef {
  /** The rev this commit was composed on; it becomes rev + 1 (RULINGS A8). */
  readonly rev: number;
  readonly runNo: number;
  /** Highest seq of the inbox rows the turn has been given. */
  readonly seenSeq: number;
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
  /** Ends the turn: state, due time, lease released. Absent: the turn goes on. */
  readonly settle: Settle | null;
}

/** `intent` replaces `frame` when the intents of this commit are granted. */
export interface FrameWrite {
  readonly frame: Frame;
  readonly intent: Frame | null;
}

export type FrameRef = Pick<Frame, 'blockId' | 'branch' | 'iteration'>;

/** Rows that a reset, a retry or `retain_iterations` takes out of the lists; they stay for the timeline (RULINGS B1). */
export interface SupersedeRows {
  readonly blockIds: readonly string[];
  readonly kinds: readonly RowKind[];
  /** Only rows of exactly this iteration or of passes inside it; null for all. */
  readonly iteration: string | null;
  /** Keep the newest row of each block even when it matches ([LOOP-10]). */
  readonly keepLatest: boolean;
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
  /** A new run of the same instance ([OP-2]): run number and id, counters to 0, started_at null. */
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
}

/** RULINGS A7. `granted` tells whether the intents of the commit hold; only then may handlers be called. */
export type TurnVerdict =
  | { readonly verdict: 'ok' | 'already'; readonly granted: boolean; readonly inbox: readonly InboxRow[] }
  /** The epoch or token is not ours any more: drop the turn. */
  | { readonly verdict: 'fenced' }
  /** A cancel or, for a strict commit, another fact stands in between: read again under the same lease. */
  | { readonly verdict: 'refused' }
  /** The row was locked by somebody else: send it again alone. */
  | { readonly verdict: 'busy' }
  /** rev does not fit or the payload breaks a rule: a defect of ours; the instance is stopped, not the process. */
  | { readonly verdict: 'bug'; readonly message: string };

export interface CommitAnswer {
  readonly now: number;
  readonly verdicts: readonly TurnVerdict[];
}

export interface NextWake {
  readonly now: number;
  readonly dueAt: number | null;
  readonly leaseUntil: number | null;
}
