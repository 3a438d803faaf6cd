import { StoreUnavailable } from '../ports/store/store.ts';
import type { Entropy, Log } from '../ports/system.ts';
import type { Waker } from '../ports/waker.ts';
import { randomValues } from './handlers/random-values.ts';

/** Before the next wake when this one could not ask the database: a wake that is not answered keeps no database awake. */
export const DATABASE_AGAIN_MS = 30_000;
/** After the first wake that failed for another reason; twice as long after each further one. */
const FIRST_MS = 30_000;
const LONGEST_MS = 15 * 60_000;
/** Twice as long so often is longer than the longest. */
const DOUBLINGS_MAX = 10;
/** Deployments that fail for one reason must not come in step: up to this share of a pause is left out by chance. */
const SPREAD = 0.2;

/** How long to wait for the next wake. */
export interface Pause {
  readonly delayMs: number;
  /** What it would be if nothing were left to chance: `delayMs` or more. */
  readonly fullMs: number;
}

/** What a host remembers of wakes that failed, one after the other, for another reason than the database. */
export interface FailedWakes {
  /** How many there were in a row; 0: the last one did everything. */
  count(): Promise<number>;
  /** There will be a wake after about this pause that knows of so many failed ones. Rejects when it could not be kept. */
  comeAgain(pause: Pause, failedCount: number): Promise<void>;
  forget(): Promise<void>;
}

/** For a caller after whom somebody else comes who does remember. */
export function unremembered(waker: Pick<Waker, 'wakeWithin'>): FailedWakes {
  return {
    count: () => Promise.resolve(0),
    comeAgain: ({ delayMs }) => waker.wakeWithin(delayMs),
    forget: () => Promise.resolve(),
  };
}

/**
 * The pause before the next wake when so many have failed (1: the first): 30 s, doubled each time up to a quarter of an
 * hour, for ever. What fails each time must not keep the database awake.
 */
export function pauseAfterFailed(failedCount: number, entropy: Entropy): Pause {
  const fullMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failedCount - 1, DOUBLINGS_MAX));
  return { fullMs, delayMs: Math.floor(fullMs * (1 - SPREAD * randomValues(entropy).random())) };
}

export interface ComesAgain {
  readonly waker: Pick<Waker, 'wakeWithin'>;
  readonly failed: FailedWakes;
  readonly entropy: Entropy;
  readonly log: Log;
}

/** What waiting longer does not help: the database is asked for as soon as it may be back. */
export function isOfDatabase(problem: unknown): boolean {
  return problem instanceof StoreUnavailable;
}

/**
 * Keeps the wake after one that could not do everything, and says what is wrong. Rejects when it could not be kept.
 *
 * @param failedBefore How many wakes before this one have failed.
 */
export async function comeAgainAfter(
  problem: unknown,
  failedBefore: number,
  { waker, failed, entropy, log }: ComesAgain,
): Promise<void> {
  const error = String(problem);
  if (isOfDatabase(problem)) {
    log.warn('a wake could not ask the database and is repeated', { error, again_ms: DATABASE_AGAIN_MS });
    return waker.wakeWithin(DATABASE_AGAIN_MS);
  }
  const count = failedBefore + 1;
  const pause = pauseAfterFailed(count, entropy);
  const again = { failed_wakes: count, again_ms: pause.delayMs };
  log.warn('a wake could not do everything and is repeated', { error, ...again });
  return failed.comeAgain(pause, count);
}
