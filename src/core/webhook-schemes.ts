import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { equalBytes, hmacSha256, hmacSha256OfKey } from './digest.ts';
import { decodeBase64, encodeBase64 } from './expressions/base64.ts';

/** A timestamp may be so far from now, in both directions. */
const TOLERANCE_SECS = 300;
/** More signatures than this are not looked at. */
const SIGNATURES_MAX = 10;

/**
 * Standard Webhooks: `webhook-signature` is a list of `v1,<base64>` over `<id>.<timestamp>.<body>`; the secret is base64,
 * with or without `whsec_` before it. Other versions in the list are passed over.
 */
export function checkStandardSignature(
  secret: string,
  body: Uint8Array,
  proof: {
    readonly id: string | undefined;
    readonly timestamp: string | undefined;
    readonly signature: string | undefined;
  },
  nowMs: number,
): boolean {
  const { id, timestamp, signature } = proof;
  const key = standardKey(secret);
  if (key === undefined || id === undefined || timestamp === undefined || !isFresh(timestamp, nowMs))
    return false;
  const mac = hmacSha256OfKey(key, signedBytes(`${id}.${timestamp}.`, body));
  const expected = `v1,${String.fromCharCode(...encodeBase64(mac))}`;
  return isOneOf(signature?.split(' ') ?? [], expected);
}

/**
 * Stripe: `stripe-signature` is `t=<seconds>,v1=<hex>`, with any number of `v1` and other schemes, over `<t>.<body>`. Only
 * one `t` may be there.
 */
export function checkStripeSignature(
  secret: string,
  body: Uint8Array,
  header: string | undefined,
  nowMs: number,
): boolean {
  const items = (header ?? '').split(',').map((item) => item.trim());
  const valuesOf = (name: string): readonly string[] =>
    items.filter((item) => item.startsWith(`${name}=`)).map((item) => item.slice(name.length + 1));
  const [timestamp, ...others] = valuesOf('t');
  if (timestamp === undefined || others.length > 0 || !isFresh(timestamp, nowMs)) return false;
  const expected = bytesToHex(hmacSha256(secret, signedBytes(`${timestamp}.`, body)));
  return isOneOf(valuesOf('v1'), expected);
}

/** Slack: `x-slack-signature` is `v0=<hex>` over `v0:<timestamp>:<body>`. */
export function checkSlackSignature(
  secret: string,
  body: Uint8Array,
  proof: { readonly timestamp: string | undefined; readonly signature: string | undefined },
  nowMs: number,
): boolean {
  const { timestamp, signature } = proof;
  if (timestamp === undefined || !isFresh(timestamp, nowMs)) return false;
  const expected = `v0=${bytesToHex(hmacSha256(secret, signedBytes(`v0:${timestamp}:`, body)))}`;
  return isOneOf(signature === undefined ? [] : [signature], expected);
}

/** The key of a secret of Standard Webhooks; undefined when it is no base64. */
export function standardKey(secret: string): Uint8Array | undefined {
  return decodeBase64(secret.replace(/^whsec_/, ''));
}

function isFresh(timestamp: string, nowMs: number): boolean {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  return Math.abs(Math.floor(nowMs / 1000) - Number(timestamp)) <= TOLERANCE_SECS;
}

/** Compared as written, each in constant time: another spelling of the same bytes is no valid signature. */
function isOneOf(given: readonly string[], expected: string): boolean {
  const wanted = utf8ToBytes(expected);
  return given.slice(0, SIGNATURES_MAX).some((text) => equalBytes(utf8ToBytes(text), wanted));
}

function signedBytes(prefix: string, body: Uint8Array): Uint8Array {
  const head = utf8ToBytes(prefix);
  const whole = new Uint8Array(head.length + body.length);
  whole.set(head);
  whole.set(body, head.length);
  return whole;
}
