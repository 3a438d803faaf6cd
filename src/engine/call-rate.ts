import type { Clock } from '../ports/system.ts';

/** Counts calls per key in whole seconds of this process. */
export interface CallRate {
  /** True when the call is within the rate; a refused one does not count. */
  admit(key: string): boolean;
}

/** Keys that are counted on their own in one second; those that come later share one count. */
const MAX_KEYS = 10_000;
const SHARED = '';

/** A rate of `perSecond` calls for each key. What it remembers is dropped each second, so it cannot grow. */
export function createCallRate(clock: Pick<Clock, 'monotonicMs'>, perSecond: number): CallRate {
  let second = -1;
  const counts = new Map<string, number>();
  return {
    admit(key: string): boolean {
      const current = Math.floor(clock.monotonicMs() / 1000);
      if (current !== second) {
        second = current;
        counts.clear();
      }
      const counted = counts.has(key) || counts.size < MAX_KEYS ? key : SHARED;
      const count = counts.get(counted) ?? 0;
      if (count >= perSecond) return false;
      counts.set(counted, count + 1);
      return true;
    },
  };
}
