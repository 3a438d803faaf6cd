import type { SqlDriver } from '../../src/adapters/postgres/driver.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import { createSqsQueue, type SqsQueue } from '../../src/adapters/sqs/sqs-queue.ts';
import { createLog, systemClock, systemEntropy } from '../../src/adapters/system.ts';
import { createFunctionEngine, type FunctionEngine } from '../../src/engine/function-engine.ts';
import { buildIdOf } from '../../src/engine/handlers/build-id.ts';
import type { HttpEffects } from '../../src/ports/effects.ts';
import type { GuardMemory } from '../../src/engine/deployment-wakes.ts';
import type { Log } from '../../src/ports/system.ts';
import type { ScheduleWaker } from '../../src/adapters/scheduler/schedule-waker.ts';
import { version } from '../../package.json';
import { engineSettings, registryOf } from '../engine-settings.ts';
import type { Project } from '../project.ts';
import { handlersOf } from '../project-handlers.ts';
import type { FunctionSettings } from '../settings.ts';
import { driverNameOf } from './driver-name.ts';

/** What the functions of one process share: it is put together by the first event, and kept until the host ends it. */
export type AwsHost = () => Promise<AwsParts>;

export interface AwsParts {
  readonly engine: FunctionEngine;
  readonly queue: SqsQueue;
  readonly log: Log;
  /** For what alarms read: written whatever `STEPWELL_LOG_LEVEL` says. */
  readonly watched: Log;
  readonly settings: FunctionSettings;
  readonly version: string;
  /** What the invocations of this process have kept in economy mode. */
  readonly wakes: {
    waker: Promise<ScheduleWaker> | null;
    readonly memory: GuardMemory;
    readonly failed: FailedMemory;
  };
}

/** What this process knows of wakes that have failed; another one has it from the event of its wake. */
export interface FailedMemory {
  /** In a row. */
  count: number;
  /** When a wake of this process last did everything, on the wall clock. */
  doneAtMs: number;
  /** Invocations that have failed and have kept another, the latest last: the host repeats each in vain. */
  requestIds: readonly string[];
}

export interface AwsHostOptions {
  /** The user's handlers: an array, or a module that exports them. Default: the built-in ones only. */
  readonly handlers?: Project['handlers'];
  /** Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Takes the lines of the log. Default: standard error, which the host collects. */
  readonly writeLog?: (line: string) => void;
}

/** RULINGS B20: what Lambda answers to a caller is bounded. */
const MAX_OUTPUT_BYTES = 5 * 1024 * 1024;

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
  // With its schema library this is half of what a function loads; nothing is needed of it before the first event.
  const [{ readSettings, settingWarnings }, { sealOf }] = await Promise.all([
    import('../settings.ts'),
    import('../seal-of.ts'),
  ]);
  const settings = readSettings(environment);
  const logTo = { format: 'json', ...(writeLog === undefined ? {} : { write: writeLog }) } as const;
  const log = createLog({ ...logTo, level: settings.STEPWELL_LOG_LEVEL });
  for (const warning of settingWarnings('lambda', environment)) log.warn(warning);
  const watched = createLog({ ...logTo, level: 'info' });
  const queue = createSqsQueue({ queueUrl: settings.STEPWELL_QUEUE_URL, log, clock: systemClock });
  const effects = outboundClient(settings);
  const registry = registryOf(settings, effects, handlersOf({ handlers }));
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
    engineSettings(settings, {
      leaseOwner: environment['AWS_LAMBDA_LOG_STREAM_NAME'] ?? 'aws',
      buildId,
      maxOutputBytes: MAX_OUTPUT_BYTES,
    }),
  );
  const failed = { count: 0, doneAtMs: 0, requestIds: [] };
  const wakes = { waker: null, memory: { keptUntilMs: 0 }, failed };
  return { engine, queue, log, watched, settings, version, wakes };
}

/** The client is loaded with the first call that goes out. */
function outboundClient(settings: FunctionSettings): HttpEffects {
  let opened: Promise<HttpEffects> | null = null;
  const open = async (): Promise<HttpEffects> => {
    const { createOutboundClient } = await import('../../src/adapters/http/outbound-client.ts');
    const allowInternal = settings.STEPWELL_ALLOW_INTERNAL_URLS;
    return createOutboundClient({ clock: systemClock, userAgent: `stepwell/${version}`, allowInternal });
  };
  return {
    async send(request) {
      opened ??= open();
      return (await opened).send(request);
    },
  };
}

/** A call waits so long for a database that starts or wakes up; what takes longer is the queue's and the caller's. */
const WAIT_FOR_DATABASE_MS = 1_000;
/** A process that is frozen cannot close its connection, so the server does. */
const IDLE_SESSION_MS = 60_000;

/** Only the driver that is used is loaded. */
async function openDriver(settings: FunctionSettings): Promise<SqlDriver> {
  const connectionString = settings.STEPWELL_DATABASE_URL;
  if (driverNameOf(connectionString, settings.STEPWELL_DATABASE_DRIVER) === 'neon') {
    const { createNeonDriver } = await import('../../src/adapters/postgres/drivers/neon.ts');
    return createNeonDriver({
      connectionString,
      clock: systemClock,
      waitForDatabaseMs: WAIT_FOR_DATABASE_MS,
    });
  }
  const { createPgDriver } = await import('../../src/adapters/postgres/drivers/pg.ts');
  const { STEPWELL_DATABASE_POOLER: pooler, STEPWELL_DATABASE_CA: ca } = settings;
  return createPgDriver({
    connectionString,
    pooler,
    ...(ca === undefined ? {} : { ca }),
    // One connection: the turns of one invocation share their statements (reliability.md 5.4).
    poolSize: 1,
    waitForDatabaseMs: WAIT_FOR_DATABASE_MS,
    idleSessionMs: IDLE_SESSION_MS,
  });
}
