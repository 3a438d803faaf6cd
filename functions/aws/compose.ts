import { createOutboundClient } from '../../src/adapters/http/outbound-client.ts';
import type { SqlDriver } from '../../src/adapters/postgres/driver.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import { createSqsQueue, type SqsQueue } from '../../src/adapters/sqs/sqs-queue.ts';
import { createSeal, plainSeal } from '../../src/adapters/seal.ts';
import { createLog, systemClock, systemEntropy } from '../../src/adapters/system.ts';
import { sha256Hex } from '../../src/core/digest.ts';
import { createFunctionEngine, type FunctionEngine } from '../../src/engine/function-engine.ts';
import { builtInHandlers } from '../../src/engine/handlers/built-in.ts';
import { buildIdOf } from '../../src/engine/handlers/build-id.ts';
import { createHandlerRegistry, type HandlerRegistry } from '../../src/engine/handlers/registry.ts';
import { NODE_BEAT_MS, type NodeSettings } from '../../src/engine/cluster/cluster-node.ts';
import type { WebhookSettings } from '../../src/engine/webhooks/send-webhook.ts';
import type { HttpEffects } from '../../src/ports/effects.ts';
import type { Seal } from '../../src/ports/seal.ts';
import type { Log } from '../../src/ports/system.ts';
import type { DefinedHandler } from '../../src/sdk/handler.ts';
import { toStepHandler } from '../../src/sdk/step-handler.ts';
import { version } from '../../package.json';
import { type FunctionSettings, readSettings } from '../settings.ts';

/** What the functions of one process share: it is put together by the first event, and kept until the host ends it. */
export type AwsHost = () => Promise<AwsParts>;

export interface AwsParts {
  readonly engine: FunctionEngine;
  readonly queue: SqsQueue;
  readonly log: Log;
  readonly settings: FunctionSettings;
  readonly version: string;
}

export interface AwsHostOptions {
  /** The user's handlers. Default: the built-in ones only. */
  readonly handlers?: readonly DefinedHandler[];
  /** Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Takes the lines of the log. Default: standard error, which the host collects. */
  readonly writeLog?: (line: string) => void;
}

/** Take-overs in a row after which a run counts as poison ([REC-3]). */
const MAX_RECOVERIES = 3;
/** RULINGS B20: what Lambda answers to a caller is bounded. */
const MAX_OUTPUT_BYTES = 5 * 1024 * 1024;
/** RULINGS B6. */
const IN_PLACE_WAIT_MS = 1_000;
const TURNS_AT_ONCE = 64;

/** The composition root of the AWS functions. Nothing is read or connected before the first event. */
export function createAwsHost(options: AwsHostOptions = {}): AwsHost {
  let parts: Promise<AwsParts> | null = null;
  return () => {
    parts ??= compose(options);
    return parts;
  };
}

async function compose(options: AwsHostOptions): Promise<AwsParts> {
  const { handlers = [], environment = process.env, writeLog } = options;
  const settings = readSettings(environment);
  const log = createLog({
    level: settings.STEPWELL_LOG_LEVEL,
    format: 'json',
    ...(writeLog === undefined ? {} : { write: writeLog }),
  });
  const queue = createSqsQueue({ queueUrl: settings.STEPWELL_QUEUE_URL, log, clock: systemClock });
  const effects = createOutboundClient({
    clock: systemClock,
    userAgent: `stepwell/${version}`,
    allowInternal: settings.STEPWELL_ALLOW_INTERNAL_URLS ?? false,
  });
  const registry = registryOf(settings, effects, handlers);
  const buildId = settings.STEPWELL_BUILD_ID ?? buildIdOf(registry.names, version);
  const engine = createFunctionEngine(
    {
      store: createPostgresStore(await openDriver(settings)),
      handlers: registry,
      buildId,
      queue,
      webhookClient: effects,
      clock: systemClock,
      entropy: systemEntropy,
      log,
      ...sealOf(settings),
    },
    {
      leaseOwner: environment['AWS_LAMBDA_LOG_STREAM_NAME'] ?? 'aws',
      leaseMs: settings.STEPWELL_LEASE_MS ?? null,
      maxTurns: TURNS_AT_ONCE,
      maxConcurrentSteps: settings.STEPWELL_MAX_CONCURRENT_STEPS,
      maxInstancesPerTenant: settings.STEPWELL_MAX_INSTANCES_PER_TENANT,
      maxStepsPerTurn: settings.STEPWELL_MAX_STEPS_PER_INVOCATION,
      maxStepsPerInstance: settings.STEPWELL_MAX_STEPS_PER_INSTANCE,
      breakers: {
        threshold: settings.STEPWELL_BREAKER_FAILURE_THRESHOLD,
        cooldownMs: settings.STEPWELL_BREAKER_COOLDOWN_SECS * 1000,
      },
      maxRecoveries: MAX_RECOVERIES,
      maxContextBytes: settings.STEPWELL_MAX_CONTEXT_BYTES,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      silentTaskMs: settings.STEPWELL_WORKER_REAPER_STALE_SECS * 1000,
      inPlaceWaitMs: IN_PLACE_WAIT_MS,
      webhooks: webhooksOf(settings),
      node: nodeOf(settings, buildId),
    },
  );
  return { engine, queue, log, settings, version };
}

