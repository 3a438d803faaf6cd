import { notFound } from '../../engine/refusal.ts';
import { previewRedelivery, redeliver } from '../../engine/webhooks/redeliver.ts';
import { defineRoute, noContent, okay } from '../route.ts';
import {
  DeliveryList,
  DeliveryPath,
  DeliveryQuery,
  OutboxList,
  OutboxQuery,
  RedeliveredBody,
  RedeliverPreviewBody,
  showDelivery,
  showOutbox,
  showPreview,
  showWebhookAttempt,
  WebhookAttemptList,
} from '../schemas/outbox.ts';
import { IdPath, NoParameters } from '../schemas/wire-values.ts';

const tag = 'outgoing webhooks';
const access = 'admin';

const parked = defineRoute({
  method: 'GET',
  path: '/webhooks/outbox',
  tag,
  access,
  summary: 'Webhooks that were given up, newest first',
  params: NoParameters,
  query: OutboxQuery,
  responses: { 200: OutboxList },
  handle: async ({ store }, { caller, filter }) => {
    const entries = await store.listWebhookOutbox(caller.tenantId, 'parked', filter.limit);
    return okay(entries.map(showOutbox));
  },
});

const again = defineRoute({
  method: 'POST',
  path: '/webhooks/outbox/{id}/redeliver',
  tag,
  access,
  summary: 'Try to deliver a webhook once more, now',
  params: IdPath,
  query: NoParameters,
  responses: { 200: RedeliveredBody },
  handle: async (deps, { caller, path }) => {
    const delivered = await redeliver(deps, caller, path.id);
    return delivered.ok ? okay({ redelivered: true, delivery_id: delivered.value }) : delivered;
  },
});

const preview = defineRoute({
  method: 'GET',
  path: '/webhooks/outbox/{id}/redeliver-preview',
  tag,
  access,
  summary: 'What a redelivery would send',
  params: IdPath,
  query: NoParameters,
  responses: { 200: RedeliverPreviewBody },
  handle: async (deps, { caller, path }) => {
    const previewed = await previewRedelivery(deps, caller, path.id);
    return previewed.ok ? okay(showPreview(previewed.value)) : previewed;
  },
});

const remove = defineRoute({
  method: 'DELETE',
  path: '/webhooks/outbox/{id}',
  tag,
  access,
  summary: 'Give a webhook up for good',
  params: IdPath,
  query: NoParameters,
  responses: { 204: null },
  handle: async ({ store }, { caller, path }) => {
    await store.deleteWebhook(caller.tenantId, path.id);
    return noContent;
  },
});

const deliveries = defineRoute({
  method: 'GET',
  path: '/webhooks/deliveries',
  tag,
  access,
  summary: 'Deliveries of the last 30 days, newest first',
  params: NoParameters,
  query: DeliveryQuery,
  responses: { 200: DeliveryList },
  handle: async ({ store }, { caller, filter }) => {
    const found = await store.listWebhookDeliveries({
      tenantId: caller.tenantId,
      url: filter.url,
      eventType: filter.event_type,
      delivered: filter.delivered,
      errorClass: filter.error_class,
      limit: filter.limit,
    });
    return okay(found.map(showDelivery));
  },
});

const attempts = defineRoute({
  method: 'GET',
  path: '/webhooks/deliveries/{delivery_id}',
  tag,
  access,
  summary: 'The attempts of a delivery, in order',
  params: DeliveryPath,
  query: NoParameters,
  responses: { 200: WebhookAttemptList },
  handle: async ({ store }, { caller, path }) => {
    const found = await store.listWebhookAttempts(caller.tenantId, path.delivery_id);
    return found === null ? notFound('delivery', path.delivery_id) : okay(found.map(showWebhookAttempt));
  },
});

export const outboxRoutes = [parked, again, preview, remove, deliveries, attempts];
