import { sha256HexOfBytes } from '../core/digest.ts';

/** Callers keep it and ask each time whether it still holds; nobody between keeps it for others. */
const CACHE_CONTROL = 'private, no-cache';
const TAG_DIGITS = 32;
const DIGESTED_HERE_MAX = 65_536;

/**
 * The answer of a read: with a tag of its content, or 304 without a body when the caller has just that (RFC 9110 13.1.2).
 * The tag is made from the body alone, so it holds on every process and after every restart.
 */
export async function taggedAnswer(json: string, ifNoneMatch: string | null): Promise<Response> {
  const text = new TextEncoder().encode(json);
  const headers = { etag: `"${await digestOf(text)}"`, 'cache-control': CACHE_CONTROL };
  if (isNamed(headers.etag, ifNoneMatch)) return new Response(null, { status: 304, headers });
  return new Response(text, { status: 200, headers: { ...headers, 'content-type': 'application/json' } });
}

/** Small bodies, which nearly all are, are digested here and now: the way to another thread costs more. */
async function digestOf(text: Uint8Array<ArrayBuffer>): Promise<string> {
  if (text.byteLength <= DIGESTED_HERE_MAX) return sha256HexOfBytes(text).slice(0, TAG_DIGITS);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', text));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.slice(0, TAG_DIGITS);
}

/** Weakly, as the header asks: who compresses an answer may have marked the tag so. */
function isNamed(tag: string, ifNoneMatch: string | null): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch.split(',').some((part) => {
    const named = part.trim();
    return named === '*' || named.replace(/^W\//, '') === tag;
  });
}
