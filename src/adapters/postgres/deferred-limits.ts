import type { LimitStore } from '../../ports/store/limits.ts';
import type { SqlDriver } from './driver.ts';

/** What people set and look at; turns take their limits in their commits. So it is loaded when it is asked for (see store.ts). */
export function createDeferredLimitStore(driver: SqlDriver): LimitStore {
  const limits = async (): Promise<LimitStore> => {
    const { createLimitStore } = await import('./limits.ts');
    return createLimitStore(driver);
  };
  return {
    putRateLimit: async (limit) => (await limits()).putRateLimit(limit),
    getRateLimit: async (tenantId, key) => (await limits()).getRateLimit(tenantId, key),
    listRateLimits: async (tenantId, limit) => (await limits()).listRateLimits(tenantId, limit),
    deleteRateLimit: async (tenantId, key) => (await limits()).deleteRateLimit(tenantId, key),
    getBreaker: async (tenantId, handler) => (await limits()).getBreaker(tenantId, handler),
    listBreakers: async (tenantId, limit) => (await limits()).listBreakers(tenantId, limit),
    resetBreaker: async (tenantId, handler) => (await limits()).resetBreaker(tenantId, handler),
    createPool: async (pool) => (await limits()).createPool(pool),
    getPool: async (tenantId, poolId) => (await limits()).getPool(tenantId, poolId),
    listPools: async (tenantId, limit) => (await limits()).listPools(tenantId, limit),
    deletePool: async (tenantId, poolId) => (await limits()).deletePool(tenantId, poolId),
    listResources: async (tenantId, poolId, page) => (await limits()).listResources(tenantId, poolId, page),
    addResource: async (tenantId, poolId, resource) =>
      (await limits()).addResource(tenantId, poolId, resource),
    changeResource: async (tenantId, poolId, resourceId, change) =>
      (await limits()).changeResource(tenantId, poolId, resourceId, change),
    deleteResource: async (tenantId, poolId, resourceId) =>
      (await limits()).deleteResource(tenantId, poolId, resourceId),
    setBudget: async (request) => (await limits()).setBudget(request),
  };
}
