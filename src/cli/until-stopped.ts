import type { Clock } from '../ports/system.ts';

/** `npm start` passes Ctrl-C on to us although the terminal has sent it already: both count as one. */
const SAME_PRESS_MS = 500;

export interface StopRequests {
  /** Resolves with the first SIGINT or SIGTERM. */
  readonly first: Promise<NodeJS.Signals>;
  /** Stops listening for signals. */
  readonly dispose: () => void;
}

/** Waits for the wish to stop; a second one, later than a bounce of the first, calls `onSecond`. */
export function listenForStop(clock: Clock, onSecond: () => void): StopRequests {
  let firstAt: number | null = null;
  let resolveFirst: (signal: NodeJS.Signals) => void = () => {};
  const first = new Promise<NodeJS.Signals>((resolve) => {
    resolveFirst = resolve;
  });
  const onSignal = (signal: NodeJS.Signals): void => {
    if (firstAt === null) {
      firstAt = clock.monotonicMs();
      resolveFirst(signal);
    } else if (clock.monotonicMs() - firstAt > SAME_PRESS_MS) {
      onSecond();
    }
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    first,
    dispose: () => {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
