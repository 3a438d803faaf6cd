import type { ApiDeps, ApiSettings } from '../../../src/api/api-deps.ts';
import type { TenantPlans } from '../../../src/core/plans.ts';
import { createEngine, type EngineSettings } from '../../../src/engine/engine.ts';
import { builtInHandlers } from '../../../src/engine/handlers/built-in.ts';
import { createHandlerRegistry } from '../../../src/engine/handlers/registry.ts';
import { createActivity, observed } from '../../../src/engine/streams/activity.ts';
import type { HttpEffects } from '../../../src/ports/effects.ts';
import type { KeyAttempt } from '../../../src/ports/store/idempotency.ts';
import type { Store } from '../../../src/ports/store/store.ts';
import type { Log } from '../../../src/ports/system.ts';
import type { StoreUnderTest } from '../../store-contract/store-under-test.ts';
import { ProcessGate } from '../../engine/support/process-gate.ts';
import { VirtualTime } from '../../engine/support/virtual-time.ts';
import { type ApiFixture, type CallOptions, createFixture, type Reply, START_MS } from './api-fixture.ts';

export interface LiveApi extends Omit<ApiFixture, 'clock'> {
  readonly time: VirtualTime;
  /** Lets time pass until the instance has one of these states; fails after a virtual hour. */
  until(id: string, ...states: readonly string[]): Promise<Reply['body']>;
  stop(): Promise<void>;
}

/** What a host may have besides the store. */
export interface LiveHost {
  readonly engine?: Partial<EngineSettings>;
  /** Where webhooks go; absent: none are sent. */
  readonly webhookClient?: HttpEffects;
  readonly plans?: TenantPlans;
  /** What else the host gives the API. */
  readonly parts?: Partial<ApiDeps>;
}

const SETTINGS: EngineSettings = {
  leaseOwner: 'live',
  leaseMs: 60_000,
  tickMs: null,
  sweepMs: 60_000,
  batchSize: 100,
  maxTurns: 64,
  maxConcurrentSteps: 64,
  maxInstancesPerTenant: 0,
  maxStepsPerTurn: 0,
  maxRecoveries: 10,
  maxContextBytes: 262_144,
  maxOutputBytes: 8 * 1024 * 1024,
  silentTaskMs: 60_000,
  inPlaceWaitMs: 100,
};

/** The API in front of a real engine, both on virtual time: what a client sees of a process that lives on. */
export function createLiveApi(
  underTest: StoreUnderTest,
  settings: Partial<ApiSettings> = {},
  host: LiveHost = {},
): LiveApi {
  const time = new VirtualTime(START_MS, (ms) => underTest.advanceClock(ms));
  const gate = new ProcessGate(time, 'live');
  const activity = createActivity(gate.clock);
  const store = observed(trackedStore(underTest.store, time), activity);
  const entropy = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) };
  const refused = () => Promise.reject(new Error('no network in these tests'));
  const handlers = createHandlerRegistry(
    builtInHandlers({ effects: { send: refused }, entropy, allowInternalUrls: false } as never),
  );
  if (!handlers.ok) throw new Error(handlers.error.join());
  const logged: string[] = [];
  const log = logTo(logged);
  const { webhookClient, plans } = host;
  const engine = createEngine(
    {
      ...{ store, handlers: handlers.value, clock: gate.clock, entropy, log },
      ...(webhookClient === undefined ? {} : { webhookClient }),
    },
    { ...SETTINGS, ...host.engine },
  );
  const { ids, definitions, hints, outbox, node, counters, limits } = engine.deps;
  const names = handlers.value.names;
  const overrides = {
    store,
    runner: engine.runner,
    ids,
    definitions,
    hints,
    clock: gate.clock,
    log,
    handlerNames: names,
    activity,
    counters,
    limits: { ...limits, ...(plans === undefined ? {} : { plans }) },
    ...(outbox === undefined ? {} : { outbox }),
    ...(node === undefined ? {} : { node }),
    service: {
      version: '0.1.0',
      schemaVersion: 1,
      notReadyReason: () => (node?.isDraining === true ? ('draining' as const) : null),
    },
    ...host.parts,
  };
  const api = createFixture(settings, overrides);
  engine.loop.start();
  const call = (method: string, path: string, options?: CallOptions) =>
    awaitOn(time, api.call(method, path, options));
  return {
    ...api,
    logged,
    time,
    call,
    send: (method, path, options) => awaitOn(time, api.send(method, path, options)),
    until: async (id, ...states) => {
      const there = async () => states.includes((await store.getInstance(null, id))?.state ?? '');
      if (!(await time.until(there, 3_600_000))) {
        throw new Error(`instance stayed ${(await call('GET', `/instances/${id}/explain`)).text}`);
      }
      return (await call('GET', `/instances/${id}`)).body;
    },
    stop: () => awaitOn(time, engine.loop.stop()),
  };
}

/** Time stands still until the store has answered. */
function trackedStore(inner: Store, time: VirtualTime): Store {
  return new Proxy(inner, {
    get: (target, name) => {
      const method = Reflect.get(target, name);
      if (name === 'openAttempt') {
        return async (attempt: KeyAttempt) => {
          const stores = await time.track(target.openAttempt(attempt));
          return { of: (scope: string) => trackedStore(stores.of(scope), time) };
        };
      }
      if (name === 'withinBytes') {
        return (maxBytes: number) => trackedStore(target.withinBytes(maxBytes), time);
      }
      return (...args: unknown[]) => time.track(Reflect.apply(method, target, args) as Promise<unknown>);
    },
  });
}

/** Time moves only while somebody drives it. */
async function awaitOn<T>(time: VirtualTime, work: Promise<T>): Promise<T> {
  let done = false;
  const finished = work.finally(() => {
    done = true;
  });
  finished.catch(() => undefined);
  await time.until(() => done, 60_000);
  return finished;
}

function logTo(logged: string[]): Log {
  const write = (message: string, fields?: object): void => {
    logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
  };
  return { debug: write, info: write, warn: write, error: write };
}
