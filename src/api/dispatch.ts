import { ReadTooLarge } from '../ports/store/bounded-reads.ts';
import { StoreUnavailable } from '../ports/store/store.ts';
import { contentOf } from './answer-content.ts';
import { type AnswerLimit, oversize, STANDARD_LIMIT } from './answer-limit.ts';
import { errorAnswer, internalErrorAnswer } from './error-answer.ts';
import type { ApiContext } from './api-deps.ts';
import { taggedAnswer } from './entity-tag.ts';
import { eventStream } from './event-stream.ts';
import { callerOf } from './caller-of.ts';
import { readBytes, readJson } from './read-body.ts';
import type { KeptReply, Reply } from './reply.ts';
import type { RawCall, Route } from './route.ts';

/** A request that has found its route. */
export interface Incoming {
  readonly request: Request;
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  readonly peer: string;
  readonly requestId: string;
}

/**
 * Carries one request through its route: authentication, tenant, parts, handler, answer. What a route refuses is a value;
 * what it throws is a lost database (503) or a defect of ours (500, with the rest in the log).
 */
export async function dispatch(deps: ApiContext, route: Route, incoming: Incoming): Promise<Response> {
  const { request, requestId } = incoming;
  const caller = await callerOf(deps, route, request.headers, incoming.peer);
  if (!caller.ok) return errorAnswer(caller.error, requestId);
  const call: RawCall = {
    caller: caller.value,
    params: incoming.params,
    query: queryOf(incoming.url),
    header: (name) => request.headers.get(name) ?? undefined,
    peer: incoming.peer,
    requestId,
    readJson: (limits) => readJson(request, deps.settings.maxBodyBytes, limits),
    readBytes: (maxBytes) => readBytes(request, maxBytes),
  };
  if (route.access !== 'public' && deps.service.notReadyReason() === 'migrations_pending') {
    const message = 'the database has no schema of this version; run `npx stepwell migrate`';
    return errorAnswer({ kind: 'unavailable', message }, requestId);
  }
  try {
    const own = route.method === 'GET' ? { ...deps, store: deps.boundedStore } : deps;
    const answer = await route.run(own, call);
    return answer.ok
      ? await replyAnswer(deps, route, answer.value, incoming)
      : errorAnswer(answer.error, requestId);
  } catch (error) {
    return error instanceof ReadTooLarge
      ? tooLargeAnswer(deps, route, incoming, { ...answerLimitOf(deps), maxBytes: error.maxBytes }, null)
      : failureAnswer(deps, route, requestId, error);
  }
}

/** What is sent: an answer that the host could not pass on becomes a refusal that says so. */
async function replyAnswer(
  deps: ApiContext,
  route: Route,
  reply: Reply | KeptReply,
  incoming: Incoming,
): Promise<Response> {
  if (!('once' in reply) && reply.events !== undefined) {
    return eventStream(reply.events, {
      clock: deps.clock,
      request: incoming.request,
      maxMs: deps.settings.streamMaxMs,
      onError: (error) => {
        deps.log.warn('an event stream broke off', { route: route.path, error: String(error) });
      },
    });
  }
  const { status, content, headers, isOwnJson, isText } = contentOf(reply);
  if (content === undefined) return new Response(null, { status, headers });
  const limit = answerLimitOf(deps);
  const bytes = oversize(content, isText, limit);
  if (bytes !== undefined) return tooLargeAnswer(deps, route, incoming, limit, bytes);
  if (typeof content !== 'string') return new Response(content?.slice(), { status, headers });
  const isTagged = isOwnJson && route.method === 'GET' && route.access !== 'public' && status === 200;
  return isTagged
    ? taggedAnswer(content, incoming.request.headers.get('if-none-match'))
    : new Response(content, { status, headers });
}

function answerLimitOf({ settings }: ApiContext): AnswerLimit {
  return settings.answerLimit ?? STANDARD_LIMIT;
}

/** @param bytes null: more than can be told. */
async function tooLargeAnswer(
  deps: ApiContext,
  route: Route,
  { requestId }: Incoming,
  limit: AnswerLimit,
  bytes: number | null,
): Promise<Response> {
  deps.log.warn('an answer was too large', { route: `${route.method} ${route.path}`, request_id: requestId });
  const { answerRefusal } = await import('./answer-refusal.ts');
  return errorAnswer(answerRefusal(route, bytes, limit), requestId);
}

function failureAnswer(deps: ApiContext, route: Route, requestId: string, error: unknown): Response {
  const fields = { request_id: requestId, route: `${route.method} ${route.path}` };
  if (error instanceof StoreUnavailable) {
    deps.log.warn('the database did not answer a request', { ...fields, error: error.message });
    return errorAnswer(
      {
        kind: 'unavailable',
        message: 'the database did not answer',
        code: 'database_unavailable',
        retryAfterSecs: 1,
      },
      requestId,
    );
  }
  const shown = error instanceof Error ? (error.stack ?? error.message) : String(error);
  deps.log.error('a request failed unexpectedly', { ...fields, error: shown });
  return internalErrorAnswer(requestId);
}

/** Parameters by name, the first of a repeated one. Any name is allowed, `__proto__` included. */
function queryOf(url: URL): Readonly<Record<string, string>> {
  const query: Record<string, string> = {};
  for (const [name, value] of url.searchParams) {
    if (Object.hasOwn(query, name)) continue;
    Object.defineProperty(query, name, { value, enumerable: true });
  }
  return query;
}
