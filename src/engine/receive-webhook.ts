import { isJsonObject, type Json, member } from '../core/json.ts';
import { err, ok, type Result } from '../core/result.ts';
import { type Fired, startFromTrigger } from './fire-trigger.ts';
import { notFound, type Refusal } from './refusal.ts';
import { schemeOf, type SignatureScheme } from './triggers.ts';
import type { UseCaseDeps } from './use-case.ts';
import { proveDelivery, type SignedDelivery, unproven } from './webhook-proofs.ts';

/** A delivery as it came. */
export interface WebhookDelivery extends SignedDelivery {
  /** Reads the body as JSON; called only after the signature was found right. */
  readonly parse: () => Result<Json | undefined, Refusal>;
  /** Called before a proven delivery starts something; what it refuses ends there. */
  readonly onProven: () => Promise<Refusal | null>;
}

export type WebhookAnswer =
  | { readonly kind: 'started'; readonly fired: Fired }
  /** The provider asks whether somebody is there: the text goes back, and nothing is started. */
  | { readonly kind: 'challenge'; readonly text: string };

/**
 * Takes a public webhook (http-api.md 12.3, RULINGS B21): 404 for an unknown, disabled or other trigger, 401 without proof
 * (all 401 are alike), then 400 not JSON, 404 no version. A nonce that was used is 401; a delivery id that was seen within
 * 7 days answers with the first instance.
 */
export async function receiveWebhook(
  deps: UseCaseDeps,
  delivery: WebhookDelivery,
): Promise<Result<WebhookAnswer, Refusal>> {
  const trigger = await deps.store.getTrigger(null, delivery.slug);
  if (trigger === null || trigger.triggerType !== 'webhook' || !trigger.enabled) {
    return notFound('trigger', delivery.slug);
  }
  const scheme = schemeOf(trigger.config);
  if (trigger.secret === null || scheme === null) return unproven;
  const proven = proveDelivery(scheme, trigger.secret, delivery, deps.clock.nowMs());
  if (!proven.ok) return proven;
  const parsed = delivery.parse();
  if (!parsed.ok) return parsed;
  const payload = parsed.value;
  const text = challengeOf(scheme, payload);
  if (text !== null) return ok({ kind: 'challenge', text });
  const refusal = await delivery.onProven();
  if (refusal !== null) return err(refusal);
  const { event, config, once } = proven.value;
  const call = { payload, event: event(payload), config, once: once(payload) };
  const fired = await startFromTrigger(deps, trigger, call);
  if (!fired.ok) return fired;
  return fired.value === 'nonce_used' ? unproven : ok({ kind: 'started', fired: fired.value });
}

/** Slack asks once, when the address is entered; it signs the question like any other request. */
function challengeOf(scheme: SignatureScheme, payload: Json | undefined): string | null {
  if (scheme !== 'slack' || !isJsonObject(payload)) return null;
  const challenge = member(payload, 'challenge');
  return member(payload, 'type') === 'url_verification' && typeof challenge === 'string' ? challenge : null;
}
