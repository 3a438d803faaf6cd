import type { Failure } from '../../core/failure.ts';
import { type Json, member } from '../../core/json.ts';
import type { Header } from '../../core/network/outbound-headers.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { headersParam, urlParam } from './outbound-call.ts';
import { countOr, invalidParams } from './params.ts';

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
  readonly responseAs: 'text' | 'json' | 'artifact';
  readonly maxResponseBytes: number;
}

/** Params of `http_request` (handlers.md 5.1). The method is checked before the URL [HTTP-1]. */
export function parseHttpRequestParams(
  params: Json,
  allowInternal: boolean,
): Result<HttpRequestParams, Failure> {
  const method = parseMethod(params);
  if (!method.ok) return method;
  const url = urlParam(NAME, params, 'url', allowInternal);
  if (!url.ok) return url;
  const headers = headersParam(NAME, params, 'headers');
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

function parseResponseAs(params: Json): Result<'text' | 'json' | 'artifact', Failure> {
  const responseAs = given(params, 'response_as') ?? 'text';
  if (responseAs === 'text' || responseAs === 'json' || responseAs === 'artifact') return ok(responseAs);
  return err(invalidParams(NAME, 'response_as', 'must be text, json or artifact'));
}
