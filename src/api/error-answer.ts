import type { Json } from '../core/json.ts';
import { REQUEST_ERRORS, type RequestErrorKind, requestErrorText } from '../core/request-errors.ts';
import type { Refusal } from '../engine/refusal.ts';

/** What is wrong with a request may name as much as there is in it; the answer must fit through every host. */
const TEXT_MAX = 256 * 1024;

/** The body of every error (RULINGS B12). */
export interface ErrorBody {
  readonly error: string;
  readonly code: string;
  readonly details?: Json;
  readonly request_id: string;
}

/** The one place where a refusal becomes status and body. */
export function renderError(
  { kind, message, code, details }: Refusal,
  requestId: string,
): { readonly status: number; readonly body: ErrorBody } {
  const body: ErrorBody = {
    error: requestErrorText(kind, message.slice(0, TEXT_MAX)),
    code: code ?? kind,
    ...(details === undefined || JSON.stringify(details).length > TEXT_MAX ? {} : { details }),
    request_id: requestId,
  };
  return { status: REQUEST_ERRORS[kind].status, body };
}

/** The answer of a refused call. */
export function errorAnswer(refusal: Refusal, requestId: string): Response {
  const kind: RequestErrorKind = refusal.kind;
  const { status, body } = renderError(refusal, requestId);
  const response = jsonAnswer(status, body);
  if (kind === 'unauthorized') response.headers.set('www-authenticate', 'Bearer');
  if (refusal.retryAfterSecs !== undefined) {
    response.headers.set('retry-after', String(refusal.retryAfterSecs));
  }
  return response;
}

/** 500: the text says nothing, the log has the rest. */
export function internalErrorAnswer(requestId: string): Response {
  return errorAnswer({ kind: 'internal', message: '' }, requestId);
}

function jsonAnswer(status: number, body: ErrorBody): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
}
