import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { type RequestOptions, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isBlockedAddress } from '../../core/network/blocked-address.ts';
import type { Header } from '../../core/network/outbound-headers.ts';
import type { Reached } from './guarded-client.ts';
import { readBody } from './read-body.ts';
import type { Hop } from './redirect.ts';
import type { ResolvedAddress } from './resolve-host.ts';

export interface ExchangeSettings {
  /** The checked addresses; the connection goes to one of these and to nothing else [NET-3]. */
  readonly addresses: readonly ResolvedAddress[];
  readonly allowInternal: boolean;
  /** Aborting it destroys the connection, whatever it is doing. */
  readonly signal: AbortSignal;
  /** Further certificates of authorities to trust, as PEM. Certificates are always checked. */
  readonly trustedCertificates?: string | undefined;
}

/** What Node's client meets: a checked address is neither refused nor unknown. */
export type ExchangeResult = Exclude<Reached, { readonly reason: 'blocked' | 'dns' }>;

/** Sends one request and waits for the head of the answer. One connection per request, never shared nor kept. */
export type Exchange = (hop: Hop, settings: ExchangeSettings) => Promise<ExchangeResult>;

/** The exchange over Node's own client. */
export const nodeExchange: Exchange = (hop, settings) =>
  new Promise((settle) => {
    const request = open(hop, settings);
    request.once('response', (response) => settle(answer(request, response, hop)));
    // A late error, after the head has come, is seen by whoever reads the body.
    request.on('error', (error) => settle({ ok: false, reason: 'network', code: errorCode(error) }));
    request.once('socket', (socket) => {
      socket.once('connect', () => {
        const used = socket.remoteAddress;
        if (!settings.allowInternal && (used === undefined || isBlockedAddress(used))) request.destroy();
      });
    });
    request.end(hop.body);
  });

function open(hop: Hop, settings: ExchangeSettings): ClientRequest {
  const { url } = hop;
  const options: RequestOptions = {
    method: hop.method,
    hostname: url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname,
    port: url.port === '' ? undefined : Number(url.port),
    path: `${url.pathname}${url.search}`,
    // No pool: a connection kept from an earlier request would skip the check of this one.
    agent: false,
    lookup: pinnedLookup(settings.addresses),
    signal: settings.signal,
  };
  const request =
    url.protocol === 'https:'
      ? httpsRequest({
          ...options,
          // Written out, so that no environment variable can switch the check off.
          rejectUnauthorized: true,
          minVersion: 'TLSv1.2',
          ...(settings.trustedCertificates === undefined ? {} : { ca: settings.trustedCertificates }),
        })
      : httpRequest(options);
  for (const [name, value] of hop.headers) request.setHeader(name, value);
  // Without it methods that seldom have a body would send theirs without a length.
  if (hop.body !== undefined) request.setHeader('Content-Length', Buffer.byteLength(hop.body));
  return request;
}

/** Answers every question with the checked addresses. */
function pinnedLookup(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const [first] = addresses;
    if (options.all === true || first === undefined) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}

function answer(request: ClientRequest, response: IncomingMessage, hop: Hop): ExchangeResult {
  const headers: Header[] = [];
  for (let index = 0; index + 1 < response.rawHeaders.length; index += 2) {
    headers.push([response.rawHeaders[index] ?? '', response.rawHeaders[index + 1] ?? '']);
  }
  const status = response.statusCode ?? 0;
  // Answers without a body may still name a coding.
  const bodyless = hop.method === 'HEAD' || status === 204 || status === 304;
  return {
    ok: true,
    status,
    headers,
    location: locationOf(response),
    readBody: async (maxBytes) =>
      bodyless ? { ok: true, body: new Uint8Array(0) } : await readBody(response, maxBytes),
    close: () => {
      request.destroy();
    },
  };
}

/** The parser gives header bytes as Latin-1, while servers write UTF-8. */
function locationOf({ headers: { location } }: IncomingMessage): string | undefined {
  return location === undefined ? undefined : Buffer.from(location, 'latin1').toString('utf8');
}

/** The stable code of a connection or TLS error, `ECONNREFUSED` or `CERT_HAS_EXPIRED`. */
function errorCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
