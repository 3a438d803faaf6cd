import type { Clock, Entropy } from '../../ports/system.ts';
import type { ApiError } from './api-error.ts';
import { exchange, type FetchLike } from './exchange.ts';
import { pause } from './time-limit.ts';

/** Where calls go, and how. */
export interface Connection {
  readonly url: string;
  /** Sent with every call; null: none, which only an administrator may do. */
  readonly tenant: string | null;
  readonly apiKey: string | undefined;
  /** For one try. */
  readonly timeoutMs: number;
  readonly maxTries: number;
  readonly fetch: FetchLike;
  readonly clock: Pick<Clock, 'after'>;
  readonly entropy: Entropy;
}

/** A part of a list. */
export interface ListPage {
  /** Default and most: 1000. */
  readonly limit?: number;
  readonly offset?: number;
}

/** Options of every call. */
export interface CallOptions {
  /** Ends the call; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** For one try, instead of the client's own. */
  readonly timeoutMs?: number | undefined;
  /** Tries in all, instead of the client's own; calls that may not be repeated have one. */
  readonly maxTries?: number | undefined;
  /**
   * Names a call that changes something, 1 to 255 printable ASCII characters: for 24 hours the same call under the same name,
   * also from another process, is answered like the first one and does nothing more. Made by the client when absent.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Reads are, and what has an id of its own: a repeat has the effect of one. `by_key`: a repeat has, since it is sent with
   * an Idempotency-Key. Others are sent once.
   */
  readonly idempotent: boolean | 'by_key';
}

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Sends a call and answers its body. Throws an ApiError, or the reason of the caller's signal. */
export type Send = <Answer>(call: Call, options?: CallOptions) => Promise<Answer>;

const API_PATH = '/api/v1';
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5000;
/** A server may ask for more patience than our own back-off, but not for any. */
const LONGEST_RETRY_AFTER_MS = 60_000;

export function createSend(connection: Connection): Send {
  const { clock, entropy, maxTries, timeoutMs } = connection;
  return async <Answer>(call: Call, options: CallOptions = {}): Promise<Answer> => {
    const triesMax = call.idempotent === false ? 1 : (options.maxTries ?? maxTries);
    const request = {
      method: call.method,
      url: urlOf(connection.url, call),
      headers: { ...headersOf(connection, call), ...keyOf(entropy, call, options, triesMax) },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      timeoutMs: options.timeoutMs ?? timeoutMs,
      signal: options.signal,
    };
    let isUnclear = false;
    for (let tryNo = 1; ; tryNo += 1) {
      const answer = await exchange(connection, request);
      // oxlint-disable-next-line typescript/consistent-type-assertions -- the boundary: the server's schema says what it is
      if (answer.ok) return answer.value as Answer;
      const { error } = answer;
      if (!error.isPassing || tryNo >= triesMax) throw isUnclear ? error.asRepeat() : error;
      isUnclear ||= error.status !== 429;
      await pause(clock, pauseMs(entropy, tryNo, error), options.signal);
    }
  };
}

/** Doubles with every try; half of it is chance, so that clients that failed together do not come back together. */
function pauseMs(entropy: Entropy, tryNo: number, error: ApiError): number {
  const growing = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tryNo - 1));
  const chance = (entropy.bytes(1)[0] ?? 0) / 255;
  const asked = Math.min(LONGEST_RETRY_AFTER_MS, error.retryAfterMs ?? 0);
  return Math.max(asked, growing * (0.5 + chance / 2));
}

function urlOf(base: string, call: Call): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  const text = query.toString();
  return `${base.replace(/\/+$/, '')}${API_PATH}${call.path}${text === '' ? '' : `?${text}`}`;
}

/** A caller's own key, or one made for a call that may have to be sent again. */
function keyOf(
  entropy: Entropy,
  { method, idempotent }: Call,
  { idempotencyKey }: CallOptions,
  triesMax: number,
): { readonly 'idempotency-key'?: string } {
  if (idempotencyKey !== undefined && method !== 'GET' && method !== 'DELETE') {
    return { 'idempotency-key': quoted(idempotencyKey) };
  }
  if (idempotent !== 'by_key' || triesMax === 1) return {};
  const made = Array.from(entropy.bytes(16), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return { 'idempotency-key': quoted(made) };
}

/** A string as RFC 9651 writes it. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, (character) => `\\${character}`)}"`;
}

function headersOf(connection: Connection, call: Call): Record<string, string> {
  return {
    accept: 'application/json',
    ...(connection.tenant === null ? {} : { 'x-tenant-id': headerText(connection.tenant) }),
    ...(connection.apiKey === undefined ? {} : { 'x-api-key': connection.apiKey }),
    ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...call.headers,
  };
}

/** A header holds bytes; text beyond ASCII goes as its UTF-8, one character for each byte. */
function headerText(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

/** A part of a path that comes from outside. */
export function segment(text: string): string {
  return encodeURIComponent(text);
}
