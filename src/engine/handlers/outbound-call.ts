import { toJson } from '../../core/call-output.ts';
import type { Failure } from '../../core/failure.ts';
import { isJsonObject, type Json, member } from '../../core/json.ts';
import {
  carriesIdempotencyKey,
  cleanHeaders,
  type Header,
  headerTexts,
  withDefaultHeader,
} from '../../core/network/outbound-headers.ts';
import { shownUrl, urlProblem } from '../../core/network/outbound-url.ts';
import { err, type Result } from '../../core/result.ts';
import { cutText, lineText, storableText } from '../../core/storable-text.ts';
import type { OutboundProblem, OutboundRequest } from '../../ports/effects.ts';
import type { StepCall } from '../../ports/step-handler.ts';
import { invalidParams, requiredText } from './params.ts';
import { retryAfterMs } from './retry-after.ts';

/** What every handler that sends requests has in common (handlers.md 2 and [HTTP-4]); `handler` is its name. */

/** Longest body kept in the details of a failure [HTTP-4]. */
const MAX_ERROR_BODY_BYTES = 64 * 1024;

/** Headers that say nothing about the caller, so that a redirect to another origin may keep them. */
const HARMLESS_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'idempotency-key',
  'user-agent',
]);

/** A param that must be a URL which may be requested ([NET-1], [NET-2] as far as the name tells). */
export function urlParam(
  handler: string,
  params: Json,
  name: string,
  allowInternal: boolean,
): Result<string, Failure> {
  const url = requiredText(handler, params, name);
  if (!url.ok) return url;
  // The text is not repeated in the message: it may hold a secret in its query or user info [NET-10].
  if (!URL.canParse(url.value))
    return err(blockedUrl(handler, `blocked: ${name} is not a valid absolute URL`));
  const problem = urlProblem(new URL(url.value), { allowInternal });
  return problem === null ? url : err(blockedUrl(handler, problem));
}

function blockedUrl(handler: string, problem: string): Failure {
  return { message: `${handler}: ${problem}`, retryable: false, code: 'BLOCKED_URL' };
}

/** A param with header names and values ([NET-5]); null counts as absent. */
export function headersParam(
  handler: string,
  params: Json,
  name: string,
): Result<readonly Header[], Failure> {
  const headers = member(params, name) ?? {};
  if (!isJsonObject(headers)) return err(invalidParams(handler, name, 'must be an object'));
  const cleaned = cleanHeaders(headerTexts(Object.entries(headers)));
  return cleaned.ok ? cleaned : err(invalidParams(handler, name, `are not usable: ${cleaned.error}`));
}

export interface RequestParts {
  readonly method: string;
  readonly url: string;
  /** The author's, cleaned. */
  readonly headers: readonly Header[];
  readonly body: string | Uint8Array | undefined;
  /** Unless the author gives another one; for a body that is not empty. */
  readonly contentType: string;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
}

/** The request of a step, with the headers of [NET-9] and [HTTP-2]. */
export function requestOf(parts: RequestParts, call: StepCall): OutboundRequest {
  const { method, url, body } = parts;
  let headers: readonly Header[] = parts.headers;
  if (body !== undefined && body.length > 0)
    headers = withDefaultHeader(headers, 'Content-Type', parts.contentType);
  if (carriesIdempotencyKey(method)) {
    headers = withDefaultHeader(headers, 'Idempotency-Key', headerSafe(call.idempotencyKey));
  }
  return {
    method,
    url,
    headers,
    // The call does not say which values came from a credential [NET-4], so none of the author's own headers follows
    // a redirect to another origin.
    secretHeaders: parts.headers
      .map(([name]) => name)
      .filter((name) => !HARMLESS_HEADERS.has(name.toLowerCase())),
    ...(body === undefined ? {} : { body }),
    timeoutMs: Math.max(0, Math.min(parts.timeoutMs, call.remainingTimeMs())),
    maxResponseBytes: parts.maxResponseBytes,
    signal: call.signal,
  };
}

/** Block ids may be any text; what a header cannot carry is percent-encoded, so that the key stays unique and stable. */
function headerSafe(text: string): string {
  return /^[\x21-\x7e]*$/.test(text) ? text : encodeURIComponent(storableText(text));
}

/** Bytes that are not UTF-8 become U+FFFD [HTTP-3]. */
export function textOf(body: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
}

/** The JSON of a body; undefined when it is none, or JSON that cannot be stored (NUL, lone surrogates, too deep). */
export function parseBody(text: string): Json | undefined {
  try {
    const json = toJson(JSON.parse(text.replace(/^\ufeff/, '')));
    return json.ok ? json.value : undefined;
  } catch {
    return undefined;
  }
}

export interface FailedAnswer {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly text: string;
}

/** A status that is no success, in the classes of [HTTP-4]. */
export function statusFailure(
  handler: string,
  answer: FailedAnswer,
  asked: { readonly method: string; readonly url: string },
  nowMs: number,
  showBody: (text: string) => Json = (text) => text,
): Failure {
  const { status } = answer;
  const body = showBody(cutText(storableText(answer.text), MAX_ERROR_BODY_BYTES));
  const waitMs = mayNameAWait(status) ? retryAfterMs(answer.headers, nowMs) : null;
  return {
    message: lineText(`${handler}: ${asked.method} ${shownUrl(new URL(asked.url))} answered ${status}`),
    retryable: status >= 500 || status === 408 || status === 425 || status === 429,
    code: 'HTTP_ERROR',
    details: waitMs === null ? { status, body } : { status, body, retry_after_ms: waitMs },
    ...(waitMs === null ? {} : { retryAfterMs: waitMs }),
  };
}

/** Statuses whose `Retry-After` counts: those of the table of [HTTP-4], and 503, for which HTTP made the header. */
function mayNameAWait(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status === 503;
}

/** `aborted` counts as time used up: after a cancel nobody asks for the class of the failure any more. */
export function problemFailure(handler: string, reason: OutboundProblem, message: string): Failure {
  const text = lineText(`${handler}: ${message}`);
  switch (reason) {
    case 'blocked':
      return { message: text, retryable: false, code: 'BLOCKED_URL' };
    case 'too_large':
      return { message: text, retryable: false, code: 'RESPONSE_TOO_LARGE' };
    case 'dns':
      return { message: text, retryable: true, code: 'DNS_ERROR' };
    case 'network':
      return { message: text, retryable: true, code: 'NETWORK_ERROR' };
    case 'timeout':
    case 'aborted':
      return { message: text, retryable: true, code: 'TIMEOUT' };
  }
}
