import type { Clock } from '../../ports/system.ts';

/** A signal that fires with the caller's own or after `limitMs`. `release` must be called when the work is done. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  readonly isOver: () => boolean;
  readonly release: () => void;
}

/** Written by hand, because `AbortSignal.any` keeps every signal it made alive as long as the caller's own lives. */
export function timeLimit(
  clock: Pick<Clock, 'after'>,
  limitMs: number,
  outer: AbortSignal | undefined,
): TimeLimit {
  const controller = new AbortController();
  let over = false;
  const follow = (): void => controller.abort(outer?.reason);
  if (outer?.aborted === true) follow();
  else outer?.addEventListener('abort', follow, { once: true });
  const disarm = Number.isFinite(limitMs)
    ? clock.after(limitMs, () => {
        over = true;
        controller.abort(new DOMException(`no answer within ${limitMs} ms`, 'TimeoutError'));
      })
    : () => undefined;
  return {
    signal: controller.signal,
    isOver: () => over,
    release: () => {
      disarm();
      outer?.removeEventListener('abort', follow);
    },
  };
}

/** Waits; rejects with the reason of the signal when it fires first. */
export function pause(
  clock: Pick<Clock, 'after'>,
  delayMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      disarm();
      reject(abortReason(signal));
    };
    const disarm = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new DOMException('the call was aborted', 'AbortError');
}
