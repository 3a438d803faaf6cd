import { expect } from 'vitest';
import { createMemoryStore } from '../../../src/adapters/memory/store.ts';
import type { ApiDeps, ApiSettings } from '../../../src/api/api-deps.ts';
import { createApi } from '../../../src/api/create-api.ts';
import type { Route } from '../../../src/api/route.ts';
import { ROUTES } from '../../../src/api/routes/routes.ts';
import type { Json } from '../../../src/core/json.ts';
import { createDefinitions } from '../../../src/engine/definitions.ts';
import { createIdSource } from '../../../src/engine/ids.ts';
import { createActivity } from '../../../src/engine/streams/activity.ts';
import type { Store } from '../../../src/ports/store/store.ts';
import { plainSeal } from '../../../src/adapters/seal.ts';
import { createStillRunner, type StillRunner } from './still-runner.ts';

export const TENANT = 'saltmarsh';
export const OTHER_TENANT = 'dunes';
export const START_MS = Date.parse('2027-02-11T08:00:00.000Z');

/** Tests look into bodies by the names of the contract; what is not there is undefined. */
export type Body = ReturnType<typeof JSON.parse>;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON body; undefined when it is empty. */
  readonly body: Body;
}

export interface CallOptions {
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, as JSON by media type. */
  readonly raw?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  readonly tenant?: string | null;
  readonly headers?: Record<string, string>;
}

export interface ApiFixture {
  readonly store: Store;
  readonly runner: StillRunner;
  readonly deps: ApiDeps;
  readonly logged: string[];
  readonly clock: { now: number };
  /** Calls a path under /api/v1, or a root path; a successful body must fit the schema of its route. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** As `call` without prefix and without looking at the body's shape. */
  send(method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** Everything that a request could have left behind. */
  footprint(): Promise<unknown>;
}

const never = (): undefined => undefined;

const ROOT_PATHS = /^\/(health|info|metrics|webhooks)\b/;

/** An API over an empty store in memory and a runner that runs nothing. */
export function createFixture(
  settings: Partial<ApiSettings> = {},
  overrides: Partial<ApiDeps> = {},
): ApiFixture {
  const clock = { now: START_MS };
  const store = overrides.store ?? createMemoryStore({ now: () => clock.now });
  const runner = createStillRunner(store);
  const logged: string[] = [];
  const deps: ApiDeps = { ...baseDeps(store, runner, clock, logged, settings), ...overrides };
  const app = createApi(deps);
  const send = async (method: string, path: string, options: CallOptions = {}): Promise<Reply> => {
    const response = await app.request(`http://localhost${path}`, requestInit(method, options));
    const text = await response.text();
    const isJson = response.headers.get('content-type') === 'application/json' && text !== '';
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    };
  };
  return {
    store,
    runner,
    deps,
    logged,
    clock,
    send,
    call: async (method, path, options) => {
      const reply = await send(method, ROOT_PATHS.test(path) ? path : `/api/v1${path}`, options);
      expectShape(method, path, reply);
      return reply;
    },
    footprint: () => footprintOf(store),
  };
}

function baseDeps(
  store: Store,
  runner: StillRunner,
  clock: { now: number },
  logged: string[],
  settings: Partial<ApiSettings>,
): ApiDeps {
  let entropy = 0;
  const ports = {
    clock: { nowMs: () => clock.now, monotonicMs: () => clock.now, after: () => never, soon: () => never },
    entropy: {
      bytes: (length: number) => new Uint8Array(length).map(() => (entropy = (entropy + 37) % 256)),
    },
  };
  const write = (message: string, fields?: object): void => {
    logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
  };
  return {
    ...ports,
    store,
    runner,
    definitions: createDefinitions(store),
    hints: runner.hints,
    ids: createIdSource(ports.clock, ports.entropy),
    log: { debug: write, info: write, warn: write, error: write },
    seal: plainSeal,
    limits: { maxContextBytes: 262_144 },
    handlerNames: ['fail', 'log', 'noop', 'sleep'],
    settings: { ...standardSettings, ...settings },
    service: { version: '0.1.0', schemaVersion: 1, notReadyReason: () => null },
    peerOf: () => '192.0.2.7',
    activity: createActivity(ports.clock),
  };
}

