import type { LimitRef } from '../core/run/record.ts';
import type { UseCaseDeps } from './use-case.ts';

const AT_ONCE = 500;
/** More than so many keep to the instants at which they look again by themselves. */
const PIECES_MAX = 20;

/**
 * Lets those look again that a limit has denied, after a person has changed it. They ask anew, so a limit that has not
 * become wider denies them again. The change is stored: what fails here costs latency and nothing else.
 */
export async function wakeLimitWaiters(
  deps: Pick<UseCaseDeps, 'store' | 'hints' | 'log'>,
  tenantId: string,
  limit: LimitRef,
): Promise<void> {
  try {
    for (let piece = 0; piece < PIECES_MAX; piece += 1) {
      const { woken, more } = await deps.store.wakeLimitWaiters(tenantId, limit, AT_ONCE);
      deps.hints.send(woken.map((instanceId) => ({ tenantId, instanceId, delayMs: 0 })));
      if (!more) return;
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    deps.log.warn('those that wait for a changed limit could not be woken', {
      reason: limit.reason,
      error: message,
    });
  }
}
