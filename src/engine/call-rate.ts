import type { Clock } from '../ports/system.ts';

/**
 * Counts calls per key in whole seconds of this process. It protects the process and what stands behind it; what has to hold
 * over all processes is counted in the database (docs/limits.md).
 */
export interface CallRate {
  /** True when the call is within the rate; a refused one does not count. */
  admit(key: string): boolean;
  /**
   * Counts a call that may turn out not to count: what comes back gives its place back, which changes nothing once the second
   * is over. Null: there is none. Who asked first and counted later would let through whatever is under way at once.
   */
  take(key: string): (() => void) | null;
}

/** Keys that are counted on their own in one second; those that come later share one count. */
const MAX_KEYS = 10_000;
const SHARED = '';

/** A rate of `perSecond` calls for each key. What it remembers is dropped each second, so it cannot grow. */
export function createCallRate(clock: Pick<Clock, 'monotonicMs'>, perSecond: number): CallRate {
  let second = -1;
  const counts = new Map<string, number>();
  const counted = (key: string): string => {
    const current = Math.floor(clock.monotonicMs() / 1000);
    if (current !== second) {
      second = current;
      counts.clear();
    }
    return counts.has(key) || counts.size < MAX_KEYS ? key : SHARED;
  };
  const take = (key: string): (() => void) | null => {
    const name = counted(key);
    const count = counts.get(name) ?? 0;
    if (count >= perSecond) return null;
    counts.set(name, count + 1);
    const taken = second;
    return () => {
      if (taken === second) counts.set(name, Math.max(0, (counts.get(name) ?? 0) - 1));
    };
  };
  return { take, admit: (key) => take(key) !== null };
}
