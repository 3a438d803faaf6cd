import { systemClock } from '../../adapters/system.ts';
import type { Clock } from '../../ports/system.ts';

interface Timer {
  readonly at: number;
  readonly ring: () => void;
}

/** Time that stands still until it is moved. Work that needs no time goes on by itself. */
export interface ManualTime {
  readonly clock: Clock;
  readonly nowMs: () => number;
  /** When the next timer rings; null when none is set. */
  readonly nextAt: () => number | null;
  /** Forward only; the timers on the way ring in `calm`. */
  readonly moveTo: (atMs: number) => void;
  /** Rings what is due and lets happen what can happen without time and without the outside world. */
  readonly calm: () => Promise<void>;
}

export function createManualTime(startMs: number): ManualTime {
  let nowMs = startMs;
  let soonCount = 0;
  const timers = new Set<Timer>();
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs - startMs,
    soon: (callback) => {
      soonCount += 1;
      systemClock.soon(() => {
        soonCount -= 1;
        callback();
      });
    },
    after: (delayMs, ring) => {
      const timer = { at: nowMs + Math.max(0, Math.ceil(delayMs)), ring };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
  };
  /** Those that were set first ring first among equals. */
  const first = (): Timer | null =>
    [...timers].reduce<Timer | null>(
      (least, timer) => (least === null || timer.at < least.at ? timer : least),
      null,
    );
  const ringFirst = (): boolean => {
    const timer = first();
    if (timer === null || timer.at > nowMs) return false;
    timers.delete(timer);
    timer.ring();
    return true;
  };
  return {
    clock,
    nowMs: () => nowMs,
    nextAt: () => first()?.at ?? null,
    moveTo: (atMs) => {
      nowMs = Math.max(nowMs, atMs);
    },
    calm: async () => {
      do await turnOfEvents();
      while (soonCount > 0 || ringFirst());
    },
  };
}

/** All promises that are settled have been followed when this resolves. */
function turnOfEvents(): Promise<void> {
  return new Promise((resolve) => systemClock.soon(resolve));
}
