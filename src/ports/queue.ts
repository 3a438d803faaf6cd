import type { Hints } from './hints.ts';

/** The longest delay a queue takes; what lies further ahead is the sweep's business (DESIGN 5, RULINGS B15). */
export const HINT_DELAY_MAX_MS = 15 * 60_000;

/** Hints over a queue. A function host freezes the process after the answer, so what is under way has to be waited for. */
export interface HintQueue extends Hints {
  /** Resolves when all that was sent has arrived or is lost. Never rejects. */
  settled(): Promise<void>;
}
