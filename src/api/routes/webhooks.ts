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
  responses: { 202: WebhookBody, 200: null },
  media: 'text/plain',
  handle: async (deps, { path: { slug }, peer, header, readBytes }) => {
    if (!deps.webhookRate.admit(JSON.stringify([peer, slug]))) {
      return refuse('rate_limited', `webhook ${slug}`, { retryAfterSecs: 1 });
    }
    const body = await readBytes(deps.settings.maxWebhookBodyBytes);
    if (!body.ok) return body;
    const parse = () => parseJsonBytes(body.value, DOOR_LIMITS);
    const answer = await receiveWebhook(deps, { slug, body: body.value, header, parse });
    if (!answer.ok) return answer;
    if (answer.value.kind === 'challenge')
      return ok({ status: 200, text: { type: 'text/plain; charset=utf-8', content: answer.value.text } });
    const { instanceId, slug: trigger } = answer.value.fired;
    return ok({ status: 202, body: { instance_id: instanceId, trigger } });
  },
});

export const webhookRoutes = [receive];
