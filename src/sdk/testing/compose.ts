import { createMemoryStore } from '../../adapters/memory/store.ts';
import { plainSeal } from '../../adapters/seal.ts';
import { createLog } from '../../adapters/system.ts';
import type { ApiSettings } from '../../api/api-deps.ts';
import { createActivity, observed } from '../../engine/streams/activity.ts';
import { createApi } from '../../api/create-api.ts';
import { createEngine, type Engine, type EngineSettings } from '../../engine/engine.ts';
import { builtInHandlers } from '../../engine/handlers/built-in.ts';
import { createHandlerRegistry } from '../../engine/handlers/registry.ts';
import type { Store } from '../../ports/store/store.ts';
import type { Entropy, Log, LogFields } from '../../ports/system.ts';
import { type Client, createClient } from '../client.ts';
import type { DefinedHandler } from '../handler.ts';
import { toStepHandler } from '../step-handler.ts';
import './at-hand.ts';
import { createManualTime, type ManualTime } from './manual-time.ts';
import { type HttpStub, stubEffects } from './stub-effects.ts';

export interface TestParts {
  readonly handlers: readonly DefinedHandler[];
  readonly http: HttpStub | undefined;
  readonly startAtMs: number;
  readonly tenant: string;
  readonly seed: number;
  readonly log: Log | undefined;
}

/** A whole Stepwell in memory: store, engine and API on one clock that stands still. */
export interface TestWorld {
  readonly time: ManualTime;
  readonly store: Store;
  readonly engine: Engine;
  readonly app: ReturnType<typeof createApi>;
  readonly client: Client;
}

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const MAX_CONTEXT_BYTES = 262_144;

export const TEST_ENGINE: EngineSettings = {
  leaseOwner: 'test',
  // Time is moved in leaps; a lease must not run out in the middle of one.
  leaseMs: 10 * YEAR_MS,
  tickMs: null,
  sweepMs: 60_000,
  batchSize: 256,
  maxTurns: 1024,
  maxConcurrentSteps: 1024,
  maxInstancesPerTenant: 0,
  maxStepsPerTurn: 0,
  maxRecoveries: 3,
  maxContextBytes: MAX_CONTEXT_BYTES,
  maxOutputBytes: 8 * 1024 * 1024,
  silentTaskMs: 60_000,
  // A short sleep is settled as well, so that time decides about all of them.
  inPlaceWaitMs: 0,
};

const TEST_API: ApiSettings = {
  apiKey: null,
  requireTenantHeader: false,
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

/** Throws a TypeError when the handlers cannot be registered together. */
export function composeWorld(parts: TestParts): TestWorld {
  const time = createManualTime(parts.startAtMs);
  const { clock } = time;
  const entropy = seededEntropy(parts.seed);
  const log = parts.log ?? engineLog(createLog({ level: 'error', format: 'text', clock }));
  const activity = createActivity(clock);
  const store = observed(createMemoryStore({ now: time.nowMs }), activity);
  const registry = createHandlerRegistry(
    builtInHandlers({ effects: stubEffects(parts.http), entropy, allowInternal: true }),
    parts.handlers.map((handler) => toStepHandler(handler, clock)),
  );
  if (!registry.ok) throw new TypeError(registry.error.join('; '));
  const engine = createEngine(
    { store, handlers: registry.value, clock, entropy, log, seal: plainSeal },
    TEST_ENGINE,
  );
  const { definitions, hints, ids } = engine.deps;
  const app = createApi({
    store,
    runner: engine.runner,
    definitions,
    hints,
    ids,
    clock,
    entropy,
    log,
    seal: plainSeal,
    limits: { maxContextBytes: MAX_CONTEXT_BYTES },
    handlerNames: registry.value.names,
    counters: engine.deps.counters,
    settings: TEST_API,
    service: { version: 'test', schemaVersion: 1, notReadyReason: () => null },
    peerOf: () => '',
    activity,
  });
  const client = createClient({
    url: 'http://test.stepwell',
    tenant: parts.tenant,
    // What is in memory answers, or never will.
    maxTries: 1,
    timeoutMs: Number.POSITIVE_INFINITY,
    fetch: async (url, init) => await app.request(url, init),
    clock,
    entropy,
  });
  return { time, store, engine, app, client };
}

/** Without the lines of steps: what fails in a test often does so on purpose, and the client shows them. */
function engineLog(log: Log): Log {
  const at =
    (level: keyof Log) =>
    (message: string, fields: LogFields = {}): void => {
      if (fields['block_id'] === undefined) log[level](message, fields);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** The same bytes in each run, so that ids, chances and jitter are the same too. Nothing here is a secret. */
function seededEntropy(seed: number): Entropy {
  let state = seed >>> 0;
  return {
    bytes: (length) =>
      new Uint8Array(length).map(() => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return state >>> 24;
      }),
  };
}
