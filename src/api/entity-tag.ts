/** Callers keep it and ask each time whether it still holds; nobody between keeps it for others. */
const CACHE_CONTROL = 'private, no-cache';

/**
 * The answer of a read: with a tag of its content, or 304 without a body when the caller has just that (RFC 9110 13.1.2).
 * The tag is made from the body alone, so it holds on every process and after every restart.
 */
export async function taggedAnswer(body: unknown, ifNoneMatch: string | null): Promise<Response> {
  const text = new TextEncoder().encode(JSON.stringify(body));
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', text));
  const hex = Array.from(digest.slice(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const headers = { etag: `"${hex}"`, 'cache-control': CACHE_CONTROL };
  if (isNamed(headers.etag, ifNoneMatch)) return new Response(null, { status: 304, headers });
  return new Response(text, { status: 200, headers: { ...headers, 'content-type': 'application/json' } });
}

/** Weakly, as the header asks: who compresses an answer may have marked the tag so. */
function isNamed(tag: string, ifNoneMatch: string | null): boolean {
  if (ifNoneMatch === null) return false;
  return ifNoneMatch.split(',').some((part) => {
    const named = part.trim();
    return named === '*' || named.replace(/^W\//, '') === tag;
  });
}
