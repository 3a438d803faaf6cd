import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { API_PREFIX, markAlias } from './alias.ts';
import { createKeyRing } from '../engine/api-keys/key-ring.ts';
import { createPeerFinder } from '../core/network/trusted-proxies.ts';
import { createCallRate } from '../engine/call-rate.ts';
import { readBytes } from './answer-limit.ts';
import type { ApiContext, ApiDeps } from './api-deps.ts';
import { refuseStranger } from './caller-of.ts';
import { dispatch } from './dispatch.ts';
import { errorAnswer, internalErrorAnswer } from './error-answer.ts';
import { isForeignCall } from './local-callers.ts';
import { createReadiness } from './readiness.ts';
import { requestIdOf } from './request-id.ts';
import type { Route } from './route.ts';
import type { RoutePath, RouteTable } from './route-table.ts';

/** Calls of one peer that prove nothing and are looked at in a second; more get 429. */
const STRANGERS_PER_SEC = 50;

interface ApiEnv {
  // Hono fixes this name.
  Variables: { requestId: string };
}

/** The HTTP API (http-api.md) over the routes of a table. Everything it touches comes with `deps`. */
export function createApiApp(deps: ApiDeps, table: RouteTable): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>({ strict: false });
  app.use(async (context, next) => {
    const requestId = requestIdOf(context.req.raw.headers.get('x-request-id'), () => deps.ids.newId());
    context.set('requestId', requestId);
    await next();
    context.res.headers.set('x-request-id', requestId);
  });
  if (deps.settings.localCallersOnly) app.use(localCallersOnly(deps.settings.corsOrigins));
  if (deps.settings.corsOrigins.length > 0) app.use(crossOrigin(deps.settings.corsOrigins));
  if (deps.settings.maxConcurrentRequests > 0) app.use(concurrencyCap(deps.settings.maxConcurrentRequests));
  const context: ApiContext = {
    ...deps,
    peerBehind: createPeerFinder(deps.settings.trustedProxies ?? []),
    webhookRate: createCallRate(deps.clock, deps.settings.webhookRatePerSec),
    streams: new Set(),
    keyRing: createKeyRing(deps.store, deps.clock),
    strangers: createCallRate(deps.clock, STRANGERS_PER_SEC),
    knownSlugs: new Set(),
    readiness: createReadiness(deps),
    boundedStore: deps.store.withinBytes(readBytes(deps.settings.answerLimit)),
    async openApi() {
      const { openApiDocument } = await import('./openapi.ts');
      return openApiDocument(await table.all(), deps.service.version);
    },
  };
  for (const path of inOrder(table.paths)) mount(app, context, path);
  app.notFound(async ({ req, env, get }) => {
    const refusal = await refuseStranger(context, req.raw, req.path, callerAddress(context, req.raw, env));
    return errorAnswer(refusal ?? { kind: 'not_found', message: `path ${req.path}` }, get('requestId'));
  });
  app.onError((error, context) => {
    deps.log.error('a request failed before its route', { error: error.stack ?? error.message });
    return internalErrorAnswer(context.get('requestId'));
  });
  return app;
}

/**
 * Registers all methods of a path at once, so that a known path with another method is 405 and never falls through to a
 * longer pattern (`PUT /instances/dlq` is not `PUT /instances/{id}`).
 */
