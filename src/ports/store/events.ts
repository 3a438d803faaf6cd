import type { Json } from '../../core/json.ts';
import type { EmitKey } from '../../core/run/outside.ts';
import type { InstanceKey } from './reads.ts';

/** Events from outside and what waits for them (sequences.md 22.3). Waits are registered and closed by commits. */
export interface EventStore {
  /**
   * Stores an event and gives it to the oldest open wait of its tenant, name and correlation key, in one transaction; the
   * match that satisfies a wait is a fact of its instance in the same transaction ([WAIT-2] to [WAIT-4]). Identity is
   * (tenant, event name, producer event id): a repeat changes nothing and answers the first id.
   */
  acceptEvent(event: NewEvent): Promise<AcceptedEvent>;
  /** Newest first. `tenantId` null: all tenants. */
  listEvents(query: ListEventsQuery): Promise<readonly StoredEvent[]>;
  getEvent(tenantId: string | null, id: string): Promise<StoredEvent | null>;
  /** Events nobody has consumed, oldest first. */
  pendingEvents(query: PendingEventsQuery): Promise<readonly PendingEvent[]>;
  /** The last wait of a node and pass, open or not; null when there is none. */
  eventWait(
    key: InstanceKey,
    node: { readonly blockId: string; readonly iteration: string },
  ): Promise<EventWait | null>;
  /** What a dedupe key of emit_event has started within the last 30 days ([EMIT-2]). */
  emitRecord(
    tenantId: string,
    key: EmitKey,
  ): Promise<{ readonly instanceId: string; readonly sequenceName: string } | null>;
}

export interface NewEvent {
  readonly id: string;
  readonly tenantId: string;
  /** At most 255 bytes. */
  readonly eventName: string;
  /** At most 512 bytes. */
  readonly producerEventId: string;
  /** At most 512 bytes. */
  readonly correlationKey: string;
  readonly payload: Json;
}

export interface AcceptedEvent {
  /** Of the first event of this identity. */
  readonly eventId: string;
  readonly duplicate: boolean;
  /** The wait that took the event; null for a repeat, and while nobody waits. */
  readonly match: {
    readonly waitId: string;
    readonly instanceId: string;
    readonly satisfied: boolean;
  } | null;
}

export type EventStatus = 'pending' | 'consumed' | 'expired';

export interface StoredEvent extends NewEvent {
  readonly status: EventStatus;
  /** The wait that consumed it. */
  readonly consumedBy: string | null;
  readonly receivedAt: number;
}

export interface ListEventsQuery {
  readonly tenantId: string | null;
  readonly status: EventStatus | null;
  readonly limit: number;
}

export interface PendingEventsQuery {
  readonly tenantId: string;
  readonly correlationKey: string;
  readonly names: readonly string[];
  readonly limit: number;
}

export interface MatchedEvent {
  readonly eventName: string;
  readonly producerEventId: string;
  readonly payload: Json;
}

export interface PendingEvent extends MatchedEvent {
  readonly id: string;
}

export interface EventWait {
  readonly id: string;
  readonly names: readonly string[];
  readonly correlationKey: string;
  readonly satisfied: boolean;
  /** In the order of matching. */
  readonly events: readonly MatchedEvent[];
}
