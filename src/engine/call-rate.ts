import type { Clock } from '../ports/system.ts';

/**
 * Counts calls per key in whole seconds of this process. It protects the process and what stands behind it; what has to hold
 * over all processes is counted in the database (docs/limits.md).
 */
export interface CallRate {
  /** True when the call is within the rate; a refused one does not count. */
  admit(key: string): boolean;
  /** Whether the next call would be admitted; it is not counted. */
  hasRoom(key: string): boolean;
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
  const hasRoom = (key: string): boolean => (counts.get(counted(key)) ?? 0) < perSecond;
  return {
    hasRoom,
    admit(key: string): boolean {
      if (!hasRoom(key)) return false;
      const name = counted(key);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return true;
    },
  };
}
