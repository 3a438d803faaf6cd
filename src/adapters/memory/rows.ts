import type { ApiKey } from '../../ports/store/api-keys.ts';
import type { Json } from '../../core/json.ts';
import type { TakeAnswer } from '../../core/run/limits/takes.ts';
import type { OutputRow } from '../../core/run/output-row.ts';
import type { WorkerTask } from '../../ports/store/accept.ts';
import type { AnnouncedHandler } from '../../ports/store/handler-names.ts';
import type { InstanceView } from '../../ports/store/reads.ts';
import type { ShapeChange } from '../../ports/store/shape.ts';
import type { StoredEvent } from '../../ports/store/events.ts';
import type { NewBlob } from '../../ports/store/blobs.ts';
import type { NewWait } from '../../core/run/outside.ts';
import type { InboxDone, InboxRow, InstanceRecord, JournalEntry } from '../../ports/store/turn.ts';
import type { ClusterNode } from '../../ports/store/nodes.ts';
import type { OutboxEntry, WebhookDelivery } from '../../ports/store/outbox.ts';

/** An instance with the columns that no reader sees. */
export interface InstanceRow extends InstanceView {
  readonly leaseToken: string | null;
  /** How many turns the process of the present lease has at most; 1: losing it says that this instance is to blame (RULINGS A18). */
  readonly claimedAmong: number;
  /** null: it has not lost a lease since it ended a turn. */
  readonly company: number | null;
  /** A lease was lost and nothing was committed since. */
  readonly takenOver: boolean;
  readonly claimsWithoutProgress: number;
  readonly wakeSeq: number;
  /** Highest seq that any turn has seen: consumed facts never count as unseen. */
  readonly seenSeq: number;
  /** Seq of the first cancel signal (RULINGS A10). */
  readonly cancelSeq: number | null;
  /** Token of the last commit, and whether its intents held: answers a repeated commit (RULINGS A8). */
  readonly committedToken: string | null;
  readonly committedGranted: boolean;
  readonly committedTaken?: readonly TakeAnswer[];
  /** Put back at a claim because its concurrency key was full ([CONC-2]). */
  readonly waitsForSlot: boolean;
  readonly originalInput: Json;
  /** Instant of the newest row: later rows are never older ([OUT-1]). */
  readonly lastRowAt: number;
}

export interface StoredOutput extends OutputRow {
  /** Number of the run that took it out of the lists; null while it is live. */
  readonly supersededBy: number | null;
}

export interface StoredFact extends InboxRow {
  readonly disposition: InboxDone['disposition'] | null;
  readonly processedAt: number | null;
}

/** A `removed` task is known from its events only ([WRK-6]). */
export interface TaskRow extends WorkerTask {
  readonly iteration: string;
  readonly ofHook?: true;
  readonly atMostOnce?: true;
  readonly removed: boolean;
}

export interface EventRow extends StoredEvent {
  /** Its place among the events of the wait that consumed it. */
  readonly matchNo: number;
}

/** `needed` matches satisfy it. */
export interface WaitRow extends NewWait {
  readonly tenantId: string;
  readonly instanceId: string;
  readonly matchedNames: readonly string[];
  readonly open: boolean;
}

export interface EmitRow {
  readonly instanceId: string;
  readonly sequenceName: string;
  readonly expiresAt: number;
}

export interface BlobRow extends NewBlob {
  readonly tenantId: string;
}

/** An accepted change with the id under which it came. */
export interface ChangeRow extends ShapeChange {
  readonly id: string;
}

export interface JournalRow extends JournalEntry {
  readonly createdAt: number;
}

export interface WorkerRow {
  readonly workerId: string;
  readonly tenantId: string | null;
  readonly version: string | null;
  readonly lastSeenAt: number;
  /** Handler name to the instant of its last poll. */
  readonly handlers: ReadonlyMap<string, number>;
  readonly queues: readonly string[];
}

/** That a build has a handler. */
export interface ApiKeyRow extends ApiKey {
  readonly secretHash: string;
}

export interface HandlerNameRow {
  readonly name: string;
  readonly buildId: string;
  readonly kind: AnnouncedHandler['kind'];
  readonly lastSeenAt: number;
}

/** A start that a webhook must not repeat. */
export interface DeliveryRow {
  readonly instanceId: string;
  readonly expiresAt: number;
}

/**
 * The value as a database would give it back: a copy that shares nothing with the caller's, `-0` as `0`, members that
 * are undefined left out. Frozen all the way down, so it may be handed out again and again.
 */
export function stored<T>(value: T): T {
  // The JSON round trip keeps the shape of every stored type; it is the border of this store.
  return deepFreeze(JSON.parse(JSON.stringify(value)) as T);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

export function recordOf(row: InstanceRow): InstanceRecord {
  return {
    id: row.id,
    tenantId: row.tenantId,
    namespace: row.namespace,
    sequenceId: row.sequenceId,
    state: row.state,
    priority: row.priority,
    timezone: row.timezone,
    nextFireAt: row.nextFireAt,
    data: row.data,
    config: row.config,
    audit: row.audit,
    metadata: row.metadata,
    parent: row.parent,
    depth: row.depth,
    sessionId: row.sessionId,
    dryRun: row.dryRun,
    dryRunAutoApprove: row.dryRunAutoApprove,
    dryRunRealTime: row.dryRunRealTime ?? false,
    createdAt: row.createdAt,
    startedAt: row.startedAt,
    runNo: row.runNo,
    runId: row.runId,
    rev: row.rev,
    totalSteps: row.totalSteps,
    recoveryCount: row.recoveryCount,
    cancelRequestedAt: row.cancelRequestedAt,
    currentStep: row.currentStep,
    hasHistory: row.hasHistory,
    budget: row.budget,
    usage: row.usage,
    ...(row.hooks === undefined || row.hooks === null ? {} : { hooks: row.hooks }),
    ...(row.shape === undefined || row.shape === null ? {} : { shape: row.shape }),
  };
}

export function viewOf(row: InstanceRow): InstanceView {
  return {
    ...recordOf(row),
    updatedAt: row.updatedAt,
    concurrencyKey: row.concurrencyKey,
    maxConcurrency: row.maxConcurrency,
    idempotencyKey: row.idempotencyKey,
    budget: row.budget,
    epoch: row.epoch,
    leaseOwner: row.leaseOwner,
    leaseUntil: row.leaseUntil,
    dueAt: row.dueAt,
    openWaits: row.openWaits,
    failure: row.failure,
    ...(row.waitsForSlot ? { waitsForSlot: true } : {}),
    ...(row.injected === undefined || row.injected === null ? {} : { injected: row.injected }),
  };
}

export type ProcessRow = Omit<ClusterNode, 'status'>;

export interface OutboxRow extends OutboxEntry {
  readonly claimToken: string | null;
}

export interface SendRow extends WebhookDelivery {
  readonly tenantId: string;
}
