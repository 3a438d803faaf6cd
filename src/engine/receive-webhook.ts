import type { Json } from '../core/json.ts';
import { ok, type Result } from '../core/result.ts';
import { checkGithubSignature, checkStepwellProof } from '../core/webhook-signature.ts';
import type { TriggerRecord } from '../ports/store/catalog.ts';
import { type Fired, startFromTrigger, type TriggerCall } from './fire-trigger.ts';
import { notFound, refuse, type Refusal } from './refusal.ts';
import { schemeOf } from './triggers.ts';
import type { UseCaseDeps } from './use-case.ts';

/** A delivery as it came: nothing of it is trusted before its signature was checked. */
export interface WebhookDelivery {
  readonly slug: string;
  readonly body: Uint8Array;
  readonly header: (name: string) => string | undefined;
  /** Reads the body as JSON; called only after the signature was found right. */
  readonly parse: () => Result<Json | undefined, Refusal>;
}

type Proven = Omit<TriggerCall, 'payload'>;

/**
 * Takes a public webhook (http-api.md 12.3, RULINGS B21): 404 for an unknown, disabled or other trigger, 401 without proof
 * (all 401 are alike), then 400 not JSON, 404 no version. A nonce that was used is 401; a delivery id that was seen within
 * 7 days answers with the first instance.
 */
export async function receiveWebhook(
  deps: UseCaseDeps,
  delivery: WebhookDelivery,
): Promise<Result<Fired, Refusal>> {
  const trigger = await deps.store.getTrigger(null, delivery.slug);
  if (trigger === null || trigger.triggerType !== 'webhook' || !trigger.enabled) {
    return notFound('trigger', delivery.slug);
  }
  const proven = prove(trigger, delivery, deps.clock.nowMs());
  if (!proven.ok) return proven;
  const payload = delivery.parse();
  if (!payload.ok) return payload;
  const fired = await startFromTrigger(deps, trigger, { ...proven.value, payload: payload.value });
  if (!fired.ok) return fired;
  return fired.value === 'nonce_used' ? unproven : ok(fired.value);
}

const unproven = refuse('unauthorized', '');

function prove(trigger: TriggerRecord, delivery: WebhookDelivery, nowMs: number): Result<Proven, Refusal> {
  const scheme = schemeOf(trigger.config);
  if (trigger.secret === null || scheme === null) return unproven;
  const proof = scheme === 'github' ? ['x-hub-signature-256'] : ['x-orch8-signature', 'x-trigger-timestamp'];
  // Two headers of one name arrive joined by a comma, which none of them may contain.
  if (proof.some((name) => delivery.header(name)?.includes(',') === true)) {
    return refuse('invalid_argument', 'a signature header is repeated');
  }
  return scheme === 'github'
    ? proveGithub(trigger.secret, delivery)
    : proveStepwell(trigger.secret, delivery, nowMs);
}

function proveStepwell(
  secret: string,
  { slug, body, header }: WebhookDelivery,
  nowMs: number,
): Result<Proven, Refusal> {
  const proof = {
    timestamp: header('x-trigger-timestamp'),
    nonce: header('x-trigger-nonce'),
    signature: header('x-orch8-signature'),
  };
  const nonce = checkStepwellProof(secret, body, proof, nowMs);
  if (nonce === null) return unproven;
  return ok({ event: { source: 'public_webhook' }, config: {}, once: { nonce: { slug, nonce } } });
}

/**
 * GitHub signs no time, so a repeat is known by its delivery id alone. The event's name is no part of the payload; a
 * sequence can route on it as `config._trigger.event`.
 */
function proveGithub(secret: string, { slug, body, header }: WebhookDelivery): Result<Proven, Refusal> {
  if (!checkGithubSignature(secret, body, header('x-hub-signature-256'))) return unproven;
  const deliveryId = header('x-github-delivery') ?? '';
  const event = header('x-github-event') ?? '';
  if (!/^[!-~]{1,128}$/.test(deliveryId) || !/^[!-~]{1,128}$/.test(event)) {
    return refuse('invalid_argument', 'x-github-delivery and x-github-event headers are required');
  }
  return ok({
    event: { source: 'public_webhook', github_event: event, delivery_id: deliveryId },
    config: { _trigger: { event, delivery_id: deliveryId, slug } },
    once: { delivery: { slug, deliveryId } },
  });
}
