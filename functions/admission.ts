import type { ApiDeps } from '../src/api/api-deps.ts';
import { refuse } from '../src/engine/refusal.ts';

/** When a caller whose wake could not be kept may try again. */
const AGAIN_SECS = 1;

/**
 * What a function host does for a request that is admitted: one that may write waits for its wake, and is refused without one
 * (docs/decisions/0020), so that nothing is accepted which only the rare sweep would find. Reading leaves nothing behind.
 */
export function admission(keepWake: () => Promise<boolean>): NonNullable<ApiDeps['onAdmitted']> {
  return async (mayWrite) => {
    if (!mayWrite || (await keepWake())) return null;
    const { error } = refuse('unavailable', 'the next wake could not be kept, so nothing was stored', {
      code: 'wake_unavailable',
      retryAfterSecs: AGAIN_SECS,
    });
    return error;
  };
}
