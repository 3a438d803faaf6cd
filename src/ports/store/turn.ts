import type { Changes, Settle } from '../../core/run/changes.ts';
import type { Frame } from '../../core/run/frame.ts';
import type { TakeAnswer } from '../../core/run/limits/takes.ts';
import type { InboxRow, InstanceRecord } from '../../core/run/record.ts';

export type {
  AuditEntry,
  FrameWrite,
  InboxDone,
  InstancePatch,
  JournalEntry,
  NewChild,
  NewTask,
  Settle,
  StepLogLine,
  SupersedeRows,
} from '../../core/run/changes.ts';
export type {
  ContextSections,
  CurrentStep,
  Fact,
  InboxRow,
  InstanceRecord,
  TaskOutcome,
} from '../../core/run/record.ts';

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
  /**
   * Takes expired leases over ([REC-1], RULINGS A18), oldest first. Each counts as a take-over, also of those that do not fit
   * into this process: they are left, and due.
   */
  claimExpired(request: ClaimDueRequest): Promise<ClaimBatch>;
  /**
   * Applies turns, each under its own fence, in one transaction (RULINGS A13 to A15). The verdicts stand in the order
   * of the turns. A batch that fails as a whole (SQL error) rejects; the caller sends each turn alone.
   */
  commit(turns: readonly TurnCommit[]): Promise<CommitAnswer>;
  /** Moves the end of the leases that are still held under epoch and token to now + leaseMs; answers those ids. */
  renewLeases(leases: readonly LeaseRef[], leaseMs: number): Promise<ReadonlySet<string>>;
  /**
   * Gives leases back without having run (shutdown, no room): a `running` row becomes `scheduled` again, due now. Answers
   * the instances that got a concurrency slot which that has freed: they are due now. The claim counts as if it had not been,
   * but for one that says `isHop`: it counts as a claim without a committed change (RULINGS B7).
   */
  releaseLeases(leases: readonly ReleasedLease[]): Promise<readonly GivenSlot[]>;
  /** Voids the leases of a dead process that owned the data folder (RULINGS B18). Answers how many. Local engine only. */
  voidAllLeases(): Promise<number>;
  /** Which of these held instances have inbox rows above what they have seen (RULINGS B22). One read for all. */
  peekInbox(leases: readonly (LeaseRef & { readonly seenSeq: number })[]): Promise<ReadonlySet<string>>;
  /** The least `due_at` over all instances without a lease, the least lease end, the first schedule; null for none. */
  nextWake(): Promise<NextWake>;
  /** How many instances are due and held by nobody, counted up to `limit`. */
  countDue(limit: number): Promise<number>;
  /**
   * Instances that fall due in the future, but soon, and whose due time was set when it was further ahead than `aheadMs`:
   * nobody has been told of it since. The earliest first.
   */
  listUpcoming(request: UpcomingRequest): Promise<Upcoming>;
}

export interface UpcomingRequest {
  readonly withinMs: number;
  readonly aheadMs: number;
  readonly limit: number;
  /** The last one of the page before; absent: the first page. */
  readonly after?: { readonly dueAt: number; readonly instanceId: string };
}

export interface Upcoming {
  readonly now: number;
  readonly instances: readonly (GivenSlot & { readonly dueAt: number })[];
}

/** An instance that waited for a slot of its concurrency key and may have it now. */
export interface GivenSlot {
  readonly tenantId: string;
  readonly instanceId: string;
}

export interface LeaseRef {
  readonly tenantId: string;
  readonly instanceId: string;
  readonly epoch: number;
  readonly leaseToken: string;
}

export interface ReleasedLease extends LeaseRef {
  readonly isHop?: true;
}

/** What is taken with a claim. */
export interface NewLease {
  /** A fresh UUID made by the caller before the call (RULINGS A24); shared by all rows of one claim. */
  readonly leaseToken: string;
  readonly leaseOwner: string;
  readonly leaseMs: number;
  /**
   * How many turns this process has at most, from the claim on until the turn has ended. 1 (the default): it is alone there, so
   * when the process ends, it was to blame. Suspects get a smaller number with the answer.
   */
  readonly among?: number;
}

export interface ClaimDueRequest extends NewLease {
  readonly limit: number;
  /** Turns are at work in this process: a suspect that has to be alone is not given out. Absent: none is. */
  readonly busy?: boolean;
  /** How many of them are suspects; absent: 0. */
  readonly suspects?: number;
  /** At most this many of one tenant in one claim; 0 = no cap. */
  readonly perTenantLimit: number;
}

