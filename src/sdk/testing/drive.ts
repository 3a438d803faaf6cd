import { sweep } from '../../engine/sweep.ts';
import { TEST_ENGINE, type TestWorld } from './compose.ts';

/** Moves a world on: what the loop of a resident process does by timers, step by step. */
export interface Driver {
  /** Lets the engine do all that it can do now. */
  readonly settle: () => Promise<void>;
  /** Moves the clock to an instant, stopping wherever something is due. */
  readonly moveTo: (endMs: number, options: MoveOptions) => Promise<void>;
  /** Moves the clock until something holds; false when it does not by then. */
  readonly moveUntil: (holds: () => Promise<boolean>, endMs: number) => Promise<boolean>;
}

export interface MoveOptions {
  /**
   * Default true: time stands still while a handler runs. With false it goes on, so that a handler that hangs gets its
   * timeout.
   */
  readonly waitForHandlers?: boolean;
}

/** Passes of one settling; more means that a sequence goes round in circles without ever waiting. */
const MAX_PASSES = 100_000;

export function createDriver({ time, store, engine }: TestWorld): Driver {
  const { deps, runner } = engine;
  const settings = { ...TEST_ENGINE, perTenantLimit: 0 };
  let onTurnEnd: (() => void)[] = [];
  runner.onTurnEnd(() => {
    const waiting = onTurnEnd;
    onTurnEnd = [];
    for (const resolve of waiting) resolve();
  });
  const pass = async (waitForHandlers: boolean): Promise<boolean> => {
    await time.calm();
    if (runner.activeTurns > 0 && waitForHandlers) {
      await new Promise<void>((resolve) => onTurnEnd.push(resolve));
      return true;
    }
    const { result, attempts } = await sweep(deps, runner, settings);
    const [problem] = attempts.problems;
    if (problem !== undefined) throw problem;
    const { claimed, takenOver } = result;
    return claimed + takenOver > 0;
  };
  const settle = async (waitForHandlers = true): Promise<void> => {
    for (let count = 0; await pass(waitForHandlers); count += 1) {
      if (count >= MAX_PASSES) throw new Error(`the engine did not come to rest in ${MAX_PASSES} passes`);
    }
  };
  /** The next instant at which something may happen. What is due now but cannot be claimed waits for the sweep. */
  const nextAt = async (): Promise<number> => {
    const { dueAt } = await store.nextWake();
    const now = time.nowMs();
    const sweepAt = dueAt === null ? Number.POSITIVE_INFINITY : now + settings.sweepMs;
    const wakeAt = dueAt !== null && dueAt > now ? dueAt : sweepAt;
    return Math.min(wakeAt, time.nextAt() ?? Number.POSITIVE_INFINITY);
  };
  return {
    settle,
    moveTo: async (endMs, { waitForHandlers = true }) => {
      await settle(waitForHandlers);
      for (let next = await nextAt(); next <= endMs; next = await nextAt()) {
        time.moveTo(next);
        await settle(waitForHandlers);
      }
      time.moveTo(endMs);
      await settle(waitForHandlers);
    },
    moveUntil: async (holds, endMs) => {
      await settle();
      while (!(await holds())) {
        const next = await nextAt();
        if (next > endMs) return false;
        time.moveTo(next);
        await settle();
      }
      return true;
    },
  };
}
