import { createLog, systemClock, systemEntropy } from '../adapters/system.ts';
import { createIdSource } from '../engine/ids.ts';
import type { Clock, Entropy, Log } from '../ports/system.ts';
import type { Client } from './client.ts';
import type { DefinedHandler } from './handler.ts';
import { handlerTable, type WorkerFunction } from './worker/handlers.ts';
import { type PollLoop, startPolling } from './worker/poll-loop.ts';
import { runTask, type TaskDeps } from './worker/run-task.ts';

export { ApiError, type Client, type ClientOptions, createClient } from './client.ts';
export { type DefinedHandler, defineHandler, type HandlerContext, StepError } from './handler.ts';
export type { WorkerContext, WorkerFunction } from './worker/handlers.ts';

export interface WorkerOptions {
  readonly client: Client;
  /** Handlers made by `defineHandler`, under their own names. */
  readonly handlers?: readonly DefinedHandler[];
  /** Plain functions by the name of the handler. */
  readonly functions?: Readonly<Record<string, WorkerFunction>>;
  /** Takes tasks of this queue only; default: of all. */
  readonly queue?: string | undefined;
  /** Shown by `GET /workers`; default: made anew for each worker. */
  readonly workerId?: string;
  /** Of the worker's code, for version pins. */
  readonly version?: string | undefined;
  /** Tasks at once; default 10. */
  readonly concurrency?: number;
  /** Default 20 s; after 60 s of silence a task is given to another worker. */
  readonly heartbeatMs?: number;
  /** The longest pause between two polls while there is nothing to do; default 5 s. */
  readonly longestIdleMs?: number;
  /** Default: warnings and errors go to standard error. */
  readonly log?: Log;
  readonly clock?: Clock;
  readonly entropy?: Entropy;
}

export interface Worker {
  readonly workerId: string;
  /** Tasks that run now. */
  readonly activeCount: () => number;
  /** Begins to poll. */
  readonly start: () => void;
  /**
   * Takes nothing more and waits for what runs. After `graceMs` (default 30 s) the signals of the handlers fire. Answers
   * how many tasks still ran at the end; the server gives them to another worker.
   */
  readonly stop: (options?: { readonly graceMs?: number }) => Promise<number>;
}

/** After their signals have fired, handlers have so long to end. */
const LAST_WORDS_MS = 1000;

/**
 * A worker: it polls for tasks of its handlers, runs them with a timeout and heartbeats, and reports what they return or
 * throw. Steps get to it by a handler name that the engine does not know itself.
 *
 *     const worker = createWorker({ client: createClient({ url }), handlers: [charge], functions: { lookup } });
 *     worker.start();
 *     process.once('SIGTERM', () => void worker.stop());
 *
 * A task may be done more than once, as any step may: hand `ctx.idempotencyKey` to the services you call. Throws a
 * TypeError without handlers, or when two have one name.
 */
export function createWorker(options: WorkerOptions): Worker {
  const { client, clock = systemClock, entropy = systemEntropy } = options;
  const log = options.log ?? createLog({ level: 'warn', format: 'text' });
  const table = handlerTable(options.handlers ?? [], options.functions ?? {});
  const workerId = options.workerId ?? `worker-${createIdSource(clock, entropy).newId()}`;
  const gaveUp = new AbortController();
  const deps: TaskDeps = {
    tasks: client.tasks,
    tenantId: client.tenant ?? '',
    clock,
    log,
    heartbeatMs: options.heartbeatMs ?? 20_000,
    stopped: gaveUp.signal,
  };
  let loop: PollLoop | null = null;
  let stopped: Promise<number> | null = null;
  return {
    workerId,
    activeCount: () => loop?.activeCount() ?? 0,
    start: () => {
      if (stopped !== null) throw new Error('a worker that was stopped cannot be started again');
      loop ??= startPolling({
        ...deps,
        handlerNames: [...table.keys()],
        workerId,
        queue: options.queue,
        version: options.version,
        concurrency: Math.max(1, options.concurrency ?? 10),
        longestIdleMs: options.longestIdleMs ?? 5000,
        run: async (task) => {
          const handlerOf = table.get(task.handler_name);
          if (handlerOf !== undefined) await runTask(deps, task, handlerOf);
        },
      });
    },
    stop: ({ graceMs = 30_000 } = {}) => {
      stopped ??= loop === null ? Promise.resolve(0) : stopLoop(loop, clock, graceMs, gaveUp);
      return stopped;
    },
  };
}

async function stopLoop(
  loop: PollLoop,
  clock: Pick<Clock, 'after'>,
  graceMs: number,
  gaveUp: AbortController,
): Promise<number> {
  const done = loop.end().then(() => loop.idle());
  if (await atMost(clock, graceMs, done)) return 0;
  gaveUp.abort();
  await atMost(clock, LAST_WORDS_MS, done);
  return loop.activeCount();
}

/** False when the work was not done in time. */
async function atMost(clock: Pick<Clock, 'after'>, limitMs: number, work: Promise<void>): Promise<boolean> {
  let disarm = (): void => undefined;
  const limit = new Promise<boolean>((resolve) => {
    disarm = clock.after(limitMs, () => resolve(false));
  });
  const inTime = await Promise.race([work.then(() => true), limit]);
  disarm();
  return inTime;
}
