import type { ApiDeps, ApiSettings } from '../../../src/api/api-deps.ts';
import { createEngine, type EngineSettings } from '../../../src/engine/engine.ts';
import { createFunctionEngine } from '../../../src/engine/function-engine.ts';
import { builtInHandlers } from '../../../src/engine/handlers/built-in.ts';
import { createHandlerRegistry, type HandlerRegistry } from '../../../src/engine/handlers/registry.ts';
import { type HintOutcome, runHints, runSweep } from '../../../src/engine/invocation.ts';
import { createRequestRunner } from '../../../src/engine/request-runner.ts';
import { createActivity, observed } from '../../../src/engine/streams/activity.ts';
import type { TurnDeps } from '../../../src/engine/turn-deps.ts';
import type { Hint } from '../../../src/ports/hints.ts';
import type { Store } from '../../../src/ports/store/store.ts';
import type { Entropy, Log } from '../../../src/ports/system.ts';
import type { DefinedHandler } from '../../../src/sdk/handler.ts';
import { toStepHandler } from '../../../src/sdk/step-handler.ts';
import {
  type ApiFixture,
  createFixture,
  type Reply,
  START_MS,
  TENANT,
} from '../../api/support/api-fixture.ts';
import { ProcessGate } from '../../engine/support/process-gate.ts';
import { VirtualTime } from '../../engine/support/virtual-time.ts';
import type { StoreUnderTest } from '../../store-contract/store-under-test.ts';
import { createProbe, type Probe } from './probe.ts';

/** One database, one clock, and what is outside; processes come and go. */
export interface World {
  readonly time: VirtualTime;
  readonly probe: Probe;
  readonly store: Store;
  /** Calls of the store by name, of all processes. */
  readonly storeCalls: Map<string, number>;
  /** Of all processes: bytes that never repeat, and are the same in each run of a test. */
  readonly entropy: Entropy;
}

export interface HostOptions {
  readonly name?: string;
  readonly api?: Partial<ApiSettings>;
  readonly engine?: Partial<EngineSettings>;
  readonly handlers?: readonly DefinedHandler[];
  /** Added to the clock of the process. */
  readonly skewMs?: number;
}

/** A process with the API. */
export interface Host {
  readonly gate: ProcessGate;
  readonly logged: readonly string[];
  /** Does not move the time: something else must. */
  readonly call: (...of: Parameters<ApiFixture['call']>) => Promise<Reply>;
  stop(): Promise<void>;
}

/** A process that lives on: its loop finds work. */
export type Server = Host;

/** An API that runs nothing itself, and functions that do: one invocation for each message and each sweep. */
export interface Functions extends Host {
  /** All messages that were sent. */
  readonly queue: Hint[];
  sweep(): Promise<void>;
  deliver(instanceId: string): Promise<HintOutcome | undefined>;
}

/** What the host leaves an invocation. */
const INVOCATION_MS = 600_000;

const SETTINGS: EngineSettings = {
  leaseOwner: 'host',
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

export function createWorld(underTest: StoreUnderTest): World {
  const time = new VirtualTime(START_MS, (ms) => underTest.advanceClock(ms));
  const storeCalls = new Map<string, number>();
  const watched = (whole: Store): Store =>
    new Proxy(whole, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        if (name === 'withinBytes') return (maxBytes: number) => watched(target.withinBytes(maxBytes));
        return (...args: unknown[]) => {
          storeCalls.set(String(name), (storeCalls.get(String(name)) ?? 0) + 1);
          const answer: unknown = Reflect.apply(method, target, args);
          // Time stands still until the store has answered.
          return answer instanceof Promise ? time.track(answer) : answer;
        };
      },
    });
  const store = watched(underTest.store);
  return { time, store, storeCalls, probe: createProbe(time), entropy: numberedEntropy() };
}

export function startServer(world: World, options: HostOptions = {}): Server {
  const parts = partsOf(world, options);
  const engine = createEngine(parts, parts.settings);
  const api = createFixture(options.api, { ...apiParts(parts, engine.deps), runner: engine.runner });
  engine.loop.start();
  return {
    gate: parts.gate,
    logged: parts.logged,
    call: (...of) => api.call(...of),
    stop: () => engine.loop.stop(),
  };
}

export function startFunctions(world: World, options: HostOptions = {}): Functions {
  const parts = partsOf(world, options);
  const queue: Hint[] = [];
  const sender = { send: (hints: readonly Hint[]) => void queue.push(...hints), settled: () => done };
  const engine = createFunctionEngine({ ...parts, queue: sender }, { ...parts.settings, leaseMs: null });
  const runner = createRequestRunner(engine);
  const api = createFixture(options.api, { ...apiParts(parts, engine.deps), runner });
  const left = (): (() => number) => {
    const end = world.time.now + INVOCATION_MS;
    return () => end - world.time.now;
  };
  return {
    ...{ gate: parts.gate, logged: parts.logged, queue, call: (...of) => api.call(...of) },
    async sweep() {
      const { problem } = await runSweep(engine, left());
      if (problem !== null) throw problem;
    },
    deliver: async (instanceId) => (await runHints(engine, [{ tenantId: TENANT, instanceId }], left()))[0],
    stop: () => runner.settled(),
  };
}

const done = Promise.resolve();

type Parts = ReturnType<typeof partsOf>;

function partsOf(world: World, options: HostOptions) {
  const name = options.name ?? 'host';
  const gate = new ProcessGate(world.time, name, options.skewMs);
  const activity = createActivity(gate.clock);
  const logged: string[] = [];
  return {
    ...{ gate, activity, logged, log: logTo(logged), clock: gate.clock },
    store: observed(world.store, activity),
    entropy: world.entropy,
    handlers: handlersOf(world, gate, options.handlers ?? []),
    settings: { ...SETTINGS, ...options.engine, leaseOwner: name },
  };
}

function apiParts({ store, activity, log, handlers }: Parts, deps: TurnDeps): Partial<ApiDeps> {
  const { ids, definitions, hints, clock } = deps;
  return { store, ids, definitions, hints, clock, log, activity, handlerNames: handlers.names };
}

function handlersOf(world: World, gate: ProcessGate, users: readonly DefinedHandler[]): HandlerRegistry {
  const registry = createHandlerRegistry(
    builtInHandlers({ effects: world.probe, entropy: world.entropy }),
    users.map((handler) => toStepHandler(handler, gate.clock)),
  );
  if (!registry.ok) throw new Error(registry.error.join());
  return registry.value;
}

function numberedEntropy(): Entropy {
  let state = 7;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  };
  return { bytes: (length) => new Uint8Array(length).map(next) };
}

function logTo(logged: string[]): Log {
  const write = (message: string, fields?: object): void => {
    logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
  };
  return { debug: write, info: write, warn: write, error: write };
}
