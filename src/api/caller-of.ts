import type { Result } from '../core/result.ts';
import { refuse, type Refusal } from '../engine/refusal.ts';
import type { Caller } from '../engine/use-case.ts';
import { StoreUnavailable } from '../ports/store/store.ts';
import type { ApiContext } from './api-deps.ts';
import { authenticate } from './authenticate.ts';
import type { Route } from './route.ts';

/** Who calls a route (see `authenticate`). A lost database refuses a call as it refuses all that follows. */
export async function callerOf(
  deps: ApiContext,
  route: Route,
  headers: Headers,
  peer: string,
): Promise<Result<Caller, Refusal>> {
  return whileAnswered(deps, () => authenticate(deps, headers, route, peer));
}

/**
 * Whether a call that leads to no route has a valid key (http-api.md 1.3): without one it is not told which paths and
 * methods there are. What a key may do does not matter, as there is nothing to do.
 */
export async function refuseStranger(
  deps: ApiContext,
  { method, headers }: Request,
  path: string,
  peer: string,
): Promise<Refusal | null> {
  const caller = await whileAnswered(deps, () =>
    authenticate(deps, headers, { access: 'key', method, path }, peer),
  );
  return caller.ok || caller.error.code === 'missing_capability' ? null : caller.error;
}

async function whileAnswered<T>(
  { log }: Pick<ApiContext, 'log'>,
  ask: () => Promise<Result<T, Refusal>>,
): Promise<Result<T, Refusal>> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    log.warn('a key could not be looked up', { error: error.message });
    return refuse('unavailable', 'the database did not answer', {
      code: 'database_unavailable',
      retryAfterSecs: 1,
    });
  }
}
