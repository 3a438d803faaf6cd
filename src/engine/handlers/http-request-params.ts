import type { Failure } from '../../core/failure.ts';
import { isJsonObject, type Json, member } from '../../core/json.ts';
import { cleanHeaders, type Header, headerTexts } from '../../core/network/outbound-headers.ts';
import { urlProblem } from '../../core/network/outbound-url.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { countOr, invalidParams, requiredText } from './params.ts';

const NAME = 'http_request';
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']);
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 10 * 1024 * 1024;

export interface HttpRequestParams {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly Header[];
  readonly body: string | undefined;
  readonly json: Json | undefined;
  readonly timeoutMs: number;
  readonly responseAs: 'text' | 'json';
  readonly maxResponseBytes: number;
}

/** Params of `http_request` (handlers.md 5.1). The method is checked before the URL [HTTP-1]. */
export function parseHttpRequestParams(
  params: Json,
  allowInternal: boolean,
): Result<HttpRequestParams, Failure> {
  const method = parseMethod(params);
  if (!method.ok) return method;
  const url = parseUrl(params, allowInternal);
  if (!url.ok) return url;
  const headers = parseHeaders(params);
  if (!headers.ok) return headers;
  const content = parseContent(params);
  if (!content.ok) return content;
  const responseAs = parseResponseAs(params);
  if (!responseAs.ok) return responseAs;
  return ok({
    method: method.value,
    url: url.value,
    headers: headers.value,
    ...content.value,
    timeoutMs: countOr(params, 'timeout_ms', DEFAULT_TIMEOUT_MS),
    responseAs: responseAs.value,
    maxResponseBytes: Math.min(countOr(params, 'max_response_bytes', MAX_RESPONSE_BYTES), MAX_RESPONSE_BYTES),
  });
}

/** The member, with null read as absent: a template that resolves to nothing gives null. */
function given(params: Json, param: string): Json | undefined {
  return member(params, param) ?? undefined;
}

function parseMethod(params: Json): Result<string, Failure> {
  const method = given(params, 'method') ?? 'GET';
  const upper = typeof method === 'string' ? method.toUpperCase() : '';
  if (METHODS.has(upper)) return ok(upper);
  return err(invalidParams(NAME, 'method', `must be one of ${[...METHODS].join(', ')}`));
}

function parseUrl(params: Json, allowInternal: boolean): Result<string, Failure> {
  const url = requiredText(NAME, params, 'url');
  if (!url.ok) return url;
  // The text is not repeated in the message: it may hold a secret in its query or user info [NET-10].
  if (!URL.canParse(url.value)) return err(blockedUrl('blocked: url is not a valid absolute URL'));
  const problem = urlProblem(new URL(url.value), { allowInternal });
  return problem === null ? url : err(blockedUrl(problem));
}

function blockedUrl(problem: string): Failure {
  return { message: `${NAME}: ${problem}`, retryable: false, code: 'BLOCKED_URL' };
}

function parseHeaders(params: Json): Result<readonly Header[], Failure> {
  const headers = given(params, 'headers') ?? {};
  if (!isJsonObject(headers)) return err(invalidParams(NAME, 'headers', 'must be an object'));
  const cleaned = cleanHeaders(headerTexts(Object.entries(headers)));
  return cleaned.ok ? cleaned : err(invalidParams(NAME, 'headers', `are not usable: ${cleaned.error}`));
}

function parseContent(params: Json): Result<Pick<HttpRequestParams, 'body' | 'json'>, Failure> {
  const body = given(params, 'body');
  if (body !== undefined && typeof body !== 'string') {
    return err(invalidParams(NAME, 'body', 'must be a string; use json to send another value'));
  }
  const json = member(params, 'json');
  if (body !== undefined && json !== undefined)
    return err(invalidParams(NAME, 'json', 'cannot be given together with body'));
  return ok({ body, json });
}

function parseResponseAs(params: Json): Result<'text' | 'json', Failure> {
  const responseAs = given(params, 'response_as') ?? 'text';
  if (responseAs === 'text' || responseAs === 'json') return ok(responseAs);
  if (responseAs === 'artifact')
    return err(invalidParams(NAME, 'response_as', 'artifact needs a blob store, which this version has not'));
  return err(invalidParams(NAME, 'response_as', 'must be text or json'));
}