const standardSettings: ApiSettings = {
  apiKey: null,
  requireTenantHeader: true,
  defaultTenantId: null,
  corsOrigins: [],
  maxConcurrentRequests: 0,
  maxBodyBytes: 10 * 1024 * 1024,
  maxWebhookBodyBytes: 1024 * 1024,
  webhookRatePerSec: 300,
  maxStreams: 256,
  streamMaxMs: null,
  localCallersOnly: false,
  envLabel: null,
  envColor: null,
};

function requestInit(method: string, { body, raw, tenant = TENANT, headers = {} }: CallOptions): RequestInit {
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  return {
    method,
    headers: {
      ...(tenant === null ? {} : { 'x-tenant-id': tenant }),
      ...(content === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content, duplex: 'half' }),
  } as RequestInit;
}

/** The route of a concrete path, fixed segments first. */
function routeOf(method: string, path: string): Route | undefined {
  const bare = path.replace(/\?.*$/, '');
  const fits = ROUTES.filter((route) => {
    const pattern = route.path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+');
    return route.method === method && new RegExp(`^${pattern}$`).test(bare);
  });
  return fits.find((route) => !route.path.includes('{')) ?? fits[0];
}

/** Every success has a status its route knows, and a body that its schema takes without changing anything. */
function expectShape(method: string, path: string, reply: Reply): void {
  const route = routeOf(method, path);
  if (route === undefined) throw new Error(`no route for ${method} ${path}`);
  if (reply.status >= 400 && !Object.hasOwn(route.responses, reply.status)) {
    expect(reply.body).toMatchObject({ error: expect.any(String), code: expect.any(String) });
    return;
  }
  expect(Object.keys(route.responses)).toContain(String(reply.status));
  const schema = route.responses[reply.status];
  if (schema === null || schema === undefined) return;
  expect(schema.parse(reply.body)).toEqual(reply.body as Json);
}

async function footprintOf(store: Store): Promise<unknown> {
  const page = { limit: 1000, offset: 0 };
  const everything = { tenantId: null, namespace: null, ...page };
  const instances = await store.listInstances({ ...everything, sequenceId: null, states: [], metadata: [] });
  const pools = await store.listPools(null, 1000);
  const tasks = await store.listTasks({
    ...everything,
    states: [],
    handlerName: null,
    workerId: null,
    queueName: null,
  });
  return {
    sequences: await store.listSequences(everything),
    triggers: await store.listTriggers(null, 1000),
    schedules: await store.listSchedules({ tenantId: null, ...page }),
    frontiers: await Promise.all(instances.map(({ id }) => store.getFrontier(null, id))),
    audit: await Promise.all(instances.map(({ id }) => store.listAudit(null, id, 1000))),
    outputs: await Promise.all(
      instances.map(({ id }) => store.listOutputs(null, id, { node: true, retry: true })),
    ),
    tasks,
    attempts: await Promise.all(tasks.map(({ id }) => store.listTaskEvents(null, id, 1000))),
    workers: await store.listWorkers(null, 60_000, true),
    checkpoints: await Promise.all(instances.map(({ id }) => store.listCheckpoints(null, id, 1000))),
    events: await store.listEvents({ tenantId: null, status: null, limit: 1000 }),
    credentials: await store.listCredentials(null, 1000),
    rates: await store.listRateLimits(null, 1000),
    breakers: await store.listBreakers(null, 1000),
    pools: await Promise.all(pools.map(async (pool) => [pool, await store.listResources(null, pool.id)])),
    routingRules: await store.listRoutingRules(null, 1000),
  };
}
