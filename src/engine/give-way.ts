import type { Clock, Entropy } from '../ports/system.ts';
import { randomValues } from './handlers/random-values.ts';

/** What is left to others falls due after 5 s and may be left to them again; so long afterwards they still come first. */
const GIVES_WAY_FOR_MS = 10_000;
/** Longer than the others need to look (STEPWELL_TICK_INTERVAL_MS). */
const LEAST_MS = 150;
/** Processes that give way to each other must not stay in step. */
const SPREAD_MS = 150;

/**
 * Lets processes of other builds claim first while this one lacks handlers they have (RULINGS B8). Without it the same
 * process could be the quickest each time, and an instance would go round in circles.
 */
export interface GiveWay {
  /** A turn has just left a step to others. */
  leftToOthers(): void;
  /** Resolves when this process may claim. */
  pause(): Promise<void>;
}

export function createGiveWay(clock: Clock, entropy: Entropy): GiveWay {
  const { random } = randomValues(entropy);
  let untilMs = Number.NEGATIVE_INFINITY;
  return {
    leftToOthers: () => {
      untilMs = clock.monotonicMs() + GIVES_WAY_FOR_MS;
    },
    pause: () =>
      clock.monotonicMs() >= untilMs
        ? Promise.resolve()
        : new Promise((resolve) => clock.after(LEAST_MS + random() * SPREAD_MS, resolve)),
  };
}
