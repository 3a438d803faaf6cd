import { StoreUnavailable } from '../ports/store/store.ts';
import type { Clock } from '../ports/system.ts';

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 2_000;

/** How long a claim is repeated whose answer was lost; once more in any case, however long each try waits. */
const TOLD_WITHIN_MS = 3_000;

/** A claim whose answer was lost is asked for once more: under the same token it answers what it holds (RULINGS A24). */
export async function askTwice<T>(claim: () => Promise<T>): Promise<T> {
  try {
    return await claim();
  } catch (error) {
    if (!(error instanceof StoreUnavailable) || !error.unknown) throw error;
    return claim();
  }
}

/**
 * As `askTwice`, again and again for three seconds: what such a claim has taken is held for nobody, and nobody else can have it
 * before its lease ends. One that the database has certainly not heard is not repeated.
 */
export async function untilTold<T>(clock: Clock, claim: () => Promise<T>): Promise<T> {
  try {
    return await claim();
  } catch (error) {
    if (!(error instanceof StoreUnavailable) || !error.unknown) throw error;
  }
  const untilMs = clock.monotonicMs() + TOLD_WITHIN_MS;
  return untilAnswered(clock, claim, () => clock.monotonicMs() < untilMs);
}

/**
 * Repeats a call that may be repeated until the database answers, with growing pauses. An outage shorter than a lease
 * must not cost a turn what its handlers have done.
 *
 * @param mayWait Asked before each repetition; when it says no, the last error is thrown. Errors other than
 *   `StoreUnavailable` are thrown at once.
 */
export async function untilAnswered<T>(
  clock: Clock,
  call: () => Promise<T>,
  mayWait: (attempts: number) => boolean,
): Promise<T> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || !mayWait(attempts)) throw error;
    }
    await new Promise<void>((resume) => {
      clock.after(pauseMs, resume);
    });
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}
