import { hostname } from 'node:os';
import { join } from 'node:path';
import { createOutboundClient } from '../adapters/http/outbound-client.ts';
import { swaggerFiles } from '../adapters/local/swagger-files.ts';
import { type ListeningServer, listen, peerOf } from '../adapters/node-server/listen.ts';
import { SCHEMA_VERSION } from '../adapters/postgres/migrate.ts';
import { createSeal, plainSeal } from '../adapters/seal.ts';
import { createLog, systemClock, systemEntropy } from '../adapters/system.ts';
import type { ApiDeps, ServiceFacts } from '../api/api-deps.ts';
import { createApi } from '../api/create-api.ts';
import type { Advice } from '../core/advice.ts';
import type { JsonObject } from '../core/json.ts';
import { err, ok, type Result } from '../core/result.ts';
import { createEngine, type Engine } from '../engine/engine.ts';
import { buildIdOf } from '../engine/handlers/build-id.ts';
import type { HandlerRegistry } from '../engine/handlers/registry.ts';
import { createActivity, observed } from '../engine/streams/activity.ts';
import type { HttpEffects } from '../ports/effects.ts';
import type { Seal } from '../ports/seal.ts';
import type { Log } from '../ports/system.ts';
import { apiSettings, engineSettings } from './engine-settings.ts';
import { loadRegistry } from './load-registry.ts';
import { type OnWarning, publishLoaded } from './load-sequences.ts';
import { type OpenStore, openStore } from './open-store.ts';
import { packageFacts } from './package-facts.ts';
import type { Settings } from '../settings/schema.ts';
import { startWhenMigrated } from './start-when-migrated.ts';

/** A server that takes calls. */
export interface RunningServer {
  readonly url: string;
  readonly version: string;
  readonly userHandlerNames: readonly string[];
  /** False while the database lacks migrations or does not answer. */
  readonly isReady: () => boolean;
  /** Instances that are being worked on now. */
  readonly activeTurnCount: () => number;
  /** Takes nothing new, waits for what runs, closes the database. False when something still ran after `graceMs`. */
  readonly stop: (graceMs: number) => Promise<boolean>;
}

export interface ServerOptions {
  /** Tenant of calls that name none; null: they see all tenants. */
  readonly defaultTenantId: string | null;
  readonly onProgress: (text: string) => void;
  readonly onWarning?: OnWarning;
  /** Published before the first call is taken; of `defaultTenantId`, or of `default`. */
  readonly sequences?: readonly JsonObject[];
}

/** The composition root of the resident server: store, engine, API and socket, put together from the settings. */
export async function openServer(
  settings: Settings,
  options: ServerOptions,
): Promise<Result<RunningServer, Advice>> {
  const { version } = packageFacts();
  // Handlers come first: a typing error in them is told before a database is touched.
  const registry = await loadRegistry(settings, version);
  if (!registry.ok) return registry;
  const opened = await openStore(settings, options.onProgress);
  if (!opened.ok) return opened;
  const published = await publishOwn(opened.value, registry.value.names, options);
  if (!published.ok) {
    await opened.value.close();
    return published;
  }
  const parts = assemble(settings, options, registry.value, opened.value, version);
  const { host, port } = settings.httpAddr;
  const server = await listen(createApi(parts.api), { host, port, clock: systemClock });
  if (!server.ok) {
    await opened.value.close();
    return err(listenAdvice(server.error.code, host, port));
  }
  const cancelStart = await startWhenMigrated(
    opened.value.store,
    parts.engine.loop,
    systemClock,
    options.onProgress,
  );
  return ok({
    url: `http://${host.includes(':') ? `[${host}]` : host}:${server.value.port}`,
    version,
    userHandlerNames: registry.value.userNames,
    isReady: () => parts.engine.loop.isAlive,
    activeTurnCount: () => parts.engine.runner.activeTurns,
    stop: async (graceMs) => {
      cancelStart();
      parts.drain();
      return await stopAll(parts.engine, server.value, opened.value, graceMs);
    },
  });
}

async function publishOwn(
  { store }: OpenStore,
  handlerNames: HandlerRegistry['names'],
  { sequences = [], defaultTenantId, onProgress, onWarning = () => undefined }: ServerOptions,
): Promise<Result<null, Advice>> {
  const tenantId = defaultTenantId ?? 'default';
  const published = await publishLoaded({ store, handlerNames }, tenantId, sequences, onWarning);
  if (!published.ok) return published;
  for (const line of published.value) onProgress(line);
  return ok(null);
}

