import type { Json } from '../core/json.ts';
import type { Clock, Log } from '../ports/system.ts';
import type { Client, PublishedSequence, StartRequest } from './client.ts';
import type { TaskFailure } from './client/tasks.ts';
import type { Task } from './client/wire.ts';
import type { DefinedHandler } from './handler.ts';
import type { SequenceDraft } from './sequence-draft.ts';
import { composeWorld } from './testing/compose.ts';
import { createDriver, type MoveOptions } from './testing/drive.ts';
import type { HttpStub } from './testing/stub-effects.ts';
import { type TestRun, testRun } from './testing/test-run.ts';

export { ApiError } from './client.ts';
export type { MoveOptions } from './testing/drive.ts';
export type { HttpStub } from './testing/stub-effects.ts';
export type { TestRun } from './testing/test-run.ts';

export interface TestEngineOptions {
  readonly handlers?: readonly DefinedHandler[];
  /** Answers the requests of `http_request` steps; without it they fail. */
  readonly http?: HttpStub;
  /** Where the clock stands at first, RFC 3339; default 2026-01-01T00:00:00Z. */
  readonly startAt?: string;
  /** Default `default`. */
  readonly tenant?: string;
  /** Of ids, jitter and weighted choices, which are the same in each run; default 1. */
  readonly seed?: number;
  /** Default: errors of the engine go to standard error; those of steps are read with `client.instances.logs`. */
  readonly log?: Log;
}

/** What `start` takes beside the sequence and the data. */
export type StartOptions = Omit<StartRequest, 'sequence_id' | 'sequence_name' | 'context'>;

/** A worker task that a test does by hand. */
export interface TestTask {
  readonly task: Task;
  readonly complete: (output: Json) => Promise<void>;
  readonly fail: (failure: TaskFailure) => Promise<void>;
}

export interface TestEngine {
  /** The client of the engine's API, for everything that has no short form here. */
  readonly client: Client;
  /** The clock of this engine, for a worker under test. */
  readonly clock: Clock;
  readonly now: () => Date;
  readonly publish: (draft: SequenceDraft) => Promise<PublishedSequence>;
  /** Starts the newest version of a published sequence and lets the engine go as far as it can without time. */
  readonly start: (name: string, data?: Json, options?: StartOptions) => Promise<TestRun>;
  /** Publishes a sequence and starts it. */
  readonly run: (draft: SequenceDraft, data?: Json) => Promise<TestRun>;
  /** An instance by its id, such as a child. */
  readonly instance: (id: string) => TestRun;
  /** Takes the oldest task of a handler that this engine does not have; null when there is none. */
  readonly takeTask: (handler: string) => Promise<TestTask | null>;
  /** Lets the engine do all that it can do now, and waits for the handlers that run. */
  readonly settle: () => Promise<void>;
  /** Lets time pass: retries, delays, timeouts and deadlines happen at their instants, in their order. */
  readonly advance: (ms: number, options?: MoveOptions) => Promise<void>;
  /** As `advance`, to an instant in RFC 3339. */
  readonly advanceTo: (instant: string, options?: MoveOptions) => Promise<void>;
}

/**
 * An engine in memory with a clock that a test moves by hand. It is the real engine behind the real API, so a sequence
 * that works here works on a server.
 *
 *     const engine = createTestEngine({ handlers: [charge] });
 *     const run = await engine.run(order, { cents: 1200 });
 *     await run.finish();
 *     await run.assertState('completed');
 *
 * Handlers run for real: time stands still meanwhile, and `ctx.nowMs` is the engine's. Throws a TypeError when two
 * handlers have one name or one has a built-in name.
 */
export function createTestEngine(options: TestEngineOptions = {}): TestEngine {
  const world = composeWorld({
    handlers: options.handlers ?? [],
    http: options.http,
    startAtMs: instantMs(options.startAt ?? '2026-01-01T00:00:00Z'),
    tenant: options.tenant ?? 'default',
    seed: options.seed ?? 1,
    log: options.log,
  });
  const { client, time } = world;
  const driver = createDriver(world);
  const start = async (name: string, data: Json = {}, more: StartOptions = {}): Promise<TestRun> => {
    const request = { ...more, sequence_name: name, context: { data } };
    const { id } = await client.instances.start(request);
    await driver.settle();
    return testRun(world, driver, id);
  };
  return {
    client,
    clock: time.clock,
    now: () => new Date(time.nowMs()),
    publish: (draft) => client.sequences.publish(draft),
    start,
    run: async (draft, data = {}) => {
      const { version } = await client.sequences.publish(draft);
      return start(draft.name, data, { namespace: draft.namespace ?? 'default', version });
    },
    instance: (id) => testRun(world, driver, id),
    takeTask: async (handler) => {
      await driver.settle();
      const [task] = await client.tasks.poll({ handler_name: handler, worker_id: 'test' });
      return task === undefined ? null : testTask(client, driver.settle, task);
    },
    settle: () => driver.settle(),
    advance: (ms, move = {}) => driver.moveTo(time.nowMs() + ms, move),
    advanceTo: async (instant, move = {}) => await driver.moveTo(instantMs(instant), move),
  };
}

function testTask(client: Client, settle: () => Promise<void>, task: Task): TestTask {
  return {
    task,
    complete: async (output) => {
      await client.tasks.complete(task, output);
      await settle();
    },
    fail: async (failure) => {
      await client.tasks.fail(task, failure);
      await settle();
    },
  };
}

function instantMs(instant: string): number {
  const atMs = Date.parse(instant);
  if (Number.isNaN(atMs)) throw new TypeError(`not an instant: ${instant}`);
  return atMs;
}
