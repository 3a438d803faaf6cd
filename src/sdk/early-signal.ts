import { earlyStopMs } from '../core/early-stop.ts';
import type { StepCall } from '../ports/step-handler.ts';
import type { Clock } from '../ports/system.ts';

/**
 * A signal that fires with the call's own, and by itself a margin before the call is cut off, so that the handler can
 * finish cleaning up. `release` ends the timer and must be called when the handler is done.
 */
export function earlySignal(
  call: Pick<StepCall, 'signal' | 'remainingTimeMs'>,
  clock: Pick<Clock, 'after'>,
): { readonly signal: AbortSignal; readonly release: () => void } {
  const controller = new AbortController();
  const follow = (): void => controller.abort(call.signal.reason);
  if (call.signal.aborted) follow();
  else call.signal.addEventListener('abort', follow, { once: true });
  const remainingMs = Math.max(0, call.remainingTimeMs());
  const cancelTimer = Number.isFinite(remainingMs)
    ? clock.after(remainingMs - earlyStopMs(remainingMs), () => {
        controller.abort(new DOMException('the time of this step is nearly used up', 'TimeoutError'));
      })
    : () => undefined;
  const release = (): void => {
    cancelTimer();
    call.signal.removeEventListener('abort', follow);
  };
  return { signal: controller.signal, release };
}
