import type { Log } from '../ports/system.ts';

/** The parts of a sweep: each has its turn, whatever became of the others. */
export interface Attempts {
  /** Null when it failed, which the log says. */
  readonly attempt: <T>(what: string, work: () => Promise<T>) => Promise<T | null>;
  /** How many were made. */
  readonly count: number;
  /** What the failed ones threw. */
  readonly problems: readonly Error[];
}

export function createAttempts(log: Log): Attempts {
  const problems: Error[] = [];
  let count = 0;
  return {
    async attempt(what, work) {
      count += 1;
      try {
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
