import { systemClock } from '../../src/adapters/system.ts';
import { runWake } from '../../src/engine/deployment-wakes.ts';
import type { Clock } from '../../src/ports/system.ts';
import type { Invocation } from './compose.ts';
import type { ObjectState, ObjectStorage, WorkerEnv } from './platform.ts';

/** Until when there must be an alarm whatever the database says, epoch ms. */
const GUARDED_UNTIL = 'guarded-until';
const PUBLISHED = 'published';
/** Before the next wake when this one could not ask the database. */
const AGAIN_MS = 30_000;

/** What a wake needs of an invocation. */
type OpenWake = (env: WorkerEnv) => Pick<Invocation, 'engine' | 'remainingTimeMs'>;

/** The class that a Worker exports under the name of its Durable Object. */
export type WakerClass = new (state: ObjectState, env: WorkerEnv) => Waker;

export interface Waker {
  fetch(request: Request): Promise<Response>;
  alarm(): Promise<void>;
}

/**
 * The waker of a deployment: one object whose alarm is the next wake (RULINGS A33). The platform repeats an alarm that
 * failed, so nothing is lost while one is being handled.
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

    async alarm(): Promise<void> {
      const storage = this.#storage;
      const wakeWithin = (delayMs: number): Promise<void> => wakeAt(storage, clock.nowMs() + delayMs);
      const { engine, remainingTimeMs } = open(this.#env);
      const { log } = engine.deps;
      try {
        const swept = await runWake(engine, { wakeWithin }, remainingTimeMs);
        log.info('woken', { ...swept });
      } catch (error) {
        log.warn('a wake found no database and is repeated', { error: String(error) });
        await wakeWithin(AGAIN_MS);
      }
      const until = await guardedUntil(storage);
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
  switch (pathname) {
    case '/guard':
      if ((await guardedUntil(storage)) < atMs) await storage.put(GUARDED_UNTIL, atMs);
      await wakeAt(storage, atMs);
      return 'kept';
    case '/wake':
      await wakeAt(storage, atMs);
      return 'kept';
    case '/is-published':
      return (await storage.get(PUBLISHED)) === searchParams.get('digest') ? 'yes' : 'no';
    case '/published':
      await storage.put(PUBLISHED, searchParams.get('digest'));
      return 'kept';
    case '/next':
      return String((await storage.getAlarm()) ?? 'none');
    default:
      return 'unknown';
  }
}

/** Only ever earlier. */
async function wakeAt(storage: ObjectStorage, atMs: number): Promise<void> {
  const current = await storage.getAlarm();
  if (current === null || atMs < current) await storage.setAlarm(atMs);
}

async function guardedUntil(storage: ObjectStorage): Promise<number> {
  const until = await storage.get(GUARDED_UNTIL);
  return typeof until === 'number' ? until : 0;
}
