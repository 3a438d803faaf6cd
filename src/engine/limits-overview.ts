import type { ConcurrencyKey } from '../ports/store/inspection.ts';
import type { RateLimit } from '../ports/store/limits.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

/** Holders and waiters that are shown of each concurrency key; the counts tell of the others. */
const SHOWN_PER_KEY = 100;

export interface LimitsOverview {
  readonly concurrency: readonly ConcurrencyKey[];
  readonly rates: readonly RateLimit[];
}

/** Who holds the slots of concurrency keys and who waits for them, and how far rate limits are used. Bounded by `limit`. */
export async function readLimits(
  { store }: Pick<UseCaseDeps, 'store'>,
  caller: Caller,
  filter: {
    readonly tenantId: string | null;
    readonly key: string | null;
    readonly limit: number;
    readonly offset: number;
  },
): Promise<LimitsOverview> {
  const tenantId = caller.tenantId ?? filter.tenantId;
  const { key, limit, offset } = filter;
  const [concurrency, rates] = await Promise.all([
    store.listConcurrencyKeys({ tenantId, key, limit, offset, perKey: SHOWN_PER_KEY }),
    store.listRateLimits(tenantId, limit),
  ]);
  return { concurrency, rates };
}
