import { compareCodePoints } from '../../core/json.ts';
import { isTerminal } from '../../core/run/states.ts';
import type { Breaker, LimitStore, RateLimit, Resource } from '../../ports/store/limits.ts';
import { type Run, type Tx, findInstance, saveInstance } from './database.ts';
import type { BreakerRow, PoolRow, RateRow, ResourceRow } from './limit-rows.ts';
import { limitKey, membersOf } from './limits.ts';
import { pageOf } from './page-of.ts';
import { stored } from './rows.ts';
import { acceptFact } from './wake.ts';

export function limitPart(run: Run): LimitStore {
  return {
    ...ratePart(run),
    ...breakerPart(run),
    ...poolPart(run),
    ...resourcePart(run),
    ...budgetPart(run),
  };
}

function ratePart(
  run: Run,
): Pick<LimitStore, 'putRateLimit' | 'getRateLimit' | 'listRateLimits' | 'deleteRateLimit'> {
  const find = (tx: Tx, tenantId: string, key: string): RateRow | undefined =>
    tx.db.rateLimits.get(limitKey(tenantId, key));
  return {
    putRateLimit: (limit) =>
      run((tx) => {
        const before = find(tx, limit.tenantId, limit.resourceKey);
        const row: RateRow = {
          ...(before ?? { createdAt: tx.t, lastAt: 0, grants: [], currentCount: 0, windowStart: null }),
          ...limit,
          updatedAt: tx.t,
        };
        tx.db.rateLimits.put(limitKey(limit.tenantId, limit.resourceKey), Object.freeze(row));
        return rateView(tx, row);
      }),
    getRateLimit: (tenantId, key) =>
      run((tx) => {
        const row = find(tx, tenantId, key);
        return row === undefined ? null : rateView(tx, row);
      }),
    listRateLimits: (tenantId, limit) =>
      run((tx) =>
        inScope(tx.db.rateLimits.values(), tenantId)
          .sort(
            (a, b) =>
              compareCodePoints(a.tenantId, b.tenantId) || compareCodePoints(a.resourceKey, b.resourceKey),
          )
          .slice(0, limit)
          .map((row) => rateView(tx, row)),
      ),
    deleteRateLimit: (tenantId, key) =>
      run((tx) => {
        const known = find(tx, tenantId, key) !== undefined;
        tx.db.rateLimits.remove(limitKey(tenantId, key));
        return known;
      }),
  };
}

function rateView(tx: Tx, full: RateRow): RateLimit {
  const { grants, lastAt: _, ...row } = full;
  const live = grants.filter(({ at }) => at > tx.t - row.windowMs);
  const currentCount = live.reduce((sum, { count }) => sum + count, 0);
  return { ...row, currentCount, windowStart: live[0]?.at ?? null };
}

function breakerPart(run: Run): Pick<LimitStore, 'getBreaker' | 'listBreakers' | 'resetBreaker'> {
  return {
    getBreaker: (tenantId, handler) =>
      run((tx) => {
        const row = tx.db.breakers.get(limitKey(tenantId, handler));
        return row === undefined ? null : breakerView(row);
      }),
    listBreakers: (tenantId, limit) =>
      run((tx) =>
        inScope(tx.db.breakers.values(), tenantId)
          .sort(
            (a, b) => compareCodePoints(a.tenantId, b.tenantId) || compareCodePoints(a.handler, b.handler),
          )
          .slice(0, limit)
          .map(breakerView),
      ),
    resetBreaker: (tenantId, handler) =>
      run((tx) => {
        const key = limitKey(tenantId, handler);
        const row = tx.db.breakers.get(key);
        if (row === undefined) return;
        const calm = { failureCount: 0, openedAt: null, probeUntil: null, probeInstanceId: null };
        tx.db.breakers.put(key, Object.freeze({ ...row, state: 'closed', ...calm }));
      }),
  };
}

function breakerView(full: BreakerRow): Breaker {
  const { probeInstanceId: _, ...row } = full;
  return row;
}

