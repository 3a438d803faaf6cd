import type { Json, JsonObject } from '../../core/json.ts';
import type { BreakerRule } from '../../core/run/limits/takes.ts';
import type { InstanceState } from '../../core/run/states.ts';
import type { Claim, ContextSections, NewLease, TaskOutcome } from './turn.ts';

/**
 * Facts from outside. Each call is one transaction: it locks the instance, checks the state under the lock, writes its
 * own row, the inbox and a wake (RULINGS A4, A6, A12, A36). After it the engine runs a short turn when no lease lives.
 */
export interface AcceptStore {
  /**
   * Creates instances, all or nothing. Idempotent on `idempotencyKey` (per tenant; dry runs in a space of their own)
   * and on `delivery`. With `lease` each created instance that is due is claimed at once (RULINGS A37).
   */
  start(request: StartRequest): Promise<StartAnswer>;
  /** Stores a signal and wakes the instance. A repeat of `signalId` answers the first one (RULINGS A36). */
  signal(request: SignalRequest): Promise<SignalAnswer>;
  /**
   * Replaces or merges context sections. A terminal instance is changed at once; for the others the fact goes through
   * the inbox, so that it takes effect before the next leaf ([CTX-3]).
   */
  patchContext(request: PatchContextRequest): Promise<'accepted' | 'applied' | 'not_found' | 'too_large'>;
  /** Records a worker's result under the claim epoch, closes the task, wakes the instance (waiting -> scheduled). */
  reportTask(request: ReportTaskRequest): Promise<ReportTaskAnswer>;
  heartbeatTask(request: HeartbeatRequest): Promise<HeartbeatAnswer>;
  /** Gives pending tasks to a worker, oldest first, each to one caller ([WRK-1] to [WRK-3]). Registers the worker. */
  pollTasks(request: PollRequest): Promise<readonly WorkerTask[]>;
  /**
   * Silent claimants: the same row goes back to pending ([WRK-10]). A task with `atMostOnce` is closed instead, and its
   * instance told so by a fact of the task ([CON-6]). Of each kind at most `limit`; answers how many.
   */
  releaseSilentTasks(silentMs: number, limit: number): Promise<number>;
  /** Removes expired webhook nonces and deliveries and ends expired sessions, bounded; answers how many. */
  removeExpired(limit: number): Promise<number>;
}

export interface NewInstance {
  readonly id: string;
  readonly runId: string;
  readonly tenantId: string;
  readonly namespace: string;
  readonly sequenceId: string;
  readonly priority: number;
  readonly timezone: string;
  readonly metadata: JsonObject;
  readonly data: Json;
  readonly config: JsonObject;
  readonly audit: readonly Json[];
  /** null or a past instant: due now. */
  readonly nextFireAt: number | null;
  readonly concurrencyKey: string | null;
  readonly maxConcurrency: number | null;
  readonly idempotencyKey: string | null;
  readonly sessionId: string | null;
  readonly budget: JsonObject | null;
  readonly dryRun: boolean;
  readonly dryRunAutoApprove: boolean;
  /** A dry run that keeps its times ([DRY-3]); absent means false. */
  readonly dryRunRealTime?: boolean;
  /** The start input as it came, kept unchanged for ever. */
  readonly originalInput: Json;
}

export interface StartRequest {
  readonly instances: readonly NewInstance[];
  /** `first`: a known key answers the first instance. `conflict`: it refuses the whole batch ([INS-9]). */
  readonly onKnownKey: 'first' | 'conflict';
  /**
   * The sequences must still be there: they are locked against deletion until the instances exist, so that no instance
   * is ever left without its definition ([VER-5]).
   */
  readonly requireSequence?: true;
  /** What the plans of these tenants allow once the start is stored; a repeat is not counted. */
  readonly activeLimits?: readonly StartBound[];
  /** Of a webhook: remembered 7 days per trigger; a repeat answers the first instance (RULINGS B21). */
  readonly delivery?: { readonly slug: string; readonly deliveryId: string };
  /** Single use within 360 s per trigger; a repeat is refused. */
  readonly nonce?: { readonly slug: string; readonly nonce: string };
  readonly lease?: NewLease;
}

export interface StartBound {
  readonly tenantId: string;
  /** Most instances that may be active; absent: any number. */
  readonly maxActive?: number;
  /** Most instances without parent that may have been created within a second; absent: any number. */
  readonly startsPerSec?: number;
}

