import type { Breaker, Pool, RateLimit, Resource } from '../../ports/store/limits.ts';

/** A rate limit with its log: instants and counts, oldest first. */
export interface RateRow extends RateLimit {
  readonly lastAt: number;
  readonly grants: readonly { readonly at: number; readonly count: number }[];
}

export interface BreakerRow extends Breaker {
  readonly probeInstanceId: string | null;
}

export type PoolRow = Pool;
export type ResourceRow = Resource & { readonly tenantId: string };