interface Parts {
  readonly engine: Engine;
  readonly api: ApiDeps;
  /** From now on the process is not ready: load balancers send nothing new. */
  readonly drain: () => void;
}

function assemble(
  settings: Settings,
  options: ServerOptions,
  handlers: HandlerRegistry,
  { store: opened, isOurs }: OpenStore,
  version: string,
): Parts {
  const log = logOf(settings);
  const clock = systemClock;
  const activity = createActivity(clock);
  const store = observed(opened, activity);
  const entropy = systemEntropy;
  const seal = sealOf(settings);
  const leaseOwner = settings.nodeName ?? `${hostname()}-${process.pid}`;
  const engine = createEngine(
    {
      ...seal,
      store,
      handlers,
      clock,
      entropy,
      log,
      buildId: settings.buildId ?? buildIdOf(handlers.names, version),
      webhookClient: webhookClientOf(settings, version),
    },
    engineSettings(settings, leaseOwner, isOurs),
  );
  let draining = false;
  const notReadyReason: ServiceFacts['notReadyReason'] = () => {
    if (draining || engine.deps.node?.isDraining === true) return 'draining';
    // The engine is not started before the schema is there.
    if (!engine.loop.hasStarted) return 'migrations_pending';
    return engine.loop.isAlive ? null : 'engine_stopped';
  };
  const api: ApiDeps = {
    ...engine.deps,
    runner: engine.runner,
    limits: {
      ...engine.deps.limits,
      ...(settings.plans === undefined ? {} : { plans: settings.plans }),
    },
    handlerNames: handlers.names,
    settings: apiSettings(settings, options.defaultTenantId),
    service: { version, schemaVersion: SCHEMA_VERSION, notReadyReason },
    peerOf,
    activity,
    swaggerFile: swaggerFiles(join(packageFacts().root, 'dist')),
  };
  return {
    engine,
    api,
    drain: () => {
      draining = true;
      // An open stream would hold up the end for as long as it may; clients come back, to another process.
      activity.end();
    },
  };
}

/** Where nobody needs a key secrets are kept as they are; a server with keys keeps none without sealing them. */
function sealOf({ apiKey, encryptionKey, oldEncryptionKey }: Settings): { readonly seal?: Seal } {
  if (encryptionKey === undefined) return apiKey === undefined ? { seal: plainSeal } : {};
  const keys = {
    key: encryptionKey,
    ...(oldEncryptionKey === undefined ? {} : { oldKey: oldEncryptionKey }),
  };
  return { seal: createSeal(keys, systemEntropy) };
}

/** Webhooks go the guarded way of all requests. */
function webhookClientOf({ allowInternalUrls: allowInternal }: Settings, version: string): HttpEffects {
  return createOutboundClient({ clock: systemClock, userAgent: `stepwell/${version}`, allowInternal });
}

function logOf(settings: Settings): Log {
  const level = settings.logLevel === 'trace' ? 'debug' : settings.logLevel;
  return createLog({ level, format: settings.logJson ? 'json' : 'text' });
}

/** Requests and turns end side by side, since a request may wait for a turn. */
async function stopAll(
  engine: Engine,
  server: ListeningServer,
  opened: OpenStore,
  graceMs: number,
): Promise<boolean> {
  const drained = Promise.all([server.close(graceMs), engine.loop.stop()]).then(() => true);
  let cancel = (): void => {};
  const graceIsOver = new Promise<boolean>((resolve) => {
    cancel = systemClock.after(graceMs, () => resolve(false));
  });
  const inTime = await Promise.race([drained, graceIsOver]);
  cancel();
  if (inTime) await opened.close();
  return inTime;
}

function listenAdvice(code: string, host: string, port: number): Advice {
  const address = `${host}:${port}`;
  switch (code) {
    case 'EADDRINUSE':
      return {
        message: `${address} is in use by another program`,
        next: 'Choose another port with --port <number>.',
      };
    case 'EACCES':
      return {
        message: `${address} may not be used by this user`,
        next: 'Choose a port above 1023 with --port <number>.',
      };
    default:
      return { message: `${address} cannot be listened on (${code})`, next: 'Check STEPWELL_HTTP_ADDR.' };
  }
}
