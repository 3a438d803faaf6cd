/** How long before its end a call is told to stop, at most. */
const EARLY_STOP_MAX_MS = 1000;

/** A handler hears this much before it is cut off that it should stop: a tenth of the time it has, at most a second. */
export function earlyStopMs(boundMs: number): number {
  return Math.min(EARLY_STOP_MAX_MS, Math.max(0, boundMs) / 10);
}
