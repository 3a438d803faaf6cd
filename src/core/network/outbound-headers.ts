import { err, ok, type Result } from '../result.ts';

export type Header = readonly [name: string, value: string];

/** The author's headers that the connection owns; they are dropped [NET-5]. */
const OWNED_BY_THE_CONNECTION: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'keep-alive',
  'te',
  'trailer',
  // With `100-continue` the body would wait for an answer that may never come.
  'expect',
  'http2-settings',
  'forwarded',
]);

const OWNED_PREFIXES = ['proxy-', 'x-forwarded-'];

/** Never sent to another origin than the one they were written for [NET-4]. */
const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization']);

/** Describe a body; they go when a redirect takes the body away. */
const BODY_HEADERS: ReadonlySet<string> = new Set([
  'content-type',
  'content-encoding',
  'content-language',
  'content-location',
]);

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What a field value may hold on the wire: tab, printable ASCII and the bytes above it. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * The headers that may be sent [NET-5]. Dropped: names that are no tokens and names the connection owns. A value with
 * CR, LF, NUL or another character that has no place in a header is an error (its text names the header, not the value).
 * A name given twice in different letter case is sent once, with the later value.
 */
export function cleanHeaders(headers: Iterable<Header>): Result<Header[], string> {
  const kept = new Map<string, Header>();
  for (const [name, value] of headers) {
    if (!TOKEN.test(name) || isOwned(name.toLowerCase())) continue;
    if (!FIELD_VALUE.test(value))
      return err(`header ${name} has a value with characters that are not allowed`);
    kept.set(name.toLowerCase(), [name, value]);
  }
  return ok([...kept.values()]);
}

function isOwned(name: string): boolean {
  return OWNED_BY_THE_CONNECTION.has(name) || OWNED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** The author's header members as texts [NET-5]: numbers and booleans are written out, other values are ignored. */
export function headerTexts(members: Iterable<readonly [string, unknown]>): Header[] {
  const headers: Header[] = [];
  for (const [name, value] of members) {
    if (typeof value === 'string') headers.push([name, value]);
    else if (typeof value === 'number' || typeof value === 'boolean') headers.push([name, String(value)]);
  }
  return headers;
}

/** True when a header of this name is among them, in any letter case. */
function hasHeader(headers: readonly Header[], name: string): boolean {
  return headers.some(([present]) => present.toLowerCase() === name.toLowerCase());
}

/** With the header added unless the author has set it. */
export function withDefaultHeader(
  headers: readonly Header[],
  name: string,
  value: string,
): readonly Header[] {
  return hasHeader(headers, name) ? headers : [...headers, [name, value]];
}

/** What is left after host, port or scheme changed [NET-4]. `secret` names headers whose value came from a credential. */
export function withoutCredentials(headers: readonly Header[], secret: readonly string[]): Header[] {
  const secretNames = new Set(secret.map((name) => name.toLowerCase()));
  return headers.filter(([name]) => {
    const lower = name.toLowerCase();
    return !CREDENTIAL_HEADERS.has(lower) && !secretNames.has(lower);
  });
}

/** What is left when a redirect turned the request into one without body [NET-4]. */
export function withoutBodyHeaders(headers: readonly Header[]): Header[] {
  return headers.filter(([name]) => !BODY_HEADERS.has(name.toLowerCase()));
}

/** Methods that get no `Idempotency-Key` [NET-9]. */
export function carriesIdempotencyKey(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD';
}
