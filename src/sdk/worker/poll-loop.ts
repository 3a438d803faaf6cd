import type { Clock, Log } from '../../ports/system.ts';
import type { Tasks } from '../client/tasks.ts';
import type { Task } from '../client/wire.ts';

/** The first pause after a round without tasks; it doubles up to the longest. */
const FIRST_IDLE_MS = 500;
/** What one poll may ask for (http-api.md 19.2). */
const MAX_TASKS_PER_POLL = 1000;

export interface PollDeps {
  readonly tasks: Pick<Tasks, 'poll'>;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Log;
  readonly handlerNames: readonly string[];
  readonly workerId: string;
  readonly queue: string | undefined;
  readonly version: string | undefined;
  readonly concurrency: number;
  readonly longestIdleMs: number;
  /** Ends a poll that is under way. */
  readonly stopped: AbortSignal;
  /** Does a task; resolves when it is over. */
  readonly run: (task: Task) => Promise<void>;
}

export interface PollLoop {
  readonly activeCount: () => number;
  /** Takes nothing more. Resolves when the loop has ended; a poll that is under way still counts. */
  readonly end: () => Promise<void>;
  /** Resolves when no task runs. */
  readonly idle: () => Promise<void>;
}

/** Polls for every handler in turn while there is room, and less and less often while there is nothing to do. */
export function startPolling(deps: PollDeps): PollLoop {
  const running = new Set<Promise<void>>();
  const nap = createNap(deps.clock);
  let isOver = false;
  const begin = (task: Task): void => {
    const work = deps.run(task).finally(() => {
      running.delete(work);
      // There is room, and often the next step of the same instance.
      nap.wake();
    });
    running.add(work);
  };
  const loop = async (): Promise<void> => {
    const poll = pollRounds(deps, () => isOver);
    let idleMs = 0;
    while (!isOver) {
      const room = deps.concurrency - running.size;
      const taken = room > 0 ? await poll(room) : [];
      for (const task of taken) begin(task);
      if (taken.length > 0) idleMs = 0;
      else {
        idleMs = Math.min(deps.longestIdleMs, Math.max(FIRST_IDLE_MS, idleMs * 2));
        if (await nap.sleep(room > 0 ? idleMs : null)) idleMs = 0;
      }
    }
  };
  const ended = loop();
  return {
    activeCount: () => running.size,
    end: () => {
      isOver = true;
      nap.wake();
      return ended;
    },
    idle: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

interface Nap {
  /** Resolves with true when it was woken, with false after `delayMs`; null: sleeps until it is woken. */
  sleep(delayMs: number | null): Promise<boolean>;
  /** Ends the sleep, or else the next one at once: what happened while nobody slept counts too. */
  wake(): void;
}

function createNap(clock: Pick<Clock, 'after'>): Nap {
  let isWoken = false;
  let rise: (() => void) | null = null;
  return {
    sleep: async (delayMs) => {
      if (!isWoken) {
        let disarm = (): void => undefined;
        await new Promise<void>((resolve) => {
          rise = resolve;
          if (delayMs !== null) disarm = clock.after(delayMs, resolve);
        });
        rise = null;
        disarm();
      }
      const woken = isWoken;
      isWoken = false;
      return woken;
    },
    wake: () => {
      isWoken = true;
      rise?.();
    },
  };
}

/** One look for each handler; another one comes first each time, so that none takes all the room for good. */
function pollRounds(deps: PollDeps, isOver: () => boolean): (room: number) => Promise<readonly Task[]> {
  let round = 0;
  let isSilent = false;
  const { workerId, queue, version } = deps;
  return async (room) => {
    round += 1;
    const taken: Task[] = [];
    for (let index = 0; index < deps.handlerNames.length && taken.length < room; index += 1) {
      if (isOver()) break;
      const name = deps.handlerNames[(round + index) % deps.handlerNames.length] ?? '';
      const limit = Math.min(MAX_TASKS_PER_POLL, room - taken.length);
      const request = { handler_name: name, worker_id: workerId, limit, queue_name: queue, version };
      try {
        taken.push(...(await deps.tasks.poll(request, { signal: deps.stopped })));
        if (isSilent) deps.log.info('the server answers again', { worker_id: workerId });
        isSilent = false;
      } catch (error) {
        if (!isSilent) deps.log.warn('a poll failed', { worker_id: workerId, error: String(error) });
        isSilent = true;
        break;
      }
    }
    return taken;
  };
}
