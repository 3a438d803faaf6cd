import type { Log } from '../ports/system.ts';

/** The parts of a sweep: each has its turn, whatever became of the others. */
export interface Attempts {
  /** Null when it failed or was left to the next sweep, which the log says. */
  readonly attempt: <T>(what: string, work: () => Promise<T>) => Promise<T | null>;
  /** How many were made. */
  readonly count: number;
  /** What the failed ones threw. */
  readonly problems: readonly Error[];
}

/**
 * @param hasTime Asked before each: where nothing can be reached, each may take long to fail.
 * @param isAnswered The database was heard before. A part that there is no time for is a failure only when nothing has been
 *   heard or something has failed: turns may use up the time, and then the next sweep does the rest.
 */
export function createAttempts(log: Log, hasTime: () => boolean, isAnswered: boolean): Attempts {
  const problems: Error[] = [];
  let count = 0;
  return {
    async attempt(what, work) {
      count += 1;
      const mayBegin = hasTime();
      if (!mayBegin && isAnswered && problems.length === 0) {
        log.info(`the sweep had no time left to ${what}: the next one does`);
        return null;
      }
      try {
        if (!mayBegin) throw new Error('there is no time left');
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
