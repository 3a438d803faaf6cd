import type { AwsHost, AwsParts } from '../functions/aws/compose.ts';
import { createTurnHandler } from '../functions/aws/turn.ts';
import { createSweepHandler } from '../functions/aws/sweep.ts';
import { engineSettings, registryOf } from '../functions/engine-settings.ts';
import { readSettings } from '../functions/settings.ts';
import { createOutboundClient } from '../src/adapters/http/outbound-client.ts';
import { createNeonDriver } from '../src/adapters/postgres/drivers/neon.ts';
import { createPostgresStore } from '../src/adapters/postgres/store.ts';
import { createLog, systemClock, systemEntropy } from '../src/adapters/system.ts';
import { encodeHintMessage } from '../src/core/hint-message.ts';
import { createFunctionEngine } from '../src/engine/function-engine.ts';
import type { Hint } from '../src/ports/hints.ts';
import type { Clock } from '../src/ports/system.ts';
import type { ScheduleWaker } from '../src/adapters/scheduler/schedule-waker.ts';
import { defineHandler } from '../src/sdk/handler.ts';
import { newInstance, publishFlat } from './bench-engine.ts';

const MAX_OUTPUT_BYTES = 5 * 1024 * 1024;
const LIMIT_MS = 60_000;

export interface FunctionHost {
  readonly parts: AwsParts;
  /** Publishes a flat sequence of so many effectful steps; answers its id. */
  readonly publish: (steps: number) => Promise<string>;
  /** Stores an instance and sends the hint that a start sends. */
  readonly start: (sequenceId: string) => Promise<void>;
  /** Calls the turn function with one message after the other until the queue is empty; answers how many calls it were. */
  readonly drain: () => Promise<number>;
  readonly sweep: () => Promise<void>;
  /** Calls of the steps' handler so far. */
  readonly stepCount: () => number;
  readonly close: () => Promise<void>;
}

export interface FunctionHostOptions {
  readonly databaseUrl: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** Economy mode. */
  readonly waker?: ScheduleWaker;
}

/**
 * The functions of AWS as they are deployed, with the settings of their environment and the driver of Neon; only the queue is
 * a list in memory, so that what is measured is the database and the engine.
 */
export function createFunctionHost({ databaseUrl, waker, ...options }: FunctionHostOptions): FunctionHost {
  const { clock = systemClock, environment = {} } = options;
  const settings = readSettings({
    STEPWELL_DATABASE_URL: databaseUrl,
    STEPWELL_QUEUE_URL: 'http://127.0.0.1:1/turns',
    STEPWELL_INSECURE: '1',
    ...(waker === undefined ? {} : { STEPWELL_WAKE_GROUP: 'bench', STEPWELL_WAKE_ROLE_ARN: 'bench' }),
    ...environment,
  });
  let calls = 0;
  const effect = defineHandler('effect', {}, () => {
    calls += 1;
    return { ok: true };
  });
  const queue = createListQueue();
  const log = createLog({ level: 'warn', format: 'text' });
  const effects = createOutboundClient({ clock, userAgent: 'bench', allowInternal: false });
  const engine = createFunctionEngine(
    {
      store: createPostgresStore(createNeonDriver({ connectionString: databaseUrl, clock: systemClock })),
      handlers: registryOf(settings, effects, [effect]),
      buildId: 'bench',
      queue,
      webhookClient: effects,
      clock,
      entropy: systemEntropy,
      log,
    },
    engineSettings(settings, { leaseOwner: 'bench', buildId: 'bench', maxOutputBytes: MAX_OUTPUT_BYTES }),
  );
  const wakes = wakesOf(waker);
  const parts: AwsParts = { engine, queue, log, watched: log, settings, version: 'bench', wakes };
  const host: AwsHost = () => Promise.resolve(parts);
  const turn = createTurnHandler(host);
  const sweep = createSweepHandler(host);
  return {
    parts,
    publish: (steps) => publishFlat(engine, steps),
    async start(sequenceId) {
      const instance = newInstance(engine, sequenceId);
      await engine.deps.store.start({ instances: [instance], onKnownKey: 'first' });
      queue.send([{ tenantId: instance.tenantId, instanceId: instance.id, delayMs: 0 }]);
    },
    async drain() {
      let invocations = 0;
      for (let body = queue.take(); body !== undefined; body = queue.take()) {
        invocations += 1;
        const record = { messageId: String(invocations), receiptHandle: String(invocations), body };
        const { batchItemFailures } = await turn({ Records: [record] }, lambda());
        if (batchItemFailures.length > 0) throw new Error('the turn function gave a message back');
      }
      return invocations;
    },
    sweep: () => sweep({}, lambda()),
    stepCount: () => calls,
    close: () => engine.deps.store.close(),
  };
}

function wakesOf(waker: ScheduleWaker | undefined): AwsParts['wakes'] {
  return {
    waker: waker === undefined ? null : Promise.resolve(waker),
    memory: { keptUntilMs: 0 },
    failed: { count: 0, doneAtMs: 0, requestIds: [] },
  };
}

/** What the host tells an invocation: its time limit counts from its start. */
function lambda() {
  const endsAt = systemClock.monotonicMs() + LIMIT_MS;
  return {
    invokedFunctionArn: 'bench',
    getRemainingTimeInMillis: () => endsAt - systemClock.monotonicMs(),
  };
}

function createListQueue() {
  const bodies: string[] = [];
  return {
    send(hints: readonly Hint[]): void {
      for (const hint of hints) {
        const body = encodeHintMessage(hint);
        if (body !== null) bodies.push(body);
      }
    },
    take: () => bodies.shift(),
    settled: () => Promise.resolve(),
    giveBack: () => Promise.resolve(),
  };
}
