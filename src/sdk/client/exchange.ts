import { isJsonObject, type Json, member } from '../../core/json.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Clock } from '../../ports/system.ts';
import { ApiError } from './api-error.ts';
import { timeLimit } from './time-limit.ts';

/** The part of `fetch` that the client uses. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

export interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * One request and its answer: the JSON body, undefined when it is empty. A failure is a value; only the caller's own
 * signal throws, with its reason.
 */
export async function exchange(
  { fetch, clock }: { readonly fetch: FetchLike; readonly clock: Pick<Clock, 'after'> },
  request: Exchange,
): Promise<Result<Json | undefined, ApiError>> {
  const limit = timeLimit(clock, request.timeoutMs, request.signal);
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers: request.headers,
      body: request.body,
      signal: limit.signal,
      // The API never redirects, and a key must not follow one to another host.
      redirect: 'manual',
    });
    return readAnswer(request, response, await response.text());
  } catch (cause) {
    request.signal?.throwIfAborted();
    return err(noAnswer(request, limit.isOver(), cause));
  } finally {
    limit.release();
  }
}

function noAnswer(request: Exchange, isLate: boolean, cause: unknown): ApiError {
  const target = `${request.method} ${request.url}`;
  if (isLate) {
    const message = `${target}: no answer within ${request.timeoutMs} ms`;
    return new ApiError(message, { status: 0, code: 'timeout', cause });
  }
  return new ApiError(`${target}: ${reasonOf(cause)}`, { status: 0, code: 'no_answer', cause });
}

/** The text of `fetch` says just that it failed; what went wrong stands in the cause. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'no answer';
  const inner = cause.cause;
  return inner instanceof Error && inner.message !== ''
    ? `${cause.message} (${inner.message})`
    : cause.message;
}

function readAnswer(request: Exchange, response: Response, text: string): Result<Json | undefined, ApiError> {
  const json = parseAnswer(response, text);
  if (response.ok && json.ok) return json;
  const target = `${request.method} ${request.url}`;
  const parts = {
    status: response.status,
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfterMs: retryAfterMs(response.headers.get('retry-after')),
  };
  const body = json.ok ? json.value : undefined;
  const code = member(body, 'code');
  const message = member(body, 'error');
  if (response.ok || typeof code !== 'string' || typeof message !== 'string') {
    const shown = `${target}: the answer with status ${response.status} is not one of Stepwell`;
    return err(new ApiError(shown, { ...parts, code: 'unexpected_answer' }));
  }
  return err(new ApiError(message, { ...parts, code, details: detailsOf(body) }));
}

function detailsOf(body: Json | undefined): Json | undefined {
  return isJsonObject(body) ? member(body, 'details') : undefined;
}

function parseAnswer(response: Response, text: string): Result<Json | undefined, null> {
  if (text === '') return ok(undefined);
  if (!/^application\/json\b/i.test(response.headers.get('content-type') ?? '')) return err(null);
  try {
    // oxlint-disable-next-line typescript/no-unsafe-assignment -- the boundary: what a parser of JSON gives is JSON
    const value: Json = JSON.parse(text);
    return ok(value);
  } catch {
    return err(null);
  }
}

/** Only the form in seconds, which is the one that our server sends. */
function retryAfterMs(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : undefined;
}