function poolPart(run: Run): Pick<LimitStore, 'createPool' | 'getPool' | 'listPools' | 'deletePool'> {
  return {
    createPool: (pool) =>
      run((tx) => {
        const known = tx.db.pools.get(pool.id);
        if (known !== undefined) return known;
        const row = Object.freeze({ ...pool, roundRobinIndex: 0, createdAt: tx.t, updatedAt: tx.t });
        tx.db.pools.put(pool.id, row);
        return row;
      }),
    getPool: (tenantId, id) => run((tx) => findPool(tx, tenantId, id)),
    listPools: (tenantId, limit) =>
      run((tx) =>
        inScope(tx.db.pools.values(), tenantId)
          .sort((a, b) => compareCodePoints(a.name, b.name) || compareCodePoints(a.id, b.id))
          .slice(0, limit),
      ),
    deletePool: (tenantId, id) =>
      run((tx) => {
        if (findPool(tx, tenantId, id) === null) return false;
        for (const row of membersOf(tx, id)) tx.db.resources.remove(row.id);
        tx.db.pools.remove(id);
        return true;
      }),
  };
}

function resourcePart(
  run: Run,
): Pick<LimitStore, 'listResources' | 'addResource' | 'changeResource' | 'deleteResource'> {
  return {
    listResources: (tenantId, poolId, page) =>
      run((tx) =>
        findPool(tx, tenantId, poolId) === null
          ? null
          : pageOf(membersOf(tx, poolId), page).map(resourceView),
      ),
    addResource: (tenantId, poolId, resource) =>
      run((tx) => {
        const pool = findPool(tx, tenantId, poolId);
        if (pool === null) return null;
        const known = tx.db.resources.get(resource.id);
        if (known !== undefined) return resourceView(known);
        const usage = { dailyUsage: 0, dailyUsageDate: null };
        const row = { ...stored(resource), ...usage, poolId, tenantId: pool.tenantId, createdAt: tx.t };
        tx.db.resources.put(resource.id, Object.freeze(row));
        return resourceView(row);
      }),
    changeResource: (tenantId, poolId, id, change) =>
      run((tx) => {
        const row = tx.db.resources.get(id);
        if (row === undefined || row.poolId !== poolId || findPool(tx, tenantId, poolId) === null)
          return null;
        const next = Object.freeze({ ...row, ...stored(change) });
        tx.db.resources.put(id, next);
        return resourceView(next);
      }),
    deleteResource: (tenantId, poolId, id) =>
      run((tx) => {
        if (findPool(tx, tenantId, poolId) === null) return 'no_pool';
        const row = tx.db.resources.get(id);
        if (row !== undefined && row.poolId !== poolId) return 'foreign';
        tx.db.resources.remove(id);
        return 'deleted';
      }),
  };
}

function findPool(tx: Tx, tenantId: string | null, id: string): PoolRow | null {
  const pool = tx.db.pools.get(id);
  return pool !== undefined && (tenantId === null || pool.tenantId === tenantId) ? pool : null;
}

function resourceView(full: ResourceRow): Resource {
  const { tenantId: _, ...row } = full;
  return row;
}

function budgetPart(run: Run): Pick<LimitStore, 'setBudget'> {
  return {
    setBudget: ({ tenantId, instanceId, factId, budget }) =>
      run((tx) => {
        const row = findInstance(tx.db, tenantId, instanceId);
        if (row === null) return 'not_found';
        if (tx.db.inbox.of(row.id).has(factId)) return 'accepted';
        if (isTerminal(row.state)) {
          saveInstance(tx, { ...row, budget: stored(budget), updatedAt: tx.t });
          return 'applied';
        }
        const fact = { kind: 'context' as const, sections: {}, mode: 'replace' as const, budget };
        acceptFact(tx, row, { id: factId, fact, moves: false });
        return 'accepted';
      }),
  };
}

function inScope<T extends { readonly tenantId: string }>(rows: readonly T[], tenantId: string | null): T[] {
  return rows.filter((row) => tenantId === null || row.tenantId === tenantId);
}
