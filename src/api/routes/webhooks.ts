import { DOOR_LIMITS } from '../../core/json-door.ts';
import { ok } from '../../core/result.ts';
import { receiveWebhook } from '../../engine/receive-webhook.ts';
import { refuse } from '../../engine/refusal.ts';
import { parseJsonBytes } from '../read-body.ts';
import { defineRoute } from '../route.ts';
import { NoParameters, SlugPath } from '../schemas/wire-values.ts';
import { WebhookBody } from '../schemas/trigger.ts';

const receive = defineRoute({
  method: 'POST',
  path: '/webhooks/{slug}',
  mount: 'root',
  access: 'public',
  tag: 'webhooks',
  summary: 'Deliver a signed webhook',
  params: SlugPath,
  query: NoParameters,
  rawBody: true,
  responses: { 202: WebhookBody },
  handle: async (deps, { path: { slug }, peer, header, readBytes }) => {
    if (!deps.webhookRate.admit(JSON.stringify([peer, slug]))) {
      return refuse('rate_limited', `webhook ${slug}`, { retryAfterSecs: 1 });
    }
    const body = await readBytes(deps.settings.maxWebhookBodyBytes);
    if (!body.ok) return body;
    const parse = () => parseJsonBytes(body.value, DOOR_LIMITS);
    const fired = await receiveWebhook(deps, { slug, body: body.value, header, parse });
    if (!fired.ok) return fired;
    return ok({ status: 202, body: { instance_id: fired.value.instanceId, trigger: fired.value.slug } });
  },
});

export const webhookRoutes = [receive];
