import type { Log } from '../ports/system.ts';

/** The parts of a sweep: each has its turn, whatever became of the others. */
export interface Attempts {
  /** Null when it failed or was not begun, which the log says. */
  readonly attempt: <T>(what: string, work: () => Promise<T>) => Promise<T | null>;
  /** How many were made. */
  readonly count: number;
  /** What the failed ones threw. */
  readonly problems: readonly Error[];
}

/** @param mayBegin Asked before each: where nothing can be reached, each may take long to fail. */
export function createAttempts(log: Log, mayBegin: () => boolean): Attempts {
  const problems: Error[] = [];
  let count = 0;
  return {
    async attempt(what, work) {
      count += 1;
      try {
        if (!mayBegin()) throw new Error('there is no time left');
        return await work();
      } catch (error) {
        log.warn(`the sweep could not ${what}`, { error: String(error) });
        problems.push(error instanceof Error ? error : new Error(String(error)));
        return null;
      }
    },
    get count() {
      return count;
    },
    problems,
  };
}
