import * as z from 'zod';
import { redact } from '../../core/redaction.ts';
import type { EventInput } from '../../engine/events.ts';
import type { AcceptedEvent, StoredEvent } from '../../ports/store/events.ts';
import { FilterParameter, JsonValue, limitParameter, Timestamp, timestamp, Uuid } from './wire-values.ts';

/** Body of `POST /events` (http-api.md 13); blank texts are a rule of the use case (400). */
export const EventBody = z
  .object({
    tenant_id: z.string(),
    event_name: z.string(),
    producer_event_id: z.string(),
    correlation_key: z.string(),
    payload: JsonValue.optional(),
  })
  .transform(
    (body): EventInput => ({
      tenantId: body.tenant_id,
      eventName: body.event_name,
      producerEventId: body.producer_event_id,
      correlationKey: body.correlation_key,
      payload: body.payload ?? null,
    }),
  );

export const EventBatchBody = z.object({ events: z.array(EventBody) });

export const EventOutcome = z.object({
  event_id: Uuid,
  duplicate: z.boolean(),
  matched_wait: Uuid.exactOptional(),
  /** The wait is complete now; false also when no wait has taken the event. */
  satisfied: z.boolean(),
});
export const EventOutcomes = z.object({ outcomes: z.array(EventOutcome) });

export const EventQuery = z.object({
  tenant_id: FilterParameter,
  status: FilterParameter,
  limit: limitParameter(100, 1000),
});

export const EventEnvelope = z.object({
  id: Uuid,
  tenant_id: z.string(),
  event_name: z.string(),
  producer_event_id: z.string(),
  correlation_key: z.string(),
  payload: JsonValue,
  status: z.enum(['pending', 'consumed', 'expired']),
  consumed_by: Uuid.exactOptional(),
  received_at: Timestamp,
});
export const EventList = z.array(EventEnvelope);

export function showOutcome({ eventId, duplicate, match }: AcceptedEvent): z.infer<typeof EventOutcome> {
  return {
    event_id: eventId,
    duplicate,
    ...(match === null ? {} : { matched_wait: match.waitId }),
    satisfied: match?.satisfied ?? false,
  };
}

export function showEvent(event: StoredEvent): z.infer<typeof EventEnvelope> {
  return {
    id: event.id,
    tenant_id: event.tenantId,
    event_name: event.eventName,
    producer_event_id: event.producerEventId,
    correlation_key: event.correlationKey,
    payload: event.payload,
    status: event.status,
    ...(event.consumedBy === null ? {} : { consumed_by: event.consumedBy }),
    received_at: timestamp(event.receivedAt),
  };
}

/** As lists show it: nothing secret in the payload (http-api.md 4.5). */
export function showListedEvent(event: StoredEvent): z.infer<typeof EventEnvelope> {
  return { ...showEvent(event), payload: redact(event.payload) };
}
