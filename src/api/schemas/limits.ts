import * as z from 'zod';
import { POOL_STRATEGIES } from '../../core/limits/pool.ts';
import type { Breaker, Pool, RateLimit, Resource } from '../../ports/store/limits.ts';
import { FilterParameter, Timestamp, Uuid, limitParameter, optional, timestamp } from './wire-values.ts';

const LIST_MAX = 1000;

export const LimitQuery = z.object({ tenant_id: FilterParameter, limit: limitParameter(LIST_MAX, LIST_MAX) });
export const TenantPath = z.object({ tenant: z.string() });
export const RateLimitPath = z.object({ tenant: z.string(), key: z.string() });
export const BreakerPath = z.object({ tenant: z.string(), handler: z.string() });
export const ResourcePath = z.object({ id: Uuid, rid: z.string() });

/** `window_seconds` may have a fraction, down to a millisecond. */
export const RateLimitInput = z.object({
  max_count: z.int32(),
  window_seconds: z.number().max(2 ** 31),
});

export const RateLimitBody = z.object({
  tenant_id: z.string(),
  resource_key: z.string(),
  max_count: z.int(),
  window_seconds: z.number(),
  current_count: z.int(),
  window_start: Timestamp.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const RateLimitList = z.array(RateLimitBody);

export function showRateLimit(limit: RateLimit): z.infer<typeof RateLimitBody> {
  return {
    tenant_id: limit.tenantId,
    resource_key: limit.resourceKey,
    max_count: limit.maxCount,
    window_seconds: limit.windowMs / 1000,
    current_count: limit.currentCount,
    window_start: limit.windowStart === null ? null : timestamp(limit.windowStart),
    created_at: timestamp(limit.createdAt),
    updated_at: timestamp(limit.updatedAt),
  };
}

export const BreakerBody = z.object({
  tenant_id: z.string(),
  handler: z.string(),
  state: z.enum(['closed', 'open', 'half_open']),
  failure_count: z.int(),
  failure_threshold: z.int(),
  cooldown_secs: z.number(),
  opened_at: Timestamp.exactOptional(),
  last_error: z.string().exactOptional(),
});
export const BreakerList = z.array(BreakerBody);

export function showBreaker(breaker: Breaker): z.infer<typeof BreakerBody> {
  const { openedAt, lastError } = breaker;
  return {
    tenant_id: breaker.tenantId,
    handler: breaker.handler,
    state: breaker.state,
    failure_count: breaker.failureCount,
    failure_threshold: breaker.failureThreshold,
    cooldown_secs: breaker.cooldownMs / 1000,
    ...(breaker.state !== 'open' || openedAt === null ? {} : { opened_at: timestamp(openedAt) }),
    ...(lastError === null ? {} : { last_error: lastError }),
  };
}

const Strategy = z.enum(POOL_STRATEGIES);

export const PoolInput = z
  .object({
    tenant_id: z.string().min(1).max(255),
    name: z.string(),
    strategy: Strategy.nullish().transform((strategy) => strategy ?? ('round_robin' as const)),
  })
  .transform(({ tenant_id: tenantId, name, strategy }) => ({ tenantId, name, strategy }));

export const PoolBody = z.object({
  id: Uuid,
  tenant_id: z.string(),
  name: z.string(),
  strategy: Strategy,
  round_robin_index: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export const PoolList = z.array(PoolBody);

export function showPool(pool: Pool): z.infer<typeof PoolBody> {
  return {
    id: pool.id,
    tenant_id: pool.tenantId,
    name: pool.name,
    strategy: pool.strategy,
    round_robin_index: pool.roundRobinIndex,
    created_at: timestamp(pool.createdAt),
    updated_at: timestamp(pool.updatedAt),
  };
}

const WireDate = z.iso.date();
const Count = z.int32();

export const ResourceInput = z
  .object({
    resource_key: z.string(),
    name: z.string(),
    weight: optional(Count),
    daily_cap: optional(Count),
    warmup_start: optional(WireDate),
    warmup_days: optional(Count),
    warmup_start_cap: optional(Count),
  })
  .transform((body) => ({
    resourceKey: body.resource_key,
    name: body.name,
    weight: body.weight ?? 1,
    dailyCap: body.daily_cap ?? 0,
    warmupStart: body.warmup_start,
    warmupDays: body.warmup_days ?? 0,
    warmupStartCap: body.warmup_start_cap ?? 0,
  }));

/** What is absent stays; a null for `warmup_start` ends the warm-up. */
export const ResourcePatch = z
  .object({
    name: optional(z.string()),
    weight: optional(Count),
    enabled: optional(z.boolean()),
    daily_cap: optional(Count),
    warmup_start: WireDate.nullable().exactOptional(),
    warmup_days: optional(Count),
    warmup_start_cap: optional(Count),
  })
  .transform((body) => ({
    ...(body.name === null ? {} : { name: body.name }),
    ...(body.weight === null ? {} : { weight: body.weight }),
    ...(body.enabled === null ? {} : { enabled: body.enabled }),
    ...(body.daily_cap === null ? {} : { dailyCap: body.daily_cap }),
    ...(body.warmup_start === undefined ? {} : { warmupStart: body.warmup_start }),
    ...(body.warmup_days === null ? {} : { warmupDays: body.warmup_days }),
    ...(body.warmup_start_cap === null ? {} : { warmupStartCap: body.warmup_start_cap }),
  }));

export const ResourceBody = z.object({
  id: Uuid,
  pool_id: Uuid,
  resource_key: z.string(),
  name: z.string(),
  weight: z.int(),
  enabled: z.boolean(),
  daily_cap: z.int(),
  daily_usage: z.int(),
  daily_usage_date: z.string().nullable(),
  warmup_start: z.string().nullable(),
  warmup_days: z.int(),
  warmup_start_cap: z.int(),
  created_at: Timestamp,
});
export const ResourceList = z.array(ResourceBody);

export function showResource(resource: Resource): z.infer<typeof ResourceBody> {
  return {
    id: resource.id,
    pool_id: resource.poolId,
    resource_key: resource.resourceKey,
    name: resource.name,
    weight: resource.weight,
    enabled: resource.enabled,
    daily_cap: resource.dailyCap,
    daily_usage: resource.dailyUsage,
    daily_usage_date: resource.dailyUsageDate,
    warmup_start: resource.warmupStart,
    warmup_days: resource.warmupDays,
    warmup_start_cap: resource.warmupStartCap,
    created_at: timestamp(resource.createdAt),
  };
}