/** As on a server: with keys of any kind, secrets are kept sealed or not at all. */
function sealOf(settings: FunctionSettings): { readonly seal?: Seal } {
  const { STEPWELL_ENCRYPTION_KEY: key, STEPWELL_OLD_ENCRYPTION_KEY: oldKey } = settings;
  if (key === undefined) return settings.STEPWELL_API_KEY === undefined ? { seal: plainSeal } : {};
  return { seal: createSeal({ key, ...(oldKey === undefined ? {} : { oldKey }) }, systemEntropy) };
}

/** Only the driver that is used is loaded. */
async function openDriver(settings: FunctionSettings): Promise<SqlDriver> {
  const connectionString = settings.STEPWELL_DATABASE_URL;
  if ((settings.STEPWELL_DATABASE_DRIVER ?? driverFor(connectionString)) === 'neon') {
    const { createNeonDriver } = await import('../../src/adapters/postgres/drivers/neon.ts');
    return createNeonDriver({ connectionString, clock: systemClock });
  }
  const { createPgDriver } = await import('../../src/adapters/postgres/drivers/pg.ts');
  // One connection: the turns of one invocation share their statements (reliability.md 5.4).
  return createPgDriver({ connectionString, poolSize: 1 });
}

function driverFor(connectionString: string): 'neon' | 'pg' {
  const isNeon = URL.canParse(connectionString) && new URL(connectionString).hostname.endsWith('.neon.tech');
  return isNeon ? 'neon' : 'pg';
}

/** One logical node stands for all processes of a deployment; the next build is another one. */
function nodeOf(settings: FunctionSettings, buildId: string): NodeSettings {
  const hex = sha256Hex(`functions of build ${buildId}`);
  return {
    id: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`,
    name: settings.STEPWELL_NODE_NAME ?? 'functions',
    beatMs: NODE_BEAT_MS,
    silentMs: settings.STEPWELL_NODE_REAPER_STALE_SECS * 1000,
    reapEveryMs: settings.STEPWELL_NODE_REAPER_TICK_SECS * 1000,
  };
}

function webhooksOf(settings: FunctionSettings): WebhookSettings {
  return {
    urls: settings.STEPWELL_WEBHOOK_URLS,
    secret: settings.STEPWELL_WEBHOOK_SECRET ?? null,
    timeoutMs: settings.STEPWELL_WEBHOOK_TIMEOUT_SECS * 1000,
    maxRetries: settings.STEPWELL_WEBHOOK_MAX_RETRIES,
    cancelled: settings.STEPWELL_WEBHOOK_CANCELLED ?? false,
  };
}

function registryOf(
  settings: FunctionSettings,
  effects: HttpEffects,
  users: readonly DefinedHandler[],
): HandlerRegistry {
  const allowInternal = settings.STEPWELL_ALLOW_INTERNAL_URLS ?? false;
  const registry = createHandlerRegistry(
    builtInHandlers({ effects, entropy: systemEntropy, allowInternal }),
    users.map((handler) => toStepHandler(handler, systemClock)),
  );
  if (!registry.ok) throw new Error(registry.error.join('; '));
  return registry.value;
}
