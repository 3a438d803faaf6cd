import { systemClock } from '../../src/adapters/system.ts';
import { runWake } from '../../src/engine/deployment-wakes.ts';
import type { Clock } from '../../src/ports/system.ts';
import type { Invocation } from './compose.ts';
import { type PublishedMemory, publishOnce } from './publish.ts';
import type { AlarmInfo, ObjectState, ObjectStorage, WorkerEnv } from './platform.ts';
import { createWorkerLog } from './worker-log.ts';

/** Until when there must be an alarm whatever the database says, epoch ms. */
const GUARDED_UNTIL = 'guarded-until';
/** When the deployment was made that has published its sequences, epoch ms. */
const PUBLISHED = 'published';
/** Before the next wake when this one could not ask the database. */
const AGAIN_MS = 30_000;
/** After a wake that broke off, when whatever it has claimed is free again. */
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
export function createWakerClass(open: OpenWake, clock: Pick<Clock, 'nowMs'> = systemClock): WakerClass {
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
      const wakeWithin = (delayMs: number): Promise<void> => wakeAt(storage, clock.nowMs() + delayMs);
      // The one before broke off. The platform gives up after a few, so this one leaves another behind whatever becomes of it.
      if (info?.isRetry === true) await wakeWithin(AFTER_BREAK_MS);
      let log = createWorkerLog('warn');
      try {
        const invocation = open(this.#env);
        const { engine, remainingTimeMs } = invocation;
        log = engine.deps.log;
        await publishOnce(invocation, publishedIn(storage));
        const swept = await runWake(engine, { wakeWithin }, remainingTimeMs);
        log.info('woken', { ...swept });
      } catch (error) {
        log.warn('a wake could not do everything and is repeated', { error: String(error) });
        await wakeWithin(AGAIN_MS);
      }
      const until = await instantOf(storage, GUARDED_UNTIL);
      if (until > clock.nowMs()) await wakeAt(storage, until);
    }
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
      if ((await instantOf(storage, GUARDED_UNTIL)) < atMs) await storage.put(GUARDED_UNTIL, atMs);
      await wakeAt(storage, atMs);
      return 'kept';
    case '/wake':
      await wakeAt(storage, atMs);
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
    isPublished: async (deployedAt) => (await instantOf(storage, PUBLISHED)) >= deployedAt,
    async published(deployedAt) {
      if ((await instantOf(storage, PUBLISHED)) < deployedAt) await storage.put(PUBLISHED, deployedAt);
    },
  };
}

/** Only ever earlier. */
async function wakeAt(storage: ObjectStorage, atMs: number): Promise<void> {
  const current = await storage.getAlarm();
  if (current === null || atMs < current) await storage.setAlarm(atMs);
}

/** 0: never. */
async function instantOf(storage: ObjectStorage, key: string): Promise<number> {
  const instant = await storage.get(key);
  return typeof instant === 'number' ? instant : 0;
}
