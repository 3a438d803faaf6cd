import type { Json } from '../core/json.ts';
import type { Refusal, RefusalKind } from '../engine/refusal.ts';

type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 503;

interface ErrorKind {
  readonly status: ErrorStatus;
  /** Part of the contract: clients may search for it. */
  readonly prefix: string;
  readonly code: string;
}

/** http-api.md 1.5. */
const ERROR_KINDS: Readonly<Record<RefusalKind, ErrorKind>> = {
  invalid: { status: 400, prefix: 'invalid argument: ', code: 'invalid_argument' },
  unauthorized: { status: 401, prefix: '', code: 'unauthorized' },
  forbidden: { status: 403, prefix: 'forbidden: ', code: 'forbidden' },
  not_found: { status: 404, prefix: 'not found: ', code: 'not_found' },
  method_not_allowed: { status: 405, prefix: 'method not allowed: ', code: 'method_not_allowed' },
  exists: { status: 409, prefix: 'already exists: ', code: 'already_exists' },
  conflict: { status: 409, prefix: 'conflict: ', code: 'conflict' },
  too_large: { status: 413, prefix: 'payload too large: ', code: 'payload_too_large' },
  unsupported_media_type: { status: 415, prefix: 'unsupported media type: ', code: 'unsupported_media_type' },
  unprocessable: { status: 422, prefix: 'unprocessable entity: ', code: 'unprocessable_entity' },
  rate_limited: { status: 429, prefix: 'rate limit exceeded: ', code: 'rate_limit_exceeded' },
  unavailable: { status: 503, prefix: 'unavailable: ', code: 'unavailable' },
};

export interface ErrorBody {
  readonly error: string;
  readonly code: string;
  readonly details?: Json;
  readonly request_id: string;
}

/** The one place where a refusal becomes an answer (RULINGS B12). */
export function errorAnswer(refusal: Refusal, requestId: string): Response {
  const { status, prefix, code } = ERROR_KINDS[refusal.kind];
  const body: ErrorBody = {
    error: prefix + refusal.message,
    code: refusal.code ?? code,
    ...(refusal.details === undefined ? {} : { details: refusal.details }),
    request_id: requestId,
  };
  const response = jsonAnswer(status, body);
  if (status === 401) response.headers.set('www-authenticate', 'Bearer');
  if (refusal.retryAfterSecs !== undefined)
    response.headers.set('retry-after', String(refusal.retryAfterSecs));
  return response;
}

/** 500: the text says nothing, the log has the rest. */
export function internalErrorAnswer(requestId: string): Response {
  const body: ErrorBody = { error: 'internal server error', code: 'internal', request_id: requestId };
  return jsonAnswer(500, body);
}

export function jsonAnswer(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
}
