import type { JsonObject } from '../core/json.ts';
import type { PoolStrategy } from '../core/limits/pool.ts';
import { ok, type Result } from '../core/result.ts';
import type {
  Breaker,
  NewResource,
  Pool,
  RateLimit,
  RateLimitSettings,
  Resource,
} from '../ports/store/limits.ts';
import { negativeCap } from './budget-caps.ts';
import { type Refusal, type Refused, notFound, refuse } from './refusal.ts';
import { tenantOf } from './tenant.ts';
import { type Caller, type UseCaseDeps, nudgeAccepted } from './use-case.ts';
import { wakeLimitWaiters } from './wake-limit-waiters.ts';

/** Names of keys, pools and resources. */
const MAX_NAME_LENGTH = 255;
/** The longest window: one leap year. */
const MAX_WINDOW_MS = 366 * 86_400_000;

/** Something of a tenant that a path names; the tenant of another caller has no such thing (http-api.md 1.4). */
function isForeign(caller: Caller, tenantId: string): boolean {
  return caller.tenantId !== null && caller.tenantId !== tenantId;
}

type LimitDeps = Pick<UseCaseDeps, 'store' | 'hints' | 'log'>;

/** Sets a rate limit (13.3); those that wait for it ask anew. 404 tenant of somebody else, 400 for a key or a number that makes no limit. */
export async function putRateLimit(
  deps: LimitDeps,
  caller: Caller,
  limit: RateLimitSettings,
): Promise<Result<RateLimit, Refusal>> {
  const { tenantId, resourceKey, maxCount, windowMs } = limit;
  if (isForeign(caller, tenantId)) return notFound('tenant', tenantId);
  const broken = brokenName('tenant', tenantId) ?? brokenName('resource_key', resourceKey);
  if (broken !== null) return broken;
  if (maxCount < 0) return refuse('invalid_argument', 'max_count must not be negative');
  if (windowMs < 1 || windowMs > MAX_WINDOW_MS) {
    return refuse('invalid_argument', 'window_seconds must be more than 0 and at most 366 days');
  }
  const stored = await deps.store.putRateLimit(limit);
  await wakeLimitWaiters(deps, tenantId, { reason: 'rate_limit', name: resourceKey });
  return ok(stored);
}

export async function getRateLimit(
  { store }: Pick<UseCaseDeps, 'store'>,
  caller: Caller,
  tenantId: string,
  resourceKey: string,
): Promise<Result<RateLimit, Refusal>> {
  const limit = isForeign(caller, tenantId) ? null : await store.getRateLimit(tenantId, resourceKey);
  return limit === null ? notFound('rate limit', resourceKey) : ok(limit);
}

/** The key does not limit any more: those that wait for it go on. */
export async function removeRateLimit(
  deps: LimitDeps,
  caller: Caller,
  tenantId: string,
  resourceKey: string,
): Promise<Result<null, Refusal>> {
  const known = !isForeign(caller, tenantId) && (await deps.store.deleteRateLimit(tenantId, resourceKey));
  if (!known) return notFound('rate limit', resourceKey);
  await wakeLimitWaiters(deps, tenantId, { reason: 'rate_limit', name: resourceKey });
  return ok(null);
}

/** The list of a tenant that a path names. 404 tenant of somebody else. */
export async function listOfTenant<T>(
  caller: Caller,
  tenantId: string,
  list: (tenantId: string) => Promise<readonly T[]>,
): Promise<Result<readonly T[], Refusal>> {
  return isForeign(caller, tenantId) ? notFound('tenant', tenantId) : ok(await list(tenantId));
}

/** A breaker ([CB-7]): 404 for a handler that has never failed. */
export async function getBreaker(
  { store }: Pick<UseCaseDeps, 'store'>,
  caller: Caller,
  tenantId: string,
  handler: string,
): Promise<Result<Breaker, Refusal>> {
  const breaker = isForeign(caller, tenantId) ? null : await store.getBreaker(tenantId, handler);
  return breaker === null ? notFound('circuit breaker', handler) : ok(breaker);
}

