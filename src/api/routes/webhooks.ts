import { DOOR_LIMITS } from '../../core/json-door.ts';
import { networkOf } from '../../core/network/network-of.ts';
import { ok } from '../../core/result.ts';
import { receiveWebhook } from '../../engine/receive-webhook.ts';
import { refuse } from '../../engine/refusal.ts';
import { parseJsonBytes } from '../read-body.ts';
import { defineRoute } from '../route.ts';
import { NoParameters, SlugPath } from '../schemas/wire-values.ts';
import { WebhookBody } from '../schemas/trigger.ts';

/** Names of triggers that one process remembers. */
const KNOWN_MAX = 10_000;
/** What a name that is known has to give back. */
const NO_PLACE = (): void => undefined;

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
    if (!deps.webhookRate.admit(JSON.stringify([networkOf(peer), slug]))) {
      return refuse('rate_limited', `webhook ${slug}`, { retryAfterSecs: 1 });
    }
    const stranger = `slug ${networkOf(peer)}`;
    // Names that nobody has given are looked up as often as a peer may fail.
    const place = deps.knownSlugs.has(slug) ? NO_PLACE : deps.strangers.take(stranger);
    if (place === null) {
      return refuse('rate_limited', 'too many webhooks that nobody knows', { retryAfterSecs: 1 });
    }
    const body = await readBytes(deps.settings.maxWebhookBodyBytes);
    if (!body.ok) return body;
    const parse = () => parseJsonBytes(body.value, DOOR_LIMITS);
    const onProven = () => deps.onAdmitted?.(true) ?? Promise.resolve(null);
    const answer = await receiveWebhook(deps, { slug, body: body.value, header, parse, onProven });
    if (answer.ok || answer.error.kind !== 'not_found') {
      remember(deps.knownSlugs, slug);
      place();
    } else {
      deps.knownSlugs.delete(slug);
    }
    if (!answer.ok) return answer;
    if (answer.value.kind === 'challenge')
      return ok({ status: 200, text: { type: 'text/plain; charset=utf-8', content: answer.value.text } });
    const { instanceId, slug: trigger } = answer.value.fired;
    return ok({ status: 202, body: { instance_id: instanceId, trigger } });
  },
});

function remember(known: Set<string>, slug: string): void {
  if (known.size >= KNOWN_MAX) known.clear();
  known.add(slug);
}

export const webhookRoutes = [receive];
