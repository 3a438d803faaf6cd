import type { Clock } from '../ports/system.ts';

/** Waits longer than this are left to the sweep, which arms the alarm anew. */
const LONGEST_MS = 15 * 60 * 1000;

export interface Alarm {
  /** Rings after this long, unless it is set to ring earlier already. */
  arm(delayMs: number): void;
  disarm(): void;
}

/** A timer for the next due instant: no polling, and timers are exact although the sweep is rare (DESIGN 4). */
export function createAlarm(clock: Clock, ring: () => void): Alarm {
  let at: number | null = null;
  let cancel = (): void => undefined;
  return {
    arm: (delayMs) => {
      const wanted = clock.monotonicMs() + Math.min(delayMs, LONGEST_MS);
      if (at !== null && at <= wanted) return;
      cancel();
      at = wanted;
      cancel = clock.after(wanted - clock.monotonicMs(), () => {
        at = null;
        ring();
      });
    },
    disarm: () => {
      cancel();
      at = null;
    },
  };
}

/** How often a process looks whether its running handlers are to be cancelled ([CAN-8], RULINGS B22). */
export const WATCH_MS = 250;

/** Work that repeats. A failure is reported and does not end the repetition. Answers what stops it. */
export function every(
  clock: Clock,
  periodMs: number,
  work: () => Promise<unknown>,
  report: (error: unknown) => void,
): () => void {
  let stopped = false;
  let disarm = (): void => undefined;
  const run = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      report(error);
    }
    if (!stopped) arm();
  };
  const arm = (): void => {
    disarm = clock.after(periodMs, () => void run());
  };
  arm();
  return () => {
    stopped = true;
    disarm();
  };
}
