import { createHmac } from 'node:crypto';
import type { EngineApi } from './engine-api.ts';
import { type Narrator, shortId } from './narrator.ts';
import { eventName } from './payloads.ts';
import type { Delivery } from './plan.ts';

export interface Hook {
  readonly slug: string;
  readonly secret: string;
}

/**
 * GitHub's part: sends a webhook signed with the shared secret (X-Hub-Signature-256) and tries again while nobody takes
 * it. Answers the id of the run that it started; a repeat of the same delivery must answer the same run.
 */
export async function deliver(
  delivery: Delivery,
  hook: Hook,
  api: EngineApi,
  narrator: Narrator,
): Promise<{ readonly instanceId: string; readonly repeatId: string | null }> {
  const body = JSON.stringify(delivery.payload.body);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'GitHub-Hookshot/example',
    'x-github-event': delivery.payload.event,
    'x-github-delivery': delivery.deliveryId,
    'x-hub-signature-256': `sha256=${createHmac('sha256', hook.secret).update(body).digest('hex')}`,
  };
  const { bold, dim } = narrator.palette;
  const instanceId = await api.webhook(hook.slug, body, headers);
  narrator.say('webhook', `${bold(eventName(delivery.payload))} starts run ${shortId(instanceId)}`);
  if (!delivery.sentTwice) return { instanceId, repeatId: null };
  const repeatId = await api.webhook(hook.slug, body, headers);
  narrator.say('webhook', dim(`the same delivery again: answered with run ${shortId(repeatId)}`));
  return { instanceId, repeatId };
}