export interface ClaimOneRequest extends NewLease {
  /** null: the caller knows just the id (an administrator). */
  readonly tenantId: string | null;
  readonly instanceId: string;
  /**
   * `hint`: only when due, as an accepted fact makes it; a fact that a turn has seen and kept for later does not. `operator`: in any state, terminal ones included, waiting for
   * nothing but the lock; a live lease of another turn is taken over when `takeOver` is set (immediate cancel, retry).
   */
  readonly mode: 'hint' | 'operator';
  readonly takeOver?: boolean;
}

export type ClaimOneResult =
  | { readonly status: 'claimed'; readonly now: number; readonly claim: Claim }
  | ({ readonly status: 'not_due'; readonly now: number } & FreedSlots)
  /** It lost a lease, and so may not be in a process that has more turns than `company`. It is due. */
  | { readonly status: 'suspect'; readonly now: number; readonly company: number }
  | { readonly status: 'not_found' | 'held' | 'terminal'; readonly now: number };

/** A claim that pauses a run which makes no progress (RULINGS B7) frees its concurrency slot. */
export interface FreedSlots {
  /** The instances that got the slots: they are due now. Absent for none. */
  readonly given?: readonly GivenSlot[];
}

export interface ClaimBatch extends FreedSlots {
  readonly now: number;
  readonly claims: readonly Claim[];
  /** The turn of a suspect has come that may not be in the company of this process now: what it needs. Absent for none. */
  readonly waits?: number;
  /** Instances that lost their lease and were not taken over: they are due. Absent for none. */
  readonly left?: readonly GivenSlot[];
}

/** All that a turn needs to begin: the instance, its open frames, its unprocessed inbox. */
export interface Claim extends LeaseRef {
  readonly leaseUntil: number;
  readonly instance: InstanceRecord;
  /** The frame of the root list first, the others in any order. */
  readonly frames: readonly Frame[];
  readonly inbox: readonly InboxRow[];
  /** True when this claim took over the lease of a turn that did not settle ([REC-1]). */
  readonly takenOver: boolean;
  /** How many turns may be in this process meanwhile; 1: no other one; 0: an operator's claim, which says nothing. */
  readonly among: number;
  /** A `scheduled` instance that had not fallen due (RULINGS A26): only its inbox is processed. */
  readonly mayRun: boolean;
  /** It has a concurrency key with a limit: only a claim makes it running, since that finds it a slot ([CONC-1]). */
  readonly sharesSlots?: true;
  /** Handlers of the tenant whose circuit breaker is not closed; absent for none. */
  readonly openBreakers?: readonly string[];
}

/**
 * One commit of one turn. Everything is applied or nothing, but the intents: those only while no inbox row above
 * `seenSeq` exists (RULINGS A9).
 *
 * Order of the parts: `supersede` looks at rows of earlier commits only (the empty iteration encloses all passes), then
 * `rows` are added; `framesDeleted` go before `frames`; `tasksClosed` before `tasksCreated`; `data`, then `dataSet`,
 * then `dataRemoved`. Rows belong to the run that the commit begins, if it begins one. `completed` and `failed` are
 * strict by themselves. A payload that breaks a uniqueness rule (RULINGS A14, A17, A35, B9) rejects the whole batch.
 */
export interface TurnCommit extends LeaseRef, Changes {
  /** The rev this commit was composed on; it becomes rev + 1 (RULINGS A8). */
  readonly rev: number;
  readonly runNo: number;
  /**
   * Highest seq of the inbox rows the turn has been given, 0 for none. The store remembers the highest of all commits
   * of the instance and takes the larger one, so that facts which earlier turns consumed never count as unseen.
   */
  readonly seenSeq: number;
  /** Ends the turn: state, due time, lease released. Absent: the turn goes on. */
  readonly settle: Settle | null;
}

/** RULINGS A7. `granted` tells whether the intents of the commit hold; only then may handlers be called. */
export type TurnVerdict =
  | {
      readonly verdict: 'ok' | 'already';
      readonly granted: boolean;
      readonly inbox: readonly InboxRow[];
      /** What limits say to each frame write with `takes`, in their order; absent for none, or when not granted. */
      readonly taken?: readonly TakeAnswer[];
      /** Handlers of the tenant whose circuit breaker is not closed; absent for none. */
      readonly openBreakers?: readonly string[];
      /** The instance that got the concurrency slot which this commit has freed: it is due now. Absent for none. */
      readonly nextOfKey?: string;
    }
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
  /** When the first schedule has to be looked at. */
  readonly scheduleAt: number | null;
}
