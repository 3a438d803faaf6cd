import { wantsEvent } from '../../core/run/outside.ts';
import { isTerminal } from '../../core/run/states.ts';
import type { InstanceKey } from '../../ports/store/reads.ts';
import type {
  AcceptedEvent,
  EventStore,
  EventWait,
  ListEventsQuery,
  NewEvent,
  PendingEvent,
  PendingEventsQuery,
  StoredEvent,
} from '../../ports/store/events.ts';
import type { Tx } from './database.ts';
import { type EventRow, type WaitRow, stored } from './rows.ts';
import { acceptFact } from './wake.ts';

/** What the store keeps about dedupe keys: of the tenant, or of one instance. */
export function emitKey(
  tenantId: string,
  { scope, key }: { readonly scope: string; readonly key: string },
): string {
  return JSON.stringify([tenantId, scope, key]);
}

function acceptEvent(tx: Tx, event: NewEvent): AcceptedEvent {
  const identity = JSON.stringify([event.tenantId, event.eventName, event.producerEventId]);
  const first = tx.db.eventIds.get(identity);
  if (first !== undefined) return { eventId: first, duplicate: true, match: null };
  tx.db.eventIds.put(identity, event.id);
  const row: EventRow = {
    ...stored(event),
    status: 'pending',
    consumedBy: null,
    matchNo: 0,
    receivedAt: tx.t,
  };
  tx.db.events.put(event.id, Object.freeze(row));
  const wait = tx.db.waits.values().find((open) => takes(tx, open, event));
  if (wait === undefined) return { eventId: event.id, duplicate: false, match: null };
  const matched = matchEvent(tx, wait, row);
  const match = { waitId: wait.id, instanceId: wait.instanceId, satisfied: !matched.open };
  return { eventId: event.id, duplicate: false, match };
}

function takes(tx: Tx, wait: WaitRow, event: NewEvent): boolean {
  if (!wait.open || wait.tenantId !== event.tenantId || wait.correlationKey !== event.correlationKey)
    return false;
  const instance = tx.db.instances.get(wait.instanceId);
  if (instance === undefined || isTerminal(instance.state)) return false;
  return wantsEvent(wait, wait.matchedNames, event.eventName);
}

/** The event is this wait's; the last one that it needs is a fact of its instance ([WAIT-4]). */
export function matchEvent(tx: Tx, wait: WaitRow, event: EventRow): WaitRow {
  consume(tx, wait.id, event, wait.matchedNames.length);
  const matchedNames = [...wait.matchedNames, event.eventName];
  const next = Object.freeze({ ...wait, matchedNames, open: matchedNames.length < wait.needed });
  tx.db.waits.put(wait.id, next);
  const instance = tx.db.instances.get(wait.instanceId);
  if (!next.open && instance !== undefined) {
    const fact = { kind: 'event' as const, waitId: wait.id, blockId: wait.blockId };
    acceptFact(tx, instance, { id: tx.newId(), fact, moves: false });
  }
  return next;
}

export function consume(tx: Tx, waitId: string, event: EventRow, matchNo: number): void {
  tx.db.events.put(event.id, Object.freeze({ ...event, status: 'consumed', consumedBy: waitId, matchNo }));
}

/** Oldest first. */
export function pendingRows(tx: Tx, query: Omit<PendingEventsQuery, 'limit'>): readonly EventRow[] {
  return tx.db.events
    .values()
    .filter((event) => event.status === 'pending' && event.tenantId === query.tenantId)
    .filter(
      (event) => event.correlationKey === query.correlationKey && query.names.includes(event.eventName),
    );
}

function pendingEvents(tx: Tx, query: PendingEventsQuery): readonly PendingEvent[] {
  return pendingRows(tx, query)
    .slice(0, query.limit)
    .map(({ id, eventName, producerEventId, payload }) => ({ id, eventName, producerEventId, payload }));
}

function listEvents(tx: Tx, { tenantId, status, limit }: ListEventsQuery): readonly StoredEvent[] {
  return tx.db.events
    .values()
    .filter((event) => tenantId === null || event.tenantId === tenantId)
    .filter((event) => status === null || event.status === status)
    .reverse()
    .slice(0, limit)
    .map(shown);
}

function getEvent(tx: Tx, tenantId: string | null, id: string): StoredEvent | null {
  const event = tx.db.events.get(id);
  return event === undefined || (tenantId !== null && event.tenantId !== tenantId) ? null : shown(event);
}

function shown(row: EventRow): StoredEvent {
  const { matchNo: _, ...event } = row;
  return event;
}

function eventWait(
  tx: Tx,
  key: InstanceKey,
  node: { readonly blockId: string; readonly iteration: string },
): EventWait | null {
  const wait = tx.db.waits
    .values()
    .filter((row) => row.tenantId === key.tenantId && row.instanceId === key.instanceId)
    .findLast((row) => row.blockId === node.blockId && row.iteration === node.iteration);
  if (wait === undefined) return null;
  const events = tx.db.events
    .values()
    .filter((event) => event.consumedBy === wait.id)
    .sort((left, right) => left.matchNo - right.matchNo)
    .map(({ eventName, producerEventId, payload }) => ({ eventName, producerEventId, payload }));
  const { id, names, correlationKey } = wait;
  return { id, names, correlationKey, satisfied: wait.matchedNames.length >= wait.needed, events };
}

export function eventPart(run: <T>(operation: (tx: Tx) => T) => Promise<T>): EventStore {
  return {
    acceptEvent: (event) => run((tx) => acceptEvent(tx, event)),
    listEvents: (query) => run((tx) => listEvents(tx, query)),
    getEvent: (tenantId, id) => run((tx) => getEvent(tx, tenantId, id)),
    pendingEvents: (query) => run((tx) => pendingEvents(tx, query)),
    eventWait: (key, node) => run((tx) => eventWait(tx, key, node)),
    emitRecord: (tenantId, key) =>
      run((tx) => {
        const known = tx.db.emitRecords.get(emitKey(tenantId, key));
        if (known === undefined || known.expiresAt <= tx.t) return null;
        return { instanceId: known.instanceId, sequenceName: known.sequenceName };
      }),
  };
}
