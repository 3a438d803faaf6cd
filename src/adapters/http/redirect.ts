import { type Header, withoutBodyHeaders, withoutCredentials } from '../../core/network/outbound-headers.ts';

/** One request of an exchange; a redirect leads to the next one. */
export interface Hop {
  readonly method: string;
  readonly url: URL;
  readonly headers: readonly Header[];
  readonly body: string | Uint8Array | undefined;
}

export type NextHop =
  | { readonly type: 'answer' }
  | { readonly type: 'hop'; readonly hop: Hop }
  | { readonly type: 'refused'; readonly message: string };

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * What follows from a status and its `Location` [NET-4]. A redirect status without a location is an answer like any
 * other. From https to http is refused (RULINGS B16). Whether the new URL may be requested is checked by the caller.
 */
export function nextHop(
  hop: Hop,
  status: number,
  location: string | undefined,
  secret: readonly string[],
): NextHop {
  if (!REDIRECTS.has(status) || location === undefined) return { type: 'answer' };
  if (!URL.canParse(location, hop.url))
    return { type: 'refused', message: 'blocked: redirect to an invalid URL' };
  const url = new URL(location, hop.url);
  if (hop.url.protocol === 'https:' && url.protocol === 'http:') {
    return { type: 'refused', message: 'blocked: redirect from https to http' };
  }
  const sameOrigin = url.protocol === hop.url.protocol && url.host === hop.url.host;
  const headers = sameOrigin ? hop.headers : withoutCredentials(hop.headers, secret);
  if (!becomesGet(hop.method, status)) return { type: 'hop', hop: { ...hop, url, headers } };
  return { type: 'hop', hop: { method: 'GET', url, headers: withoutBodyHeaders(headers), body: undefined } };
}

function becomesGet(method: string, status: number): boolean {
  if (status === 303) return method !== 'HEAD';
  return (status === 301 || status === 302) && method === 'POST';
}
