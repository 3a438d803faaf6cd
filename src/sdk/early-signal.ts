import { earlyStopMs } from '../core/early-stop.ts';
import type { StepCall } from '../ports/step-handler.ts';
import type { Clock } from '../ports/system.ts';

/** `release` ends what the signal has begun and must be called when the handler is done. */
export interface EarlySignal {
  readonly signal: AbortSignal;
  readonly release: () => void;
}

/**
 * A signal that fires with the call's own, and by itself a margin before the call is cut off, so that the handler can
 * finish cleaning up. For a call that is never cut off it is made when the handler first asks for it; many never do.
 */
export function earlySignal(
  call: Pick<StepCall, 'signal' | 'remainingTimeMs'>,
  clock: Pick<Clock, 'after'>,
): EarlySignal {
  const wholeMs = Math.max(0, call.remainingTimeMs());
  let made = Number.isFinite(wholeMs) ? makeSignal(call, clock, wholeMs) : null;
  return {
    get signal() {
      made ??= makeSignal(call, clock, wholeMs);
      return made.signal;
    },
    release: () => made?.release(),
  };
}

function makeSignal(
  call: Pick<StepCall, 'signal' | 'remainingTimeMs'>,
  clock: Pick<Clock, 'after'>,
  wholeMs: number,
): EarlySignal {
  const controller = new AbortController();
  const follow = (): void => controller.abort(call.signal.reason);
  if (call.signal.aborted) follow();
  else call.signal.addEventListener('abort', follow, { once: true });
  const cancelTimer = Number.isFinite(wholeMs)
    ? clock.after(wholeMs - earlyStopMs(wholeMs), () => {
        controller.abort(new DOMException('the time of this step is nearly used up', 'TimeoutError'));
      })
    : () => undefined;
  const release = (): void => {
    cancelTimer();
    call.signal.removeEventListener('abort', follow);
  };
  return { signal: controller.signal, release };
}
