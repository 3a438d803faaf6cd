import type {
  AcceptedEvent,
  EventStore,
  EventWait,
  PendingEvent,
  StoredEvent,
} from '../../ports/store/events.ts';
import { answersOf } from './answer-rows.ts';
import { call, isUuid, tenantCall } from './call.ts';
import type { SqlDriver } from './driver.ts';
import { answerOf } from './rows.ts';

const ACCEPT = 'SELECT stepwell.accept_event_v1($1, $2, $3, $4, $5, $6::jsonb)';
const PENDING = 'SELECT stepwell.pending_events_v1($1, $2, $3::jsonb, $4)';
const WAIT = 'SELECT stepwell.event_wait_v1($1, $2, $3, $4)';
const EMIT_RECORD = 'SELECT stepwell.emit_record_v1($1, $2, $3)';

const SHOWN = `json_build_object('id', e.id, 'tenantId', e.tenant_id, 'eventName', e.event_name,
  'producerEventId', e.producer_event_id, 'correlationKey', e.correlation_key, 'payload', e.payload, 'status', e.status,
  'consumedBy', e.consumed_by, 'receivedAt', stepwell.to_ms(e.received_at))`;

const LIST = `
SELECT ${SHOWN}
FROM (
  SELECT * FROM stepwell.events n
  WHERE ($1::text IS NULL OR n.tenant_id = $1) AND ($2::text IS NULL OR n.status = $2)
  ORDER BY n.ordinal DESC LIMIT $3
) e
ORDER BY e.ordinal DESC`;

const GET = `SELECT ${SHOWN} FROM stepwell.events e WHERE e.id = $2 AND ($1::text IS NULL OR e.tenant_id = $1)`;

interface AcceptAnswer {
  readonly eventId: string;
  readonly duplicate: boolean;
  readonly waitId?: string;
  readonly instanceId?: string;
  readonly satisfied?: boolean;
}

export function createEventStore(driver: SqlDriver): EventStore {
  return {
    async acceptEvent({ tenantId, id, eventName, producerEventId, correlationKey, payload }) {
      const params = [tenantId, id, eventName, producerEventId, correlationKey, JSON.stringify(payload)];
      return readAccepted(answerOf<AcceptAnswer>(await call(driver, ACCEPT, params)));
    },
    async listEvents({ tenantId, status, limit }) {
      return answersOf<StoredEvent>(await tenantCall(driver, tenantId, LIST, [tenantId, status, limit]));
    },
    async getEvent(tenantId, id) {
      if (!isUuid(id)) return null;
      return (
        answerOf<StoredEvent | undefined>(await tenantCall(driver, tenantId, GET, [tenantId, id])) ?? null
      );
    },
    async pendingEvents({ tenantId, correlationKey, names, limit }) {
      const params = [tenantId, correlationKey, JSON.stringify(names), limit];
      return answerOf<PendingEvent[]>(await call(driver, PENDING, params));
    },
    async eventWait({ tenantId, instanceId }, { blockId, iteration }) {
      return answerOf<EventWait | null>(await call(driver, WAIT, [tenantId, instanceId, blockId, iteration]));
    },
    async emitRecord(tenantId, { scope, key }) {
      return answerOf(await call(driver, EMIT_RECORD, [tenantId, scope, key]));
    },
  };
}

function readAccepted({ eventId, duplicate, waitId, instanceId, satisfied }: AcceptAnswer): AcceptedEvent {
  const match =
    waitId === undefined || instanceId === undefined
      ? null
      : { waitId, instanceId, satisfied: satisfied === true };
  return { eventId, duplicate, match };
}
