import type { Clock } from '../../src/ports/system.ts';

export interface ManualClock extends Clock {
  /** Delays of the timers that wait, in the order they were set. */
  readonly waiting: () => number[];
  /** Fires all timers that wait. */
  readonly fire: () => void;
}

/** A clock that stands still; its timers fire when the test says so. */
export function manualClock(): ManualClock {
  const timers = new Map<number, { readonly delayMs: number; readonly callback: () => void }>();
  let lastId = 0;
  return {
    nowMs: () => 0,
    monotonicMs: () => 0,
    soon: (callback) => {
      setImmediate(callback);
    },
    after: (delayMs, callback) => {
      lastId += 1;
      const id = lastId;
      timers.set(id, { delayMs, callback });
      return () => {
        timers.delete(id);
      };
    },
    waiting: () => [...timers.values()].map(({ delayMs }) => delayMs),
    fire: () => {
      const due = [...timers.values()];
      timers.clear();
      for (const { callback } of due) callback();
    },
  };
}
