import type { Frame } from '../../core/run/frame.ts';
import { checkPromises } from '../../core/run/promises.ts';
import type { Json } from '../../core/json.ts';
import type { TaskEvent } from '../../ports/store/accept.ts';
import type { DeploymentNote, SequenceRecord, TriggerRecord } from '../../ports/store/catalog.ts';
import type { CredentialRecord } from '../../ports/store/credentials.ts';
import type { PluginRecord } from '../../ports/store/plugins.ts';
import type { KeptAnswer, KeyAttempt } from '../../ports/store/idempotency.ts';
import type { WebhookAttempt } from '../../ports/store/outbox.ts';
import type { AuditRow } from '../../ports/store/reads.ts';
import type { ScheduleRecord } from '../../ports/store/schedules.ts';
import type { SessionRecord } from '../../ports/store/sessions.ts';
import type { InboxDone, StepLogLine } from '../../ports/store/turn.ts';
import type { Checkpoint } from '../../ports/store/shape.ts';
import type { RoutingRule, VersionPin, WorkerCommand } from '../../ports/store/worker-admin.ts';
import {
  type ApiKeyRow,
  type BlobRow,
  type ChangeRow,
  type DeliveryRow,
  type EmitRow,
  type EventRow,
  type HandlerNameRow,
  type InstanceRow,
  type JournalRow,
  type OutboxRow,
  type ProcessRow,
  type SendRow,
  type StoredFact,
  type StoredOutput,
  type TaskRow,
  type WaitRow,
  type WorkerRow,
  viewOf,
} from './rows.ts';
import type { BreakerRow, PoolRow, RateRow, ResourceRow } from './limit-rows.ts';
import { Grouped, Table, type UndoLog } from './table.ts';

/** All state of a memory store. Rows are immutable; a change replaces the row. */
export interface Database {
  readonly log: UndoLog;
  readonly instances: Table<InstanceRow>;
  readonly frames: Grouped<Frame>;
  readonly outputs: Grouped<StoredOutput>;
  /** Unique keys of the live rows (RULINGS A35). */
  readonly outputKeys: Grouped<string>;
  /** By id, processed facts included: repeats are known for ever. */
  readonly inbox: Grouped<StoredFact>;
  /** Seqs of the unprocessed facts to their ids, in the order of acceptance. */
  readonly inboxOpen: Grouped<string>;
  readonly kv: Grouped<Json>;
  /** Changes of what runs are made of, by their numbers. */
  readonly shapeChanges: Grouped<ChangeRow>;
  readonly checkpoints: Grouped<Checkpoint>;
  readonly values: Grouped<Json>;
  readonly audit: Grouped<AuditRow>;
  readonly journal: Grouped<JournalRow>;
  /** Outgoing webhooks by id. */
  readonly outbox: Table<OutboxRow>;
  /** By delivery. */
  readonly webhookSends: Table<SendRow>;
  readonly webhookAttempts: Grouped<WebhookAttempt>;
  readonly logs: Grouped<StepLogLine>;
  /** By parent: the unique key of a child to its id (RULINGS A17). */
  readonly children: Grouped<string>;
  /** By instance. */
  readonly tasks: Grouped<TaskRow>;
  /** Task id to instance id. */
  readonly taskOwners: Table<string>;
  /** By task. */
  readonly taskEvents: Grouped<TaskEvent>;
  readonly workers: Table<WorkerRow>;
  readonly commands: Table<WorkerCommand>;
  readonly pins: Table<VersionPin>;
  readonly rules: Table<RoutingRule>;
  readonly nodes: Table<ProcessRow>;
  readonly handlerNames: Table<HandlerNameRow>;
  readonly apiKeys: Table<ApiKeyRow>;
  /** Idempotency keys of starts to instance ids. */
  readonly startKeys: Table<string>;
  /** By tenant and hash. */
  readonly requestKeys: Table<RequestKeyRow>;
  readonly deliveries: Table<DeliveryRow>;
  /** Nonces to the instant at which they may be used again. */
  readonly nonces: Table<number>;
  readonly sequences: Table<SequenceRecord>;
  /** By tenant, namespace and name. */
  readonly deployed: Table<DeploymentNote>;
  readonly triggers: Table<TriggerRecord>;
  readonly schedules: Table<ScheduleRecord>;
  readonly sessions: Table<SessionRecord>;
  /** In the order of receipt. */
  readonly events: Table<EventRow>;
  /** Identities of events to their ids. */
  readonly eventIds: Table<string>;
  /** Oldest first. */
  readonly waits: Table<WaitRow>;
  readonly emitRecords: Table<EmitRow>;
  readonly blobs: Grouped<BlobRow>;
  readonly credentials: Table<CredentialRecord>;
  readonly plugins: Table<PluginRecord>;
  readonly rateLimits: Table<RateRow>;
  readonly breakers: Table<BreakerRow>;
  /** By limit: instances that it has denied, to the instant at which they look again by themselves. */
  readonly limitWaits: Grouped<number>;
  /** Oldest first, and so are their resources. */
  readonly pools: Table<PoolRow>;
  readonly resources: Table<ResourceRow>;
}

/** A key of the header Idempotency-Key. */
export interface RequestKeyRow extends KeyAttempt {
  readonly fingerprint: string;
  /** null: no attempt is under way. */
  readonly leaseUntil: number | null;
  readonly answer: KeptAnswer | null;
  readonly expiresAt: number;
}