/** Closes a breaker, and what waits for it goes on; one that nobody has touched stays unknown ([CB-7]). */
export async function resetBreaker(
  deps: LimitDeps,
  caller: Caller,
  tenantId: string,
  handler: string,
): Promise<Result<null, Refusal>> {
  if (isForeign(caller, tenantId)) return notFound('tenant', tenantId);
  await deps.store.resetBreaker(tenantId, handler);
  await wakeLimitWaiters(deps, tenantId, { reason: 'breaker', name: handler });
  return ok(null);
}

export async function createPool(
  deps: Pick<UseCaseDeps, 'store' | 'ids'>,
  caller: Caller,
  pool: { readonly tenantId: string; readonly name: string; readonly strategy: PoolStrategy },
): Promise<Result<Pool, Refusal>> {
  const tenantId = tenantOf(caller, pool.tenantId);
  if (!tenantId.ok) return tenantId;
  const broken = brokenName('name', pool.name);
  if (broken !== null) return broken;
  return ok(await deps.store.createPool({ ...pool, tenantId: tenantId.value, id: deps.ids.newId() }));
}

/** Those that wait for the pool ask anew. */
export async function addResource(
  deps: LimitDeps & Pick<UseCaseDeps, 'ids'>,
  caller: Caller,
  poolId: string,
  resource: Omit<NewResource, 'id' | 'enabled'>,
): Promise<Result<Resource, Refusal>> {
  const broken = brokenResource(resource) ?? brokenName('resource_key', resource.resourceKey);
  if (broken !== null) return broken;
  const stored = { ...resource, enabled: true, id: deps.ids.newId() };
  const added = await deps.store.addResource(caller.tenantId, poolId, stored);
  if (added === null) return notFound('pool', poolId);
  await wakePoolWaiters(deps, caller, poolId);
  return ok(added);
}

async function wakePoolWaiters(deps: LimitDeps, caller: Caller, poolId: string): Promise<void> {
  const pool = await deps.store.getPool(caller.tenantId, poolId).catch(() => null);
  if (pool !== null) await wakeLimitWaiters(deps, pool.tenantId, { reason: 'pool', name: pool.name });
}

/** Those that wait for the pool ask anew. */
export async function changeResource(
  deps: LimitDeps,
  caller: Caller,
  ids: { readonly poolId: string; readonly resourceId: string },
  change: Partial<Omit<NewResource, 'id' | 'resourceKey'>>,
): Promise<Result<Resource, Refusal>> {
  const broken = brokenResource(change);
  if (broken !== null) return broken;
  const { poolId, resourceId } = ids;
  const changed = await deps.store.changeResource(caller.tenantId, poolId, resourceId, change);
  if (changed === null) return notFound('resource', resourceId);
  await wakePoolWaiters(deps, caller, poolId);
  return ok(changed);
}

function brokenResource({ name, weight, ...numbers }: Partial<NewResource>): Refused | null {
  const named = name === undefined ? null : brokenName('name', name);
  if (named !== null) return named;
  if (weight !== undefined && weight < 1) return refuse('invalid_argument', 'weight must be at least 1');
  const counts = {
    daily_cap: numbers.dailyCap,
    warmup_days: numbers.warmupDays,
    warmup_start_cap: numbers.warmupStartCap,
  };
  for (const [field, count = 0] of Object.entries(counts)) {
    if (count < 0) return refuse('invalid_argument', `${field} must not be negative`);
  }
  return null;
}

function brokenName(field: string, name: string): Refused | null {
  if (name.trim() === '') return refuse('invalid_argument', `${field} must not be empty`);
  if (name.length <= MAX_NAME_LENGTH) return null;
  return refuse('invalid_argument', `${field} must have at most ${MAX_NAME_LENGTH} characters`);
}

/**
 * Replaces the caps of an instance ([BUD-4]). A run that its budget has paused goes on by itself when the new caps let it.
 * 404 unknown, 400 a cap below zero.
 */
export async function replaceBudget(
  deps: UseCaseDeps,
  caller: Caller,
  instanceId: string,
  budget: JsonObject,
): Promise<Result<null, Refusal>> {
  const negative = negativeCap(budget);
  if (negative !== null) return negative;
  const target = { tenantId: caller.tenantId, instanceId };
  const answer = await deps.store.setBudget({ ...target, factId: deps.ids.newId(), budget });
  if (answer === 'not_found') return notFound('instance', instanceId);
  if (answer === 'accepted') await nudgeAccepted(deps, target);
  return ok(null);
}
