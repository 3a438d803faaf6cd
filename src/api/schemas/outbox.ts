import * as z from 'zod';
import { WEBHOOK_ERROR_CLASSES } from '../../core/webhook-events.ts';
import type { RedeliverPreview } from '../../engine/webhooks/redeliver.ts';
import type { OutboxEntry, WebhookAttempt, WebhookDelivery } from '../../ports/store/outbox.ts';
import {
  BooleanParameter,
  CountParameter,
  FilterParameter,
  JsonValue,
  limitParameter,
  Timestamp,
  timestamp,
  Uuid,
} from './wire-values.ts';

const ErrorClass = z.enum(WEBHOOK_ERROR_CLASSES);

/** An outgoing webhook that is not delivered (http-api.md 21.2). */
export const OutboxBody = z.object({
  id: Uuid,
  url: z.string(),
  event_type: z.string(),
  instance_id: Uuid,
  payload: JsonValue,
  attempts: z.int(),
  last_error: z.string().exactOptional(),
  created_at: Timestamp,
  /** Once there was an attempt; it is the id of the entry. */
  delivery_id: Uuid.exactOptional(),
  status: z.enum(['pending', 'in_flight', 'parked']),
  next_attempt_at: Timestamp.exactOptional(),
  claimed_at: Timestamp.exactOptional(),
});
export const OutboxList = z.array(OutboxBody);
export const OutboxQuery = z.object({ limit: limitParameter(100, 1000) });

export function showOutbox(entry: OutboxEntry): z.infer<typeof OutboxBody> {
  const { status, nextAttemptAt, claimedAt, lastError } = entry;
  return {
    id: entry.id,
    url: entry.url,
    event_type: entry.eventType,
    instance_id: entry.instanceId,
    payload: entry.payload,
    attempts: entry.attempts,
    ...(lastError === null ? {} : { last_error: lastError }),
    created_at: timestamp(entry.createdAt),
    ...(entry.attempts === 0 ? {} : { delivery_id: entry.id }),
    status,
    ...(status !== 'pending' || nextAttemptAt === null ? {} : { next_attempt_at: timestamp(nextAttemptAt) }),
    ...(status !== 'in_flight' || claimedAt === null ? {} : { claimed_at: timestamp(claimedAt) }),
  };
}

export const RedeliveredBody = z.object({ redelivered: z.literal(true), delivery_id: Uuid });

export const RedeliverPreviewBody = z.object({
  url: z.string(),
  event_type: z.string(),
  payload_bytes: z.int(),
  will_be_signed: z.boolean(),
  previous_delivery_id: Uuid.exactOptional(),
  previous_attempts: z.int(),
  last_error: z.string().exactOptional(),
});

export function showPreview(preview: RedeliverPreview): z.infer<typeof RedeliverPreviewBody> {
  const { entry, payloadBytes, willBeSigned } = preview;
  return {
    url: entry.url,
    event_type: entry.eventType,
    payload_bytes: payloadBytes,
    will_be_signed: willBeSigned,
    ...(entry.attempts === 0 ? {} : { previous_delivery_id: entry.id }),
    previous_attempts: entry.attempts,
    ...(entry.lastError === null ? {} : { last_error: entry.lastError }),
  };
}

export const DeliveryBody = z.object({
  delivery_id: Uuid,
  url: z.string(),
  event_type: z.string(),
  instance_id: Uuid,
  attempts: z.int(),
  delivered: z.boolean(),
  first_attempt_at: Timestamp,
  last_attempt_at: Timestamp,
  last_error_class: ErrorClass.exactOptional(),
});
export const DeliveryList = z.array(DeliveryBody);

export const DeliveryQuery = z.object({
  url: FilterParameter,
  event_type: FilterParameter,
  delivered: BooleanParameter.nullish().transform((value) => value ?? null),
  error_class: FilterParameter.pipe(ErrorClass.nullable()),
  limit: CountParameter.transform((value) => Math.min(value, 1000))
    .refine((value) => value >= 1, { error: 'must be at least 1' })
    .default(100)
    .meta({ 'x-default': 100, minimum: 1 }),
});
export const DeliveryPath = z.object({ delivery_id: Uuid });

export function showDelivery(delivery: WebhookDelivery): z.infer<typeof DeliveryBody> {
  return {
    delivery_id: delivery.deliveryId,
    url: delivery.url,
    event_type: delivery.eventType,
    instance_id: delivery.instanceId,
    attempts: delivery.attempts,
    delivered: delivery.delivered,
    first_attempt_at: timestamp(delivery.firstAttemptAt),
    last_attempt_at: timestamp(delivery.lastAttemptAt),
    ...(delivery.lastErrorClass === null ? {} : { last_error_class: delivery.lastErrorClass }),
  };
}

export const WebhookAttemptBody = z.object({
  id: Uuid,
  delivery_id: Uuid,
  url: z.string(),
  event_type: z.string(),
  instance_id: Uuid,
  attempt_number: z.int(),
  attempted_at: Timestamp,
  duration_ms: z.int(),
  success: z.boolean(),
  status_code: z.int().exactOptional(),
  error_class: ErrorClass.exactOptional(),
  error_excerpt: z.string().exactOptional(),
  signed: z.boolean(),
});
export const WebhookAttemptList = z.array(WebhookAttemptBody);

export function showWebhookAttempt(attempt: WebhookAttempt): z.infer<typeof WebhookAttemptBody> {
  return {
    id: attempt.id,
    delivery_id: attempt.deliveryId,
    url: attempt.url,
    event_type: attempt.eventType,
    instance_id: attempt.instanceId,
    attempt_number: attempt.attemptNumber,
    attempted_at: timestamp(attempt.attemptedAt),
    duration_ms: attempt.durationMs,
    success: attempt.success,
    ...(attempt.statusCode === null ? {} : { status_code: attempt.statusCode }),
    ...(attempt.errorClass === null ? {} : { error_class: attempt.errorClass }),
    ...(attempt.errorExcerpt === null ? {} : { error_excerpt: attempt.errorExcerpt }),
    signed: attempt.signed,
  };
}