/** One operation: all of it happens at one instant, and all of it or nothing. */
export interface Tx {
  readonly db: Database;
  /** Database time, epoch ms. */
  readonly t: number;
  /** UUIDs of version 7, ascending. */
  readonly newId: () => string;
  /** Instances that the operation changed. */
  readonly touched: Set<string>;
}

/** Runs an operation at one instant; its answer is a promise, as with a database. */
export type Run = <T>(operation: (tx: Tx) => T) => Promise<T>;

export function createDatabase(): Database {
  const log: UndoLog = { steps: null };
  return {
    log,
    instances: new Table(log),
    frames: new Grouped(log),
    outputs: new Grouped(log),
    outputKeys: new Grouped(log),
    inbox: new Grouped(log),
    inboxOpen: new Grouped(log),
    kv: new Grouped(log),
    shapeChanges: new Grouped(log),
    checkpoints: new Grouped(log),
    values: new Grouped(log),
    audit: new Grouped(log),
    journal: new Grouped(log),
    outbox: new Table(log),
    webhookSends: new Table(log),
    webhookAttempts: new Grouped(log),
    logs: new Grouped(log),
    children: new Grouped(log),
    tasks: new Grouped(log),
    taskOwners: new Table(log),
    taskEvents: new Grouped(log),
    workers: new Table(log),
    commands: new Table(log),
    pins: new Table(log),
    rules: new Table(log),
    nodes: new Table(log),
    handlerNames: new Table(log),
    apiKeys: new Table(log),
    rateLimits: new Table(log),
    breakers: new Table(log),
    limitWaits: new Grouped(log),
    pools: new Table(log),
    resources: new Table(log),
    startKeys: new Table(log),
    requestKeys: new Table(log),
    deliveries: new Table(log),
    nonces: new Table(log),
    sequences: new Table(log),
    deployed: new Table(log),
    triggers: new Table(log),
    schedules: new Table(log),
    sessions: new Table(log),
    events: new Table(log),
    eventIds: new Table(log),
    waits: new Table(log),
    emitRecords: new Table(log),
    blobs: new Grouped(log),
    credentials: new Table(log),
    plugins: new Table(log),
  };
}

/**
 * Runs one operation. What throws leaves nothing behind, and neither does what would leave an instance stuck
 * (DESIGN promise 2): the part that a CHECK constraint plays in a database.
 */
export function atomically<T>(db: Database, clock: Pick<Tx, 't' | 'newId'>, operation: (tx: Tx) => T): T {
  const tx: Tx = { db, ...clock, touched: new Set() };
  db.log.steps = [];
  try {
    const answer = operation(tx);
    for (const id of tx.touched) assertPromises(tx, id);
    return answer;
  } catch (error) {
    for (const undo of db.log.steps.reverse()) undo();
    throw error;
  } finally {
    db.log.steps = null;
  }
}

function assertPromises(tx: Tx, id: string): void {
  const row = tx.db.instances.get(id);
  if (row === undefined) return;
  const broken = checkPromises({
    instance: viewOf(row),
    frames: tx.db.frames.of(id).values(),
    openTasks: openTasks(tx.db, id),
  });
  if (broken.length > 0) throw new Error(`The store would leave an instance stuck: ${broken.join('; ')}.`);
}

export function saveInstance(tx: Tx, row: InstanceRow): InstanceRow {
  const saved = Object.freeze({ ...row, updatedAt: tx.t });
  tx.db.instances.put(row.id, saved);
  tx.touched.add(row.id);
  return saved;
}

/** The instance, when it exists and the tenant may see it. */
export function findInstance(db: Database, tenantId: string | null, id: string): InstanceRow | null {
  const row = db.instances.get(id);
  return row !== undefined && (tenantId === null || row.tenantId === tenantId) ? row : null;
}

export function openTasks(db: Database, instanceId: string): TaskRow[] {
  return db.tasks.of(instanceId).values().filter(isOpenTask);
}

export function isOpenTask(task: TaskRow): boolean {
  return !task.removed && (task.state === 'pending' || task.state === 'claimed');
}

/** The frame of the root list first, the others as they were written. */
export function framesOf(db: Database, instanceId: string): Frame[] {
  const frames = db.frames.of(instanceId).values();
  const root = frames.filter((frame) => frame.blockId === '');
  return [...root, ...frames.filter((frame) => frame.blockId !== '')];
}

/** Inbox rows that no turn has processed, in the order of acceptance. */
export function openInbox(db: Database, instanceId: string): StoredFact[] {
  return db.inboxOpen
    .of(instanceId)
    .values()
    .flatMap((id) => db.inbox.of(instanceId).get(id) ?? []);
}

/** Takes an open fact out of the inbox. */
export function closeFact(
  tx: Tx,
  instanceId: string,
  seq: number,
  disposition: InboxDone['disposition'],
): void {
  const id = tx.db.inboxOpen.of(instanceId).get(String(seq));
  const fact = id === undefined ? undefined : tx.db.inbox.of(instanceId).get(id);
  if (fact === undefined) return;
  tx.db.inboxOpen.of(instanceId).remove(String(seq));
  tx.db.inbox.of(instanceId).put(fact.id, Object.freeze({ ...fact, disposition, processedAt: tx.t }));
}

/** UUIDs of version 7 from the store's clock and a counter: unique and ascending, but not random. */
export function createIds(now: () => number): () => string {
  let count = 0;
  let lastMs = 0;
  return () => {
    count += 1;
    lastMs = Math.max(lastMs, now());
    const time = lastMs.toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${count.toString(16).padStart(12, '0')}`;
  };
}
