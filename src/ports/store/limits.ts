import type { JsonObject } from '../../core/json.ts';
import type { ResourceSettings, PoolStrategy } from '../../core/limits/pool.ts';
import type { Page } from './page.ts';

/**
 * Throughput and protection (13.3, 13.4, 13.6, 13.8): what is managed from outside. Attempts take from limits in the
 * commit of their intent (`FrameWrite.takes`), and tell breakers in the commit of their result (`Changes.outcomes`).
 */
export interface LimitStore {
  /** Sets a limit; grants of the past count on. A longer window counts grants from now on only. */
  putRateLimit(limit: RateLimitSettings): Promise<RateLimit>;
  getRateLimit(tenantId: string, resourceKey: string): Promise<RateLimit | null>;
  /** By tenant and key; null: of all tenants. */
  listRateLimits(tenantId: string | null, limit: number): Promise<readonly RateLimit[]>;
  deleteRateLimit(tenantId: string, resourceKey: string): Promise<boolean>;

  getBreaker(tenantId: string, handler: string): Promise<Breaker | null>;
  /** By tenant and handler; null: of all tenants. */
  listBreakers(tenantId: string | null, limit: number): Promise<readonly Breaker[]>;
  /** Closes a breaker and sets its count to 0; one that does not exist stays so ([CB-7]). */
  resetBreaker(tenantId: string, handler: string): Promise<void>;

  createPool(pool: NewPool): Promise<Pool>;
  getPool(tenantId: string | null, poolId: string): Promise<Pool | null>;
  /** By name, then id; null: of all tenants. */
  listPools(tenantId: string | null, limit: number): Promise<readonly Pool[]>;
  deletePool(tenantId: string | null, poolId: string): Promise<boolean>;
  /** Oldest first; without a page all of them. null: there is no such pool. */
  listResources(tenantId: string | null, poolId: string, page?: Page): Promise<readonly Resource[] | null>;
  addResource(tenantId: string | null, poolId: string, resource: NewResource): Promise<Resource | null>;
  changeResource(
    tenantId: string | null,
    poolId: string,
    resourceId: string,
    change: Partial<ResourceSettings>,
  ): Promise<Resource | null>;
  /** `foreign`: it belongs to another pool. An unknown one counts as deleted. */
  deleteResource(
    tenantId: string | null,
    poolId: string,
    resourceId: string,
  ): Promise<'deleted' | 'foreign' | 'no_pool'>;

  /** Replaces the caps ([BUD-4]): at once when the instance has ended, else as a fact that its next turn takes in. */
  setBudget(request: BudgetRequest): Promise<'accepted' | 'applied' | 'not_found'>;
}

export interface RateLimitSettings {
  readonly tenantId: string;
  readonly resourceKey: string;
  /** 0 denies always. */
  readonly maxCount: number;
  readonly windowMs: number;
}

export interface RateLimit extends RateLimitSettings {
  /** Grants that still count. */
  readonly currentCount: number;
  /** The oldest of them; null for none. */
  readonly windowStart: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface Breaker {
  readonly tenantId: string;
  readonly handler: string;
  readonly state: 'closed' | 'open' | 'half_open';
  readonly failureCount: number;
  readonly failureThreshold: number;
  readonly cooldownMs: number;
  /** null while closed. */
  readonly openedAt: number | null;
  /** Half open: until then nobody else may probe. */
  readonly probeUntil: number | null;
  readonly lastError: string | null;
}

export interface NewPool {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly strategy: PoolStrategy;
}

export interface Pool extends NewPool {
  /** Position of the resource that round robin looks at next. */
  readonly roundRobinIndex: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface NewResource extends ResourceSettings {
  readonly id: string;
  readonly resourceKey: string;
}

export interface Resource extends NewResource {
  readonly poolId: string;
  /** Assignments on `dailyUsageDate`. */
  readonly dailyUsage: number;
  /** YYYY-MM-DD in UTC; null before the first. */
  readonly dailyUsageDate: string | null;
  readonly createdAt: number;
}

export interface BudgetRequest {
  readonly tenantId: string | null;
  readonly instanceId: string;
  readonly factId: string;
  readonly budget: JsonObject;
}
