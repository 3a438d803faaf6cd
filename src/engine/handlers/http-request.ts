import type { Failure } from '../../core/failure.ts';
import { canonicalJson, type Json } from '../../core/json.ts';
import {
  carriesIdempotencyKey,
  type Header,
  withDefaultHeader,
} from '../../core/network/outbound-headers.ts';
import { shownUrl } from '../../core/network/outbound-url.ts';
import type { HttpEffects, OutboundProblem, OutboundRequest } from '../../ports/effects.ts';
import type { StepCall, StepHandler, StepOutcome } from '../../ports/step-handler.ts';
import { toJson } from '../../core/call-output.ts';
import { type HttpRequestParams, parseHttpRequestParams } from './http-request-params.ts';
import { retryAfterMs } from './retry-after.ts';
import { cutText, lineText, storableText } from '../../core/storable-text.ts';

const NAME = 'http_request';

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

export interface HttpRequestSettings {
  /** The process setting of [NET-6]; default false. Must be the one the HTTP client was made with. */
  readonly allowInternal?: boolean;
}

/**
 * `http_request` (handlers.md 5.1) over the given outbound client. Result for 200-399 `{"status", "body"}`; other
 * statuses are HTTP_ERROR, retryable for 5xx, 408, 425 and 429; see [HTTP-4] for the rest. In a dry run a stub [HTTP-5].
 */
export function createHttpRequestHandler(
  effects: HttpEffects,
  settings: HttpRequestSettings = {},
): StepHandler {
  const allowInternal = settings.allowInternal ?? false;
  const parse = (params: Json) => parseHttpRequestParams(params, allowInternal);
  return {
    name: NAME,
    kind: 'effect',
    checkParams: (params) => {
      const parsed = parse(params);
      return parsed.ok ? null : parsed.error;
    },
    dryRun: (call) => {
      const parsed = parse(call.params);
      if (!parsed.ok) return { ok: false, failure: parsed.error };
      const { method, url } = parsed.value;
      const output = { dry_run: true, handler: NAME, would: { method, url }, status: 0, body: '' };
      return { ok: true, output };
    },
    run: async (call) => {
      const parsed = parse(call.params);
      return parsed.ok ? await request(effects, parsed.value, call) : { ok: false, failure: parsed.error };
    },
  };
}

async function request(
  effects: HttpEffects,
  params: HttpRequestParams,
  call: StepCall,
): Promise<StepOutcome> {
  const result = await effects.send(outboundRequest(params, call));
  if (!result.ok) return { ok: false, failure: problemFailure(result.reason, result.message) };
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(result.body);
  const answer: Answer = { status: result.status, headers: result.headers, text };
  if (result.status >= 200 && result.status <= 399) return success(answer, params);
  return { ok: false, failure: statusFailure(answer, params, call.nowMs) };
}

interface Answer {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly text: string;
}

function outboundRequest(params: HttpRequestParams, call: StepCall): OutboundRequest {
  let headers: readonly Header[] = params.headers;
  const body = params.json === undefined ? params.body : canonicalJson(params.json);
  if (body !== undefined && body !== '')
    headers = withDefaultHeader(headers, 'Content-Type', 'application/json');
  if (carriesIdempotencyKey(params.method)) {
    headers = withDefaultHeader(headers, 'Idempotency-Key', headerSafe(call.idempotencyKey));
  }
  return {
    method: params.method,
    url: params.url,
    headers,
    // The call does not say which values came from a credential [NET-4], so none of the author's own headers follows
    // a redirect to another origin.
    secretHeaders: params.headers
      .map(([name]) => name)
      .filter((name) => !HARMLESS_HEADERS.has(name.toLowerCase())),
    ...(body === undefined ? {} : { body }),
    timeoutMs: Math.max(0, Math.min(params.timeoutMs, call.remainingTimeMs())),
    maxResponseBytes: params.maxResponseBytes,
    signal: call.signal,
  };
}

/** Block ids may be any text; what a header cannot carry is percent-encoded, so that the key stays unique and stable. */
function headerSafe(text: string): string {
  return /^[\x21-\x7e]*$/.test(text) ? text : encodeURIComponent(storableText(text));
}

function success(answer: Answer, params: HttpRequestParams): StepOutcome {
  const { status } = answer;
  if (params.responseAs === 'text') return { ok: true, output: { status, body: storableText(answer.text) } };
  const body = parseBody(answer.text);
  if (body !== undefined) return { ok: true, output: { status, body } };
  const message = `${NAME}: the answer of ${shownUrl(new URL(params.url))} is not usable JSON`;
  return { ok: false, failure: { message, retryable: false, code: 'BAD_RESPONSE', details: { status } } };
}

/** The JSON of a body; undefined when it is none, or JSON that cannot be stored (NUL, lone surrogates, too deep). */
function parseBody(text: string): Json | undefined {
  try {
    const json = toJson(JSON.parse(text.replace(/^\ufeff/, '')));
    return json.ok ? json.value : undefined;
  } catch {
    return undefined;
  }
}

function statusFailure(answer: Answer, params: HttpRequestParams, nowMs: number): Failure {
  const { status } = answer;
  const body = cutText(storableText(answer.text), MAX_ERROR_BODY_BYTES);
  const waitMs = mayNameAWait(status) ? retryAfterMs(answer.headers, nowMs) : null;
  return {
    message: lineText(`${NAME}: ${params.method} ${shownUrl(new URL(params.url))} answered ${status}`),
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
function problemFailure(reason: OutboundProblem, message: string): Failure {
  const text = lineText(`${NAME}: ${message}`);
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
