import { wakeAtMost } from '../../src/core/farthest-wake.ts';
import { systemClock, systemEntropy } from '../../src/adapters/system.ts';
import { runWake } from '../../src/engine/deployment-wakes.ts';
import { comeAgainAfter, type FailedWakes, pauseAfterFailed } from '../../src/engine/failed-wakes.ts';
import type { Clock, Entropy, LogFields } from '../../src/ports/system.ts';
import type { Invocation } from './compose.ts';
import { type PublishedMemory, publishOnce } from './publish.ts';
import type { AlarmInfo, ObjectState, ObjectStorage, WorkerEnv } from './platform.ts';
import { createWorkerLog } from './worker-log.ts';

/** Until when there must be an alarm whatever the database says, epoch ms. */
const GUARDED_UNTIL = 'guarded-until';
/** When the deployment was made that has published its sequences, epoch ms. */
const PUBLISHED = 'published';
/** How many wakes have failed in a row. */
const FAILED = 'failed';
/** Least pause after a wake that broke off, when whatever it has claimed is free again. */
const AFTER_BREAK_MS = 120_000;

/** What a wake needs of an invocation. */
type OpenWake = (env: WorkerEnv) => Pick<Invocation, 'engine' | 'publishing' | 'remainingTimeMs'>;

/** The class that a Worker exports under the name of its Durable Object. */
export type WakerClass = new (state: ObjectState, env: WorkerEnv) => Waker;

export interface Waker {
  fetch(request: Request): Promise<Response>;
  alarm(info?: AlarmInfo): Promise<void>;
}

/**
 * The waker of a deployment: one object whose alarm is the next wake (RULINGS A33). The platform repeats an alarm
 * whose handler did not end, six times; so the second handling keeps an alarm of its own first, and there always is one.
 */
export function createWakerClass(
  open: OpenWake,
  clock: Pick<Clock, 'nowMs'> = systemClock,
  entropy: Entropy = systemEntropy,
): WakerClass {
  return class StepwellWaker implements Waker {
    readonly #storage: ObjectStorage;
    readonly #env: WorkerEnv;

    constructor(state: ObjectState, env: WorkerEnv) {
      this.#storage = state.storage;
      this.#env = env;
    }

    async fetch(request: Request): Promise<Response> {
      return new Response(await answer(this.#storage, new URL(request.url), clock.nowMs()));
    }

    async alarm(info?: AlarmInfo): Promise<void> {
      const storage = this.#storage;
      const waker = {
        wakeWithin: (delayMs: number) => {
          const nowMs = clock.nowMs();
          return wakeAt(storage, wakeAtMost(nowMs, nowMs + delayMs));
        },
      };
      const failed = failedIn(storage, waker.wakeWithin);
      let log = createWorkerLog('warn');
      const broken = info?.isRetry === true ? await keepAfterBreak(failed, entropy) : null;
      try {
        const invocation = open(this.#env);
        const { engine, remainingTimeMs } = invocation;
        log = engine.deps.log;
        if (broken !== null) log.warn('a wake broke off and is repeated', broken);
        await publishOnce(invocation, publishedIn(storage));
        const woken = await runWake(engine, remainingTimeMs, { waker, failed, isRepeated: true });
        log.info('woken', { ...woken.result });
        if (!woken.comesAgain && woken.problem !== null) throw woken.problem;
      } catch (error) {
        await comeAgainAfter(error, await failed.count(), { waker, failed, entropy, log });
      }
      const until = await numberOf(storage, GUARDED_UNTIL);
      if (until > clock.nowMs()) await wakeAt(storage, until);
    }
  };
}

/**
 * The handling before this one broke off. The platform gives up after a few, so this one leaves another behind whatever becomes of
 * it; when each breaks off, after pauses that grow. Answers what the log is to say.
 */
async function keepAfterBreak(failed: FailedWakes, entropy: Entropy): Promise<LogFields> {
  const count = (await failed.count()) + 1;
  const pause = pauseAfterFailed(count, entropy);
  const delayMs = Math.max(AFTER_BREAK_MS, pause.delayMs);
  await failed.comeAgain({ ...pause, delayMs }, count);
  return { failed_wakes: count, again_ms: delayMs };
}

/** The object outlives the processes in which it is woken. */
function failedIn(storage: ObjectStorage, wakeWithin: (delayMs: number) => Promise<void>): FailedWakes {
  return {
    count: () => numberOf(storage, FAILED),
    async comeAgain({ delayMs }, failedCount) {
      await storage.put(FAILED, failedCount);
      await wakeWithin(delayMs);
    },
    async forget() {
      if ((await numberOf(storage, FAILED)) > 0) await storage.put(FAILED, 0);
    },
  };
}

/** The calls of object-waker.ts. */
async function answer(
  storage: ObjectStorage,
  { pathname, searchParams }: URL,
  nowMs: number,
): Promise<string> {
  const atMs = nowMs + Number(searchParams.get('ms') ?? '0');
  const deployedAt = Number(searchParams.get('at') ?? '0');
  switch (pathname) {
    case '/guard':
      if ((await numberOf(storage, GUARDED_UNTIL)) < atMs) await storage.put(GUARDED_UNTIL, atMs);
      await wakeAt(storage, atMs);
      return 'kept';
    case '/wake':
      await wakeAt(storage, wakeAtMost(nowMs, atMs));
      return 'kept';
    case '/is-published':
      return (await publishedIn(storage).isPublished(deployedAt)) ? 'yes' : 'no';
    case '/published':
      await publishedIn(storage).published(deployedAt);
      return 'kept';
    case '/next':
      return String((await storage.getAlarm()) ?? 'none');
    default:
      return 'unknown';
  }
}

/** Only ever later. */
function publishedIn(storage: ObjectStorage): NonNullable<PublishedMemory> {
  return {
    isPublished: async (deployedAt) => (await numberOf(storage, PUBLISHED)) >= deployedAt,
    async published(deployedAt) {
      if ((await numberOf(storage, PUBLISHED)) < deployedAt) await storage.put(PUBLISHED, deployedAt);
    },
  };
}

/** Only ever earlier. */
async function wakeAt(storage: ObjectStorage, atMs: number): Promise<void> {
  const current = await storage.getAlarm();
  if (current === null || atMs < current) await storage.setAlarm(atMs);
}

/** 0: it was never put. */
async function numberOf(storage: ObjectStorage, key: string): Promise<number> {
  const value = await storage.get(key);
  return typeof value === 'number' ? value : 0;
}
