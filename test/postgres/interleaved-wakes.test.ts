import { describe, expect, it } from 'vitest';
import type { Takes } from '../../src/core/run/limits/takes.ts';
import type { Store } from '../../src/ports/store/store.ts';
import type { Claim } from '../../src/ports/store/turn.ts';
import { TENANT, frame, leaf, nextId, settleAs, turnOf, write } from '../support/turn-builder.ts';
import { commitOne, startClaimed } from './acts.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED_WITH_TEST_CLOCK } from './store-database.ts';

/** A limit is made wider, or a run is woken, while a turn of another session is open at the worst moment. */
describe('wakes of two sessions', () => {
  const sessions = useSessions(MIGRATED_WITH_TEST_CLOCK);

  async function ask(store: Store, claim: Claim, takes: Takes): Promise<boolean | undefined> {
    const base = frame();
    const held = { ...base, leaf: leaf() };
    const intent = { ...base, leaf: leaf({ dispatchedAt: 1 }) };
    const verdict = await commitOne(store, turnOf(claim, { frames: [{ frame: base, intent, takes, held }] }));
    return verdict.verdict === 'ok' ? verdict.taken?.[0]?.granted : undefined;
  }

  it('an attempt that is denied by the limit as it was is woken: the change waits for its commit [RATE-3]', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const limit = { tenantId: TENANT, resourceKey: 'raised', windowMs: 60_000 };
    await first.store.putRateLimit({ ...limit, maxCount: 0 });
    const claim = await startClaimed(first.store);
    await first.begin();
    expect(await ask(first.store, claim, { rate: 'raised' })).toBe(false);
    const pending = second.store.putRateLimit({ ...limit, maxCount: 5 });
    await second.untilBlocked();
    await first.commit();
    await pending;
    const of = { reason: 'rate_limit', name: 'raised' } as const;
    const woken = { woken: [claim.instanceId], more: false };
    expect(await second.store.wakeLimitWaiters(TENANT, of, 9)).toEqual(woken);
  });

  it('so is one that is denied by a pool as it was: a new resource waits for its commit (RULINGS B24)', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const pool = { id: nextId(), tenantId: TENANT, name: 'small', strategy: 'round_robin' as const };
    const resource = (dailyCap: number) => ({
      ...{ id: nextId(), resourceKey: 'r', name: 'r', weight: 1, enabled: true, dailyCap },
      ...{ warmupStart: null, warmupDays: 0, warmupStartCap: 0 },
    });
    await first.store.createPool(pool);
    const only = resource(1);
    await first.store.addResource(TENANT, pool.id, only);
    const takes = { pool: { name: 'small', dice: 0 } };
    expect(await ask(first.store, await startClaimed(first.store), takes)).toBe(true);
    const claim = await startClaimed(first.store);
    for (const widen of [
      () => second.store.addResource(TENANT, pool.id, resource(0)),
      () => second.store.changeResource(TENANT, pool.id, only.id, { dailyCap: 9 }),
    ]) {
      await first.begin();
      await ask(first.store, claim, takes);
      const pending = widen();
      await second.untilBlocked();
      await first.rollback();
      await pending;
    }
  });

  it('a wake of a limit and a denial of the same run do not deadlock, whoever comes first (RULINGS A16)', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const limit = { tenantId: TENANT, resourceKey: 'both', windowMs: 60_000, maxCount: 0 };
    await first.store.putRateLimit(limit);
    const claim = await startClaimed(first.store);
    expect(await ask(first.store, claim, { rate: 'both' })).toBe(false);
    const of = { reason: 'rate_limit', name: 'both' } as const;
    await first.begin();
    const next = { ...claim, instance: { ...claim.instance, rev: 1 } };
    expect(await ask(first.store, next, { rate: 'both' })).toBe(false);
    const pending = second.store.wakeLimitWaiters(TENANT, of, 9);
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toEqual({ woken: [claim.instanceId], more: false });
  });

  it('a wake that comes while a turn settles makes the run due at once (RULINGS A5)', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const claim = await startClaimed(first.store);
    const [row] = await first.rows('SELECT stepwell.to_ms(stepwell.sw_now()) AS now');
    const wakeAt = Number(row?.['now']) + 3_600_000;
    const waits = leaf({ state: 'waiting', reason: 'delay', wakeAt });
    const settle = settleAs('scheduled', { nextFireAt: wakeAt, dueAt: wakeAt });
    const turn = turnOf(claim, { frames: [write(frame({ leaf: waits }))], settle });
    await first.begin();
    await commitOne(first.store, turn);
    const wake = { ends: [{ blockId: 'nap', iteration: '', wakeAt }], startAt: null, limit: null };
    const target = { tenantId: TENANT, instanceId: claim.instanceId, factId: nextId() };
    const pending = second.store.wakeInstance({ ...target, wake });
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toBe('accepted');
    const view = await first.store.getInstance(TENANT, claim.instanceId);
    expect(view?.dueAt).toBeLessThan(wakeAt);
    expect(view?.nextFireAt).toBe(view?.dueAt);
  });
});