export type StartAnswer =
  | { readonly status: 'ok'; readonly now: number; readonly started: readonly Started[] }
  | { readonly status: 'known_key'; readonly index: number }
  | { readonly status: 'nonce_used' }
  | { readonly status: 'plan_full' | 'plan_rate'; readonly tenantId: string }
  | { readonly status: 'no_sequence' };

export interface Started {
  readonly id: string;
  readonly deduplicated: boolean;
  /** The repeat differs from the first one in sequence or data ([INS-8]). */
  readonly conflict: boolean;
  /** Present when the lease was taken with the start. */
  readonly claim: Claim | null;
}

export interface SignalRequest {
  readonly tenantId: string | null;
  readonly instanceId: string;
  readonly signalId: string;
  /** `pause`, `resume`, `cancel`, `update_context` or `custom:<name>`. */
  readonly signalType: string;
  readonly payload: Json;
}

export type SignalAnswer =
  | { readonly status: 'accepted' | 'repeated'; readonly signalId: string; readonly held: boolean }
  | { readonly status: 'not_found' }
  | { readonly status: 'terminal'; readonly state: InstanceState };

export interface PatchContextRequest {
  readonly tenantId: string | null;
  readonly instanceId: string;
  readonly factId: string;
  readonly sections: ContextSections;
  readonly mode: 'replace' | 'merge';
  /** 0 disables the check. */
  readonly maxContextBytes: number;
}

export interface ReportTaskRequest {
  readonly tenantId: string | null;
  readonly taskId: string;
  readonly workerId: string;
  readonly claimEpoch: number;
  readonly factId: string;
  readonly outcome: TaskOutcome;
  /** By which a failure counts for the circuit breaker of the handler ([CB-2]). Absent: none is kept. */
  readonly breaker?: BreakerRule;
  readonly logs: readonly { readonly ts: string; readonly level: string; readonly message: string }[];
}

/** `stale`: not claimed, other worker, other epoch or closed: 409, one attempt event, nothing else changes ([WRK-6]). */
export type ReportTaskAnswer =
  | { readonly status: 'accepted'; readonly tenantId: string; readonly instanceId: string }
  | { readonly status: 'not_found' | 'stale' };

export interface HeartbeatRequest {
  readonly tenantId: string | null;
  readonly taskId: string;
  readonly workerId: string;
  readonly claimEpoch: number;
  readonly checkpoint?: { readonly seq: number; readonly value: Json };
}

export type HeartbeatAnswer =
  | { readonly status: 'ok'; readonly checkpointSeq: number; readonly cancelled: boolean }
  | { readonly status: 'not_found' | 'stale' | 'stale_checkpoint' };

/**
 * The params, contexts and checkpoints of the tasks that one poll gives out have no more bytes of JSON than this together, but
 * for a first one that is larger: whatever host carries the answer must be able to, also where quotes count twice.
 */
export const POLL_BYTES_MAX = 2 * 1024 * 1024;

export interface PollRequest {
  readonly tenantId: string | null;
  readonly handlerName: string;
  readonly queueName?: string;
  readonly workerId: string;
  readonly version: string | null;
  /** 1 to 1000. */
  readonly limit: number;
}

export interface WorkerTask {
  readonly id: string;
  readonly tenantId: string;
  readonly namespace: string;
  readonly instanceId: string;
  readonly blockId: string;
  /** Path of the enclosing passes; empty outside loops. */
  readonly iteration: string;
  readonly handlerName: string;
  readonly queueName: string | null;
  readonly params: Json;
  readonly context: Json;
  readonly attempt: number;
  readonly timeoutMs: number | null;
  readonly state: 'pending' | 'claimed' | 'completed' | 'failed';
  readonly workerId: string | null;
  readonly claimedAt: number | null;
  readonly heartbeatAt: number | null;
  readonly claimEpoch: number;
  readonly resumeCheckpoint: Json | null;
  readonly checkpointSeq: number;
  readonly redelivery: boolean;
  readonly idempotencyKey: string;
  readonly completedAt: number | null;
  readonly output: Json | null;
  readonly errorMessage: string | null;
  readonly errorRetryable: boolean | null;
  readonly createdAt: number;
}

export interface TaskEvent {
  readonly id: string;
  readonly taskId: string;
  readonly claimEpoch: number;
  readonly workerId: string | null;
  readonly event:
    | 'claimed'
    | 'reclaimed'
    | 'completed'
    | 'failed'
    | 'timed_out'
    | 'cancelled'
    | 'stale_mutation_rejected';
  readonly reason: string | null;
  readonly createdAt: number;
}
