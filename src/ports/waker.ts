/**
 * Keeps the next wake outside the database, so that the database can sleep (DESIGN 5, economy mode). Wakes only ever get
 * earlier (RULINGS A33): nothing here cancels or postpones one. Rejects when the wake could not be kept.
 */
export interface Waker {
  /**
   * Called before something is written that may make an instance due: there will be a wake in about so many ms, whatever
   * becomes of the caller, and also when an earlier wake comes first and finds nothing.
   */
  guard(delayMs: number): Promise<void>;
  /**
   * Something that is stored falls due in so many ms: there will be a wake by then, or soon after when that is within
   * `HINTED_AHEAD_MS`: the caller hints at what is so near.
   */
  wakeWithin(delayMs: number): Promise<void>;
}

/**
 * How far a sweep hints ahead whose wakes come by the minute (schedule-waker.ts): more than the two minutes by which a wake may be
 * early, for clocks differ and a sweep takes its time.
 */
export const HINTED_AHEAD_MS = 150_000;
