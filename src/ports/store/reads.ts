import type { Json, JsonObject } from '../../core/json.ts';
import type { Frame } from '../../core/run/frame.ts';
import type { NodeRow, OutputRow } from '../../core/run/output-row.ts';
import type { TaskEvent, WorkerTask } from './accept.ts';
import type { Page } from './page.ts';
import type { InboxRow, InstanceRecord, StepLogLine } from './turn.ts';

/** Reads. Every one is bounded and has a stable order; `tenantId` null is an administrator without a tenant. */
export interface ReadStore {
  /** Latest visible rows of these blocks ([OUT-5]); a block without row is absent. One statement. */
  readOutputs(key: InstanceKey, blockIds: readonly string[] | 'all'): Promise<ReadonlyMap<string, Json>>;
  /** Values of these keys of the instance's key/value store; 'all' leaves reserved keys out. */
  readState(key: InstanceKey, keys: readonly string[] | 'all'): Promise<ReadonlyMap<string, Json>>;
  countState(key: InstanceKey): Promise<number>;
  /** Elements from..from+count-1 of a stored collection ([EACH-3]). */
  readItems(key: InstanceKey, snapshotKey: string, from: number, count: number): Promise<readonly Json[]>;
  getInstance(tenantId: string | null, id: string): Promise<InstanceView | null>;
  /** Live rows oldest first by (rev, ordinal), hidden `node` rows included when asked. null: no such instance. */
  listOutputs(tenantId: string | null, id: string, which: WhichRows): Promise<readonly OutputRow[] | null>;
  /** One live row with its output; null when the instance has no such row. */
  getOutput(tenantId: string | null, id: string, rowId: string): Promise<OutputRow | null>;
  /** The latest live `result` or `node` row of each block, for the tree; at most one per block. null: no such instance. */
  listNodeRows(tenantId: string | null, id: string): Promise<readonly NodeRow[] | null>;
  /** Frames and unprocessed inbox of one instance, for the tree and explain. One round trip. null: no such instance. */
  getFrontier(tenantId: string | null, id: string): Promise<Frontier | null>;
  /** Oldest first; without a page all of them. */
  listChildren(tenantId: string | null, id: string, page?: Page): Promise<readonly InstanceView[] | null>;
  listAudit(tenantId: string | null, id: string, limit: number): Promise<readonly AuditRow[] | null>;
  /** The journal ([AUD-2]), newest first. */
  listJournal(tenantId: string | null, id: string, limit: number): Promise<readonly JournalRow[] | null>;
  listLogs(tenantId: string | null, id: string, limit: number): Promise<readonly StepLogLine[] | null>;
  /** Open gates of instances in `waiting` or `scheduled`, with their frames. */
  listOpenGates(
    query: ListGatesQuery,
  ): Promise<{ readonly items: readonly GateItem[]; readonly total: number }>;
  getTask(tenantId: string | null, taskId: string): Promise<WorkerTask | null>;
  listTasks(query: ListTasksQuery): Promise<readonly WorkerTask[]>;
  listTaskEvents(
    tenantId: string | null,
    taskId: string,
    limit: number,
  ): Promise<readonly TaskEvent[] | null>;
  taskStats(tenantId: string | null): Promise<TaskStats>;
  /** Last seen first; without a page all of them. */
  listWorkers(
    tenantId: string | null,
    aliveWithinMs: number,
    includeStale: boolean,
    page?: Page,
  ): Promise<readonly WorkerView[]>;
  /** True when a worker polled for this handler name within the last `withinMs` (RULINGS B8). */
  hasWorkerFor(handlerName: string, withinMs: number): Promise<boolean>;
  /** Answers within the statement timeout when the database works and the schema is the one this build needs. */
  ping(): Promise<{ readonly now: number; readonly schemaVersion: number }>;
}

export interface WhichRows {
  readonly node: boolean;
  readonly retry: boolean;
  /** Rows behind this place only; absent or null: from the first. */
  readonly after?: { readonly rev: number; readonly ordinal: number } | null;
  /** Rows before the row with this id only; with a limit the newest of them. */
  readonly beforeId?: string | null;
  readonly blockId?: string | null;
  readonly iteration?: string | null;
  /** Absent: all. */
  readonly limit?: number;
  /**
   * Bytes of outputs that are read. Outputs from EXTERNALIZE_BYTES on that come after these are left where they are: their
   * rows say so and hold null ([EXT-2]). Absent: all are read.
   */
  readonly inlineBytes?: number;
  /** The list ends before the row whose output would make it longer; one row comes in any case. Absent: as long as it is. */
  readonly maxBytes?: number;
}

export interface InstanceKey {
  readonly tenantId: string;
  readonly instanceId: string;
}

/** The instance as the API shows it, with the lease for explain. */
export interface InstanceView extends InstanceRecord {
  readonly updatedAt: number;
  readonly concurrencyKey: string | null;
  readonly maxConcurrency: number | null;
  readonly idempotencyKey: string | null;
  readonly budget: JsonObject | null;
  readonly epoch: number;
  readonly leaseOwner: string | null;
  readonly leaseUntil: number | null;
  readonly dueAt: number | null;
  readonly openWaits: number;
  /** It was due and found no slot of its concurrency key; absent for most. */
  readonly waitsForSlot?: boolean;
  readonly failure: { readonly blockId: string | null; readonly error: JsonObject } | null;
  /** The injected root blocks, in the order of injection ([OP-10]); absent or null when there never was a change. */
  readonly injected?: readonly JsonObject[] | null;
}

export interface Frontier {
  readonly instance: InstanceView;
  readonly frames: readonly Frame[];
  readonly inbox: readonly InboxRow[];
  readonly openTasks: readonly WorkerTask[];
  readonly now: number;
}

export interface AuditRow {
  readonly id: string;
  readonly instanceId: string;
  readonly tenantId: string;
  readonly eventType: 'state_transition' | 'batch_action';
  readonly fromState: string | null;
  readonly toState: string | null;
  readonly blockId: string | null;
  readonly details: JsonObject;
  readonly createdAt: number;
}

export interface JournalRow {
  readonly id: string;
  readonly instanceId: string;
  readonly tenantId: string;
  readonly kind: string;
  readonly actor: string | null;
  readonly details: JsonObject;
  readonly createdAt: number;
}

export interface ListGatesQuery {
  readonly tenantId: string | null;
  readonly namespace: string | null;
  readonly instanceId: string | null;
  readonly sequenceId: string | null;
  /** Absent: newest instance first. `deadline`: the gate that times out next first, those without a time-out last. */
  readonly order?: 'newest' | 'deadline';
  readonly limit: number;
  readonly offset: number;
}

export interface GateItem {
  readonly instance: InstanceView;
  readonly sequenceName: string;
  readonly frame: Frame;
}

export interface ListTasksQuery {
  readonly tenantId: string | null;
  readonly states: readonly WorkerTask['state'][];
  readonly handlerName: string | null;
  readonly workerId: string | null;
  readonly queueName: string | null;
  readonly limit: number;
  readonly offset: number;
}

export interface TaskStats {
  readonly byState: Readonly<Record<string, number>>;
  readonly byHandler: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly activeWorkers: readonly string[];
}

export interface WorkerView {
  readonly workerId: string;
  readonly handlers: readonly string[];
  readonly queues: readonly string[];
  readonly version: string | null;
  readonly lastSeenAt: number;
  readonly alive: boolean;
  readonly inFlight: number;
}
