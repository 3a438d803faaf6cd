import { describe, expect, it } from 'vitest';
import type { Takes } from '../../src/core/run/limits/takes.ts';
import type { TurnCommit } from '../../src/ports/store/turn.ts';
import { TENANT, frame, leaf, nextId, turnOf } from '../support/turn-builder.ts';
import { commitOne, startClaimed } from './acts.ts';
import { type Session, useSessions } from './sessions.ts';
import { MIGRATED } from './store-database.ts';
import { type Cost, costOf, tooDear } from './touched-rows.ts';

/** Many limits, breakers and pools of many tenants, and a full log of one key. */
const FILL = [
  `INSERT INTO stepwell.rate_limits (tenant_id, resource_key, max_count, window_ms, current_count, created_at, updated_at)
    SELECT 'tenant-' || n % 50, 'key-' || n, 1000, 3600000, 0, now(), now() FROM generate_series(1, 20000) AS n`,
  `INSERT INTO stepwell.rate_limits (tenant_id, resource_key, max_count, window_ms, current_count, last_n, created_at, updated_at)
    VALUES ('${TENANT}', 'full', 1000, 3600000, 999, 999, now(), now())`,
  `INSERT INTO stepwell.rate_grants (tenant_id, resource_key, granted_at, n, grants)
    SELECT '${TENANT}', 'full', clock_timestamp() - (1000 - n) * interval '1 second', n, 1 FROM generate_series(1, 999) AS n`,
  `INSERT INTO stepwell.circuit_breakers (tenant_id, handler, state, failure_count, failure_threshold, cooldown_ms, opened_at, updated_at)
    SELECT 'tenant-' || n % 50, 'handler-' || n, 'open', 5, 5, 60000, now(), now() FROM generate_series(1, 20000) AS n`,
  `INSERT INTO stepwell.resource_pools (id, tenant_id, name, strategy, created_at, updated_at)
    SELECT gen_random_uuid(), 'tenant-' || n % 50, 'pool-' || n, 'round_robin', now(), now() FROM generate_series(1, 20000) AS n`,
  `INSERT INTO stepwell.pool_resources (id, pool_id, created_at, weight, daily_cap, warmup_days, warmup_start_cap, tenant_id, resource_key, name)
    SELECT gen_random_uuid(), p.id, now(), 1, 0, 0, 0, p.tenant_id, 'r', 'r' FROM stepwell.resource_pools p`,
  'ANALYZE',
];

function asking(takes: Takes): Partial<TurnCommit> {
  const base = frame();
  return {
    frames: [{ frame: base, intent: { ...base, leaf: leaf({ dispatchedAt: 1 }) }, takes, held: base }],
  };
}

describe('limits on large tables', () => {
  const sessions = useSessions(MIGRATED);

  async function costs(session: Session): Promise<ReadonlyMap<string, Cost>> {
    const found = new Map<string, Cost>();
    const turns: Readonly<Record<string, Partial<TurnCommit>>> = {
      'a token of a full log': asking({ rate: 'full' }),
      'a resource': asking({ pool: { name: 'mine', dice: 0 } }),
      'a breaker': asking({ breaker: { handler: 'charge' } }),
      'a failure': { outcomes: [{ handler: 'charge', ok: false, error: 'x', threshold: 5, cooldownMs: 1 }] },
      'a success': { outcomes: [{ handler: 'calm', ok: true }] },
      'a plain commit': {},
    };
    for (const [name, turn] of Object.entries(turns)) {
      const claim = await startClaimed(session.store);
      found.set(name, await costOf(session, () => commitOne(session.store, turnOf(claim, turn))));
    }
    return found;
  }

  it('a commit that asks or tells limits touches as few rows as ever (RULINGS A32)', async () => {
    const session = await sessions.open();
    const pool = { id: nextId(), tenantId: TENANT, name: 'mine', strategy: 'round_robin' as const };
    await session.store.createPool(pool);
    // The plans are made while the tables are empty, and kept.
    await costs(session);
    for (const text of FILL) await session.rows(text);
    expect(tooDear(await costs(session))).toEqual([]);
  });
});
