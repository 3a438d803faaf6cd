import { type Json, type JsonObject, isJsonObject, member } from '../core/json.ts';
import { ok, type Result } from '../core/result.ts';
import {
  checkSlackSignature,
  checkStandardSignature,
  checkStripeSignature,
} from '../core/webhook-schemes.ts';
import { checkGithubSignature, checkStepwellProof } from '../core/webhook-signature.ts';
import type { StartRequest } from '../ports/store/accept.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { SignatureScheme } from './triggers.ts';

/** What a proof is made of. Nothing of it is trusted before the signature was checked. */
export interface SignedDelivery {
  readonly slug: string;
  readonly body: Uint8Array;
  readonly header: (name: string) => string | undefined;
}

/** What is known of a delivery whose signature is right. */
export interface Proven {
  /** Becomes `metadata._trigger_event`. */
  readonly event: (payload: Json | undefined) => JsonObject;
  readonly config: JsonObject;
  /** What makes it count once. */
  readonly once: (payload: Json | undefined) => Pick<StartRequest, 'delivery' | 'nonce'>;
}

export const unproven = refuse('unauthorized', '');

type Prove = (secret: string, delivery: SignedDelivery, nowMs: number) => Result<Proven, Refusal>;

interface Scheme {
  /** Headers that may stand there once; two of one name arrive joined by a comma. */
  readonly single: readonly string[];
  readonly prove: Prove;
}

const SOURCE = { source: 'public_webhook' };

const SCHEMES: Readonly<Record<SignatureScheme, Scheme>> = {
  stepwell: { single: ['x-orch8-signature', 'x-trigger-timestamp'], prove: proveStepwell },
  github: { single: ['x-hub-signature-256'], prove: proveGithub },
  standard: { single: ['webhook-id', 'webhook-timestamp'], prove: proveStandard },
  stripe: { single: [], prove: proveStripe },
  slack: { single: ['x-slack-signature', 'x-slack-request-timestamp'], prove: proveSlack },
};

/** Checks the proof of a delivery: 400 for a repeated header, 401 without a right signature. */
export function proveDelivery(
  scheme: SignatureScheme,
  secret: string,
  delivery: SignedDelivery,
  nowMs: number,
): Result<Proven, Refusal> {
  const { single, prove } = SCHEMES[scheme];
  if (single.some((name) => delivery.header(name)?.includes(',') === true))
    return refuse('invalid_argument', 'a signature header is repeated');
  return prove(secret, delivery, nowMs);
}

function proveStepwell(
  secret: string,
  { slug, body, header }: SignedDelivery,
  nowMs: number,
): Result<Proven, Refusal> {
  const proof = {
    timestamp: header('x-trigger-timestamp'),
    nonce: header('x-trigger-nonce'),
    signature: header('x-orch8-signature'),
  };
  const nonce = checkStepwellProof(secret, body, proof, nowMs);
  if (nonce === null) return unproven;
  return ok({ event: () => SOURCE, config: {}, once: () => ({ nonce: { slug, nonce } }) });
}

/**
 * GitHub signs no time, so a repeat is known by its delivery id alone. The event's name is no part of the payload; a
 * sequence can route on it as `config._trigger.event`.
 */
function proveGithub(secret: string, { slug, body, header }: SignedDelivery): Result<Proven, Refusal> {
  if (!checkGithubSignature(secret, body, header('x-hub-signature-256'))) return unproven;
  const deliveryId = header('x-github-delivery') ?? '';
  const event = header('x-github-event') ?? '';
  if (!isDeliveryId(deliveryId) || !isDeliveryId(event)) {
    return refuse('invalid_argument', 'x-github-delivery and x-github-event headers are required');
  }
  return ok({
    event: () => ({ ...SOURCE, github_event: event, delivery_id: deliveryId }),
    config: { _trigger: { event, delivery_id: deliveryId, slug } },
    once: () => ({ delivery: { slug, deliveryId } }),
  });
}

/** The id is signed and the same in each attempt. */
function proveStandard(
  secret: string,
  { slug, body, header }: SignedDelivery,
  nowMs: number,
): Result<Proven, Refusal> {
  const id = header('webhook-id');
  const proof = { id, timestamp: header('webhook-timestamp'), signature: header('webhook-signature') };
  if (id === undefined || !isDeliveryId(id) || !checkStandardSignature(secret, body, proof, nowMs))
    return unproven;
  return ok(provenDelivery(slug, () => id));
}

/** Stripe names its event in the body, Slack as well; a body without such an id counts each time. */
function proveStripe(
  secret: string,
  { slug, body, header }: SignedDelivery,
  nowMs: number,
): Result<Proven, Refusal> {
  if (!checkStripeSignature(secret, body, header('stripe-signature'), nowMs)) return unproven;
  return ok(provenDelivery(slug, (payload) => idIn(payload, 'id')));
}

function proveSlack(
  secret: string,
  { slug, body, header }: SignedDelivery,
  nowMs: number,
): Result<Proven, Refusal> {
  const proof = { timestamp: header('x-slack-request-timestamp'), signature: header('x-slack-signature') };
  if (!checkSlackSignature(secret, body, proof, nowMs)) return unproven;
  return ok(provenDelivery(slug, (payload) => idIn(payload, 'event_id')));
}

function provenDelivery(slug: string, idOf: (payload: Json | undefined) => string | null): Proven {
  return {
    config: {},
    event: (payload) => {
      const deliveryId = idOf(payload);
      return deliveryId === null ? SOURCE : { ...SOURCE, delivery_id: deliveryId };
    },
    once: (payload) => {
      const deliveryId = idOf(payload);
      return deliveryId === null ? {} : { delivery: { slug, deliveryId } };
    },
  };
}

function idIn(payload: Json | undefined, name: string): string | null {
  const id = isJsonObject(payload) ? member(payload, name) : undefined;
  return typeof id === 'string' && isDeliveryId(id) ? id : null;
}

/** Printable, without blanks, no longer than what a provider would choose. */
function isDeliveryId(text: string): boolean {
  return /^[!-~]{1,128}$/.test(text);
}
