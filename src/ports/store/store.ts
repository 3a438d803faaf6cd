import type { AcceptStore } from './accept.ts';
import type { ApiKeyStore } from './api-keys.ts';
import type { CatalogStore } from './catalog.ts';
import type { ChangeStore } from './changes.ts';
import type { HandlerNameStore } from './handler-names.ts';
import type { HistoryStore } from './history.ts';
import type { BlobStore } from './blobs.ts';
import type { BoundedReads } from './bounded-reads.ts';
import type { CredentialStore } from './credentials.ts';
import type { EventStore } from './events.ts';
import type { InstanceListStore } from './instance-lists.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { InspectionStore } from './inspection.ts';
import type { ItemStore } from './items.ts';
import type { ManyInstancesStore } from './many-instances.ts';
import type { LimitStore } from './limits.ts';
import type { NodeStore } from './nodes.ts';
import type { OutboxStore } from './outbox.ts';
import type { PluginStore } from './plugins.ts';
import type { ReadStore } from './reads.ts';
import type { ScheduleStore } from './schedules.ts';
import type { SessionStore } from './sessions.ts';
import type { ShapeStore } from './shape.ts';
import type { SweepStore } from './sweeps.ts';
import type { TurnStore } from './turn.ts';
import type { WakeStore } from './wakes.ts';
import type { WorkerAdminStore } from './worker-admin.ts';

/**
 * The store contract: few coarse operations, each one statement or one round trip, each one fault point. The same suite
 * (test/store-contract) runs over every adapter. Lost IO rejects with `StoreUnavailable`; everything else is a value.
 */
export interface Store
  extends TurnStore,
    AcceptStore,
    ApiKeyStore,
    CatalogStore,
    ChangeStore,
    HandlerNameStore,
    HistoryStore,
    ScheduleStore,
    SessionStore,
    ManyInstancesStore,
    EventStore,
    BlobStore,
    BoundedReads<Store>,
    CredentialStore,
    InspectionStore,
    LimitStore,
    WakeStore,
    SweepStore,
    ItemStore,
    IdempotencyStore<Store>,
    OutboxStore,
    PluginStore,
    WorkerAdminStore,
    NodeStore,
    ShapeStore,
    ReadStore,
    InstanceListStore {
  close(): Promise<void>;
}

/**
 * The database did not answer, or answered that it can not now. `unknown` is true when the statement may have been
 * carried out (RULINGS A8): the caller must find out by reading or by sending the same bytes again.
 */
export class StoreUnavailable extends Error {
  readonly unknown: boolean;
  constructor(message: string, options: { readonly unknown: boolean; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'StoreUnavailable';
    this.unknown = options.unknown;
  }
}
