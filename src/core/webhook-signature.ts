import { utf8ToBytes } from '@noble/hashes/utils.js';
import { equalBytes, hmacSha256 } from './digest.ts';

/** Window of a timestamp (http-api.md 30, fixed values). */
const MAX_AGE_SECS = 300;
const MAX_AHEAD_SECS = 60;

/** What proves a webhook of our own scheme (http-api.md 12.3), as the headers have it. */
export interface StepwellProof {
  readonly timestamp: string | undefined;
  readonly nonce: string | undefined;
  readonly signature: string | undefined;
}

/**
 * Checks timestamp, nonce and signature over the raw body; answers the nonce, which the caller must use up, or null. The
 * signature is `v1=` and the base64url form (no padding) of HMAC-SHA-256 over `<timestamp>.<nonce>.<body>`.
 */
export function checkStepwellProof(
  secret: string,
  body: Uint8Array,
  proof: StepwellProof,
  nowMs: number,
): string | null {
  const { timestamp, nonce, signature } = proof;
  if (timestamp === undefined || !/^\d{1,12}$/.test(timestamp)) return null;
  const ageSecs = Math.floor(nowMs / 1000) - Number(timestamp);
  if (ageSecs > MAX_AGE_SECS || ageSecs < -MAX_AHEAD_SECS) return null;
  if (nonce === undefined || !/^[!-~]{16,128}$/.test(nonce)) return null;
  const mac = hmacSha256(secret, joinedBytes(utf8ToBytes(`${timestamp}.${nonce}.`), body));
  return isSameText(signature, `v1=${base64Url(mac)}`) ? nonce : null;
}

/** True when `signature` is GitHub's `sha256=<hex>` over the raw body. There is no timestamp in this scheme. */
export function checkGithubSignature(
  secret: string,
  body: Uint8Array,
  signature: string | undefined,
): boolean {
  const hex = Array.from(hmacSha256(secret, body), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return isSameText(signature, `sha256=${hex}`);
}

/** Compared as written: another spelling of the same bytes is no valid signature. */
function isSameText(given: string | undefined, expected: string): boolean {
  return given !== undefined && equalBytes(utf8ToBytes(given), utf8ToBytes(expected));
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

function base64Url(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3);
    const group = first * 0x10000 + second * 0x100 + third;
    const used = Math.min(bytes.length - at, 3) + 1;
    for (let digit = 0; digit < used; digit += 1) text += BASE64URL.charAt((group >> (18 - 6 * digit)) & 63);
  }
  return text;
}

function joinedBytes(left: Uint8Array, right: Uint8Array): Uint8Array {
  const whole = new Uint8Array(left.length + right.length);
  whole.set(left);
  whole.set(right, left.length);
  return whole;
}
