import * as z from 'zod';
import { PRIORITIES } from '../../core/run/states.ts';
import type { LimitsOverview } from '../../engine/limits-overview.ts';
import type { ConcurrencyKey } from '../../ports/store/inspection.ts';
import type { RateLimit } from '../../ports/store/limits.ts';
import {
  FilterParameter,
  limitParameter,
  OffsetParameter,
  optionalTimestamp,
  PriorityName,
  Timestamp,
  timestamp,
  Uuid,
} from './wire-values.ts';

export const LimitsQuery = z.object({
  tenant_id: FilterParameter,
  concurrency_key: FilterParameter,
  limit: limitParameter(100, 1000),
  offset: OffsetParameter,
});

const ConcurrencyBody = z.object({
  tenant_id: z.string(),
  key: z.string(),
  /** The largest of those that hold or wait; null when none of them has one. */
  max: z.int().nullable(),
  /** The longest first; at most 100, `holder_count` counts on, up to 10,000. */
  holders: z.array(z.object({ instance_id: Uuid, since: Timestamp.nullable() })),
  holder_count: z.int(),
  /** In the order in which they are given a slot; at most 100. */
  waiters: z.array(
    z.object({
      instance_id: Uuid,
      priority: PriorityName,
      max: z.int().nullable(),
      /** When it looks again, should no slot get free before. */
      retry_at: Timestamp.nullable(),
    }),
  ),
  waiter_count: z.int(),
});

const RateBody = z.object({
  tenant_id: z.string(),
  key: z.string(),
  count: z.int(),
  max: z.int(),
  window_seconds: z.number(),
  /** When the oldest grant that counts leaves the window; null for none. */
  window_end: Timestamp.nullable(),
});

export const LimitsBody = z.object({ concurrency: z.array(ConcurrencyBody), rates: z.array(RateBody) });

export function showLimits({ concurrency, rates }: LimitsOverview): z.infer<typeof LimitsBody> {
  return { concurrency: concurrency.map(showKey), rates: rates.map(showRate) };
}

function showKey(of: ConcurrencyKey): z.infer<typeof ConcurrencyBody> {
  return {
    tenant_id: of.tenantId,
    key: of.key,
    max: of.max,
    holders: of.holders.map(({ instanceId, since }) => ({
      instance_id: instanceId,
      since: optionalTimestamp(since),
    })),
    holder_count: of.holderCount,
    waiters: of.waiters.map(({ instanceId, priority, max, retryAt }) => ({
      instance_id: instanceId,
      priority: PRIORITIES[priority] ?? 'Normal',
      max,
      retry_at: optionalTimestamp(retryAt),
    })),
    waiter_count: of.waiterCount,
  };
}

function showRate(rate: RateLimit): z.infer<typeof RateBody> {
  const { windowStart, windowMs } = rate;
  return {
    tenant_id: rate.tenantId,
    key: rate.resourceKey,
    count: rate.currentCount,
    max: rate.maxCount,
    window_seconds: windowMs / 1000,
    window_end: windowStart === null ? null : timestamp(windowStart + windowMs),
  };
}