function mount(app: Hono<ApiEnv>, deps: ApiContext, { path, isRoot, load }: RoutePath): void {
  const answer = async (context: Context<ApiEnv>): Promise<Response> => {
    const requestId = context.get('requestId');
    const method = context.req.method === 'HEAD' ? 'GET' : context.req.method;
    const routes = await load();
    const route = routes.find((candidate) => candidate.method === method);
    if (route === undefined) {
      const isPublic = routes.some(({ access }) => access === 'public');
      const refusal = isPublic
        ? null
        : await refuseStranger(
            deps,
            context.req.raw,
            path,
            callerAddress(deps, context.req.raw, context.env),
          );
      return refusal === null
        ? wrongMethod(routes, method, path, requestId)
        : errorAnswer(refusal, requestId);
    }
    return dispatch(withCallParts(deps, context.env), route, {
      request: context.req.raw,
      url: new URL(context.req.url),
      params: context.req.param(),
      peer: callerAddress(deps, context.req.raw, context.env),
      requestId,
    });
  };
  const pattern = path.replace(/\{(\w+)\}/g, ':$1');
  if (isRoot) {
    app.all(pattern, answer);
    return;
  }
  app.all(API_PREFIX + pattern, answer);
  app.all(pattern, async (context) => {
    const response = await answer(context);
    markAlias(response, new URL(context.req.url));
    return response;
  });
}

function callerAddress(
  { peerOf, peerBehind, forwardedOf = xForwardedFor }: ApiContext,
  { headers }: Request,
  hostEnv: unknown,
): string {
  return peerBehind(peerOf(hostEnv), forwardedOf(headers));
}

const xForwardedFor = (headers: Headers): string | null => headers.get('x-forwarded-for');

function withCallParts(deps: ApiContext, hostEnv: unknown): ApiContext {
  return deps.partsOf === undefined ? deps : { ...deps, ...deps.partsOf(hostEnv) };
}

/** Fixed segments come before parameters, since the first pattern that fits wins. */
function inOrder(paths: readonly RoutePath[]): readonly RoutePath[] {
  const rank = ({ path }: RoutePath): string => path.replaceAll('{', '\uffff');
  return [...paths].sort((left, right) => (rank(left) < rank(right) ? -1 : 1));
}

function wrongMethod(routes: readonly Route[], method: string, path: string, requestId: string): Response {
  const message = `${method} on ${path}`;
  const response = errorAnswer({ kind: 'method_not_allowed', message }, requestId);
  const allowed = routes.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]));
  response.headers.set('allow', allowed.join(', '));
  return response;
}

function localCallersOnly(origins: readonly string[]): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    if (!isForeignCall(context.req.raw, context.req.path, origins)) return next();
    const message = 'a server without a key answers only to localhost; set STEPWELL_API_KEY to open it';
    return errorAnswer({ kind: 'forbidden', message }, context.get('requestId'));
  };
}

function crossOrigin(origins: readonly string[]): ReturnType<typeof cors> {
  return cors({
    origin: origins.includes('*') ? '*' : [...origins],
    allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    allowHeaders: [
      'content-type',
      'authorization',
      'x-api-key',
      'x-tenant-id',
      'x-request-id',
      'last-event-id',
      'x-trigger-secret',
      'x-trigger-timestamp',
      'x-trigger-nonce',
      'x-orch8-signature',
      'idempotency-key',
    ],
    exposeHeaders: ['x-request-id', 'idempotency-replayed', 'retry-after'],
  });
}

/**
 * 503 for what comes while `max` requests are being served, so that a flood cannot exhaust the memory. A quarter of them may be
 * webhooks: their bodies are read before anything is known of their senders, and who sends slowly holds his place.
 */
function concurrencyCap(
  max: number,
): (context: Context<ApiEnv>, next: () => Promise<void>) => Promise<Response | undefined> {
  const maxWebhooks = Math.ceil(max / 4);
  let active = 0;
  let activeWebhooks = 0;
  return async (context, next) => {
    const webhook = context.req.path.startsWith('/webhooks/') ? 1 : 0;
    if (active >= max || activeWebhooks + webhook > maxWebhooks) {
      return errorAnswer(
        {
          kind: 'unavailable',
          message: 'too many requests at once',
          code: 'too_many_requests',
          retryAfterSecs: 1,
        },
        context.get('requestId'),
      );
    }
    active += 1;
    activeWebhooks += webhook;
    try {
      await next();
    } finally {
      active -= 1;
      activeWebhooks -= webhook;
    }
    return undefined;
  };
}
