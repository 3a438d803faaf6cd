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
  /** Something that is stored falls due in so many ms: there will be a wake by then. */
  wakeWithin(delayMs: number): Promise<void>;
}
