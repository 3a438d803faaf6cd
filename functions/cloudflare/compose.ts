import { createObjectWaker, type ObjectWaker } from '../../src/adapters/cloudflare/object-waker.ts';
import { createTurnQueue } from '../../src/adapters/cloudflare/turn-queue.ts';
import { createFetchClient } from '../../src/adapters/http/fetch-client.ts';
import { createNeonDriver } from '../../src/adapters/postgres/drivers/neon.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import { systemClock, systemEntropy } from '../../src/adapters/system.ts';
import type { createApi } from '../../src/api/create-api.ts';
import { createEngineMemory, type EngineMemory } from '../../src/engine/engine-memory.ts';
import {
  createFunctionEngine,
  type FunctionEngine,
  type FunctionEngineParts,
  type FunctionEngineSettings,
} from '../../src/engine/function-engine.ts';
import { buildIdOf } from '../../src/engine/handlers/build-id.ts';
import { createWakeGuard, type GuardMemory, type WakeGuard } from '../../src/engine/deployment-wakes.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { version } from '../../package.json';
import { engineSettings, registryOf } from '../engine-settings.ts';
import { sealOf } from '../seal-of.ts';
import { readWorkerSettings, settingWarnings, type WorkerSettings } from '../settings.ts';
import type { WorkerEnv } from './platform.ts';
import { type DraftOutcome, refusedDrafts } from '../../src/engine/publish-drafts.ts';
import { draftsOf, type Project } from '../project.ts';
import { handlersOf } from '../project-handlers.ts';
import { createWorkerLog } from './worker-log.ts';

/** What the invocations of one isolate share: settings, code, and what was learned. Nothing of it is under way. */
export interface Isolate {
  readonly settings: WorkerSettings;
  readonly parts: Omit<FunctionEngineParts, 'queue'>;
  readonly engineSettings: FunctionEngineSettings;
  readonly memory: EngineMemory;
  readonly guardMemory: GuardMemory;
  readonly publishing: Publishing;
  readonly version: string;
  /** Built by the first request. */
  app: ReturnType<typeof createApi> | null;
}

/** What a deployment has to publish. */
export interface Publishing {
  readonly tenantId: string;
  readonly drafts: readonly JsonObject[];
  /** When this version of the Worker was uploaded, epoch ms. */
  readonly deployedAt: number;
  /** What became of those that this isolate has published. */
  readonly outcomes: Map<JsonObject, DraftOutcome['outcome']>;
  isDone: boolean;
}

/** One event. All its IO is its own: Workers tie IO to the event that began it. */
export interface Invocation {
  readonly isolate: Isolate;
  readonly engine: FunctionEngine;
  readonly publishing: Publishing;
  readonly guard: WakeGuard;
  /** null: no waker is bound. */
  readonly waker: ObjectWaker | null;
  /** What is left of the time that STEPWELL_INVOCATION_SECS gives. */
  readonly remainingTimeMs: () => number;
}

export type OpenInvocation = (env: WorkerEnv) => Invocation;

/** RULINGS B20. */
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;
const NO_GUARD: WakeGuard = { keep: () => Promise.resolve(true) };

/**
 * The composition root of the Worker. Nothing but the project is read before the first event: no isolate may do so earlier. Throws
 * when the project is none, and so fails the upload: the platform runs what stands outside of events before it takes a version.
 */
export function createWorkerHost(project: Project): OpenInvocation {
  const brought = broughtBy(project);
  let isolate: Isolate | null = null;
  return (env) => {
    isolate ??= openIsolate(brought, env);
    return openInvocation(isolate, env);
  };
}

/** What a project brings, as the engine takes it. */
interface Brought extends Pick<Publishing, 'tenantId' | 'drafts'> {
  readonly handlers: ReturnType<typeof handlersOf>;
}

function broughtBy(project: Project): Brought {
  const tenantId = project.tenant ?? 'default';
  const drafts = draftsOf(project);
  const refused = refusedDrafts({ clock: systemClock }, tenantId, drafts);
  if (refused.length > 0) {
    const problems = refused.map(({ name, problem }) => `${name}: ${problem}`);
    throw new Error(`sequences cannot be published: ${problems.join('; ')}`);
  }
  return { tenantId, drafts, handlers: handlersOf(project) };
}

function openIsolate(brought: Brought, env: WorkerEnv): Isolate {
  const settings = readWorkerSettings(env);
  const log = createWorkerLog(settings.STEPWELL_LOG_LEVEL);
  for (const warning of settingWarnings('worker', env)) log.warn(warning);
  const effects = createFetchClient({
    clock: systemClock,
    userAgent: `stepwell/${version}`,
    allowInternal: settings.STEPWELL_ALLOW_INTERNAL_URLS,
  });
  const handlers = registryOf(settings, effects, brought.handlers);
  const buildId = settings.STEPWELL_BUILD_ID ?? buildIdOf(handlers.names, version);
  const connectionString = settings.STEPWELL_DATABASE_URL;
  const parts = {
    store: createPostgresStore(createNeonDriver({ connectionString, clock: systemClock })),
    handlers,
    buildId,
    webhookClient: effects,
    clock: systemClock,
    entropy: systemEntropy,
    log,
    ...sealOf(settings),
  };
  const forEngine = engineSettings(settings, {
    leaseOwner: 'cloudflare',
    buildId,
    maxOutputBytes: MAX_OUTPUT_BYTES,
  });
  return {
    settings,
    parts,
    engineSettings: forEngine,
    memory: createEngineMemory(parts, forEngine.node),
    guardMemory: { keptUntilMs: 0 },
    publishing: publishingOf(brought, env),
    version,
    app: null,
  };
}

/** Throws when there is something to publish and no way to know which of two versions of the Worker is the later one. */
function publishingOf({ tenantId, drafts }: Brought, env: WorkerEnv): Publishing {
  const deployedAt = Date.parse(env.STEPWELL_VERSION?.timestamp ?? '');
  if (drafts.length > 0 && Number.isNaN(deployedAt)) {
    throw new Error(
      'bind the metadata of the version: "version_metadata": { "binding": "STEPWELL_VERSION" }',
    );
  }
  return { tenantId, drafts, deployedAt, outcomes: new Map(), isDone: drafts.length === 0 };
}

function openInvocation(isolate: Isolate, env: WorkerEnv): Invocation {
  const { parts, settings, memory, guardMemory } = isolate;
  const { clock, log } = parts;
  const queue = createTurnQueue({ binding: env.STEPWELL_TURNS, clock, log });
  const engine = createFunctionEngine({ ...parts, queue }, isolate.engineSettings, memory);
  const waker = env.STEPWELL_WAKER === undefined ? null : createObjectWaker(env.STEPWELL_WAKER, clock);
  const invocationMs = settings.STEPWELL_INVOCATION_SECS * 1000;
  const { leaseMs } = isolate.engineSettings;
  const guard =
    waker === null
      ? NO_GUARD
      : createWakeGuard({ waker, clock, log, invocationMs, leaseMs, memory: guardMemory });
  const endsAtMs = clock.monotonicMs() + invocationMs;
  const { publishing } = isolate;
  return { isolate, engine, publishing, guard, waker, remainingTimeMs: () => endsAtMs - clock.monotonicMs() };
}
