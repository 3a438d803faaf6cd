import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BreakerOutcome, Takes } from '../../src/core/run/limits/takes.ts';
import type { Store } from '../../src/ports/store/store.ts';
import type { Claim, TurnCommit } from '../../src/ports/store/turn.ts';
import { TENANT, frame, leaf, nextId, turnOf } from '../support/turn-builder.ts';
import { commitOne, startClaimed } from './acts.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED_WITH_TEST_CLOCK } from './store-database.ts';

const RULE = { threshold: 1, cooldownMs: 60_000 };
const failed = (handler: string): BreakerOutcome => ({ handler, ok: false, error: 'boom', ...RULE });

function askingTurn(claim: Claim, ...all: readonly Takes[]): TurnCommit {
  const frames = all.map((takes, branch) => {
    const base = frame({ blockId: 'both', branch, detail: { kind: 'branch' } });
    const held = { ...base, leaf: leaf() };
    return { frame: base, intent: { ...base, leaf: leaf({ dispatchedAt: 1 }) }, takes, held };
  });
  return turnOf(claim, { frames });
}

async function ask(store: Store, claim: Claim, takes: Takes): Promise<boolean | undefined> {
  const verdict = await commitOne(store, askingTurn(claim, takes));
  return verdict.verdict === 'ok' ? verdict.taken?.[0]?.granted : undefined;
}

/** Limits between two sessions, one of which holds its commit open at the worst moment (RULINGS A16, A32). */
describe('limits of two sessions', () => {
  const sessions = useSessions(MIGRATED_WITH_TEST_CLOCK);
  const advance = (ms: number) => `UPDATE stepwell.test_clock SET at = at + interval '${ms} milliseconds'`;
  const limit = (store: Store, resourceKey: string, maxCount: number, windowMs = 60_000) =>
    store.putRateLimit({ tenantId: TENANT, resourceKey, maxCount, windowMs });

  it('two commits for the last token: one has it, the other waits for the lock and is denied (RULINGS A32) [RATE-2]', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    await limit(first.store, 'last', 1);
    const [one, two] = [await startClaimed(first.store), await startClaimed(first.store)];
    await first.begin();
    expect(await ask(first.store, one, { rate: 'last' })).toBe(true);
    const pending = ask(second.store, two, { rate: 'last' });
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toBe(false);
  });

  it('a token that was rolled back is there for the one who waited', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    await limit(first.store, 'undone', 1);
    const [one, two] = [await startClaimed(first.store), await startClaimed(first.store)];
    await first.begin();
    expect(await ask(first.store, one, { rate: 'undone' })).toBe(true);
    const pending = ask(second.store, two, { rate: 'undone' });
    await second.untilBlocked();
    await first.rollback();
    expect(await pending).toBe(true);
  });

  it('the grant is stamped after the lock of the key, not when its transaction began (RULINGS A32)', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    await limit(first.store, 'late', 2, 1_000);
    const claims = [
      await startClaimed(first.store),
      await startClaimed(first.store),
      await startClaimed(first.store),
    ] as const;
    // The second transaction begins, and so has an old now(), long before it asks.
    await second.begin();
    await second.rows('SELECT 1');
    await first.rows(advance(900));
    expect(await ask(first.store, claims[0], { rate: 'late' })).toBe(true);
    expect(await ask(second.store, claims[1], { rate: 'late' })).toBe(true);
    await second.commit();
    await first.rows(advance(999));
    expect(await ask(first.store, claims[2], { rate: 'late' })).toBe(false);
  });

  it('two probes at the end of a cooldown: one goes out [CB-6]', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const down = await startClaimed(first.store);
    await commitOne(first.store, turnOf(down, { outcomes: [failed('charge')] }));
    await first.rows(advance(61_000));
    const [one, two] = [await startClaimed(first.store), await startClaimed(first.store)];
    const takes = { breaker: { handler: 'charge' } };
    await first.begin();
    expect(await ask(first.store, one, takes)).toBe(true);
    const pending = ask(second.store, two, takes);
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toBe(false);
  });

  it('failures of two sessions add up, however they meet [CB-2]', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const outcome = (handler: string) => ({ ...failed(handler), threshold: 2 });
    const [one, two] = [await startClaimed(first.store), await startClaimed(first.store)];
    await first.begin();
    await commitOne(first.store, turnOf(one, { outcomes: [outcome('flaky')] }));
    const pending = commitOne(second.store, turnOf(two, { outcomes: [outcome('flaky')] }));
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toMatchObject({ verdict: 'ok', openBreakers: expect.arrayContaining(['flaky']) });
    expect(await first.store.getBreaker(TENANT, 'flaky')).toMatchObject({ state: 'open', failureCount: 2 });
  });

  it('two commits for the last assignment of a resource: one has it (RULINGS B24)', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const pool = { id: nextId(), tenantId: TENANT, name: 'last-one', strategy: 'round_robin' as const };
    await first.store.createPool(pool);
    await first.store.addResource(TENANT, pool.id, {
      ...{ id: nextId(), resourceKey: 'r1', name: 'r1', weight: 1, enabled: true, dailyCap: 1 },
      ...{ warmupStart: null, warmupDays: 0, warmupStartCap: 0 },
    });
    const [one, two] = [await startClaimed(first.store), await startClaimed(first.store)];
    const takes = { pool: { name: 'last-one', dice: 0 } };
    await first.begin();
    expect(await ask(first.store, one, takes)).toBe(true);
    const pending = ask(second.store, two, takes);
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toBe(false);
  });

  it('turns that name the same limits in other orders never deadlock (RULINGS A16)', async () => {
    const [left, right] = [await sessions.open(), await sessions.open()];
    const before = await sessions.deadlockCount();
    for (const key of ['a', 'b', 'c']) await limit(left.store, key, 1_000);
    const work = async (store: Store, keys: readonly string[]): Promise<void> => {
      for (let n = 0; n < 40; n += 1) {
        const claim = await startClaimed(store);
        const turn = askingTurn(claim, ...keys.map((rate) => ({ rate })));
        const outcomes = keys.toReversed().map((key) => ({ ...failed(key), threshold: 1_000 }));
        const { verdict } = await commitOne(store, { ...turn, outcomes });
        expect(verdict).toBe('ok');
      }
    };
    await Promise.all([work(left.store, ['a', 'b', 'c']), work(right.store, ['c', 'a', 'b'])]);
    expect(await sessions.deadlockCount()).toBe(before);
    for (const key of ['a', 'b', 'c']) {
      expect(await left.store.getRateLimit(TENANT, key)).toMatchObject({ currentCount: 80 });
      expect(await left.store.getBreaker(TENANT, key)).toMatchObject({ failureCount: 80 });
    }
  });

  it('in every interval of the window there are at most max_count grants, whatever the timing (RULINGS A32) [RATE-1]', async () => {
    const session = await sessions.open();
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          maxCount: fc.integer({ min: 1, max: 4 }),
          windowMs: fc.integer({ min: 5, max: 60 }),
          gaps: fc.array(fc.integer({ min: 0, max: 25 }), { minLength: 10, maxLength: 25 }),
        }),
        async ({ maxCount, windowMs, gaps }) => {
          round += 1;
          const key = `random-${round}`;
          await limit(session.store, key, maxCount, windowMs);
          const claim = await startClaimed(session.store);
          const grants: number[] = [];
          let rev = 0;
          let now = 0;
          for (const gap of gaps) {
            await session.rows(advance(gap));
            now += gap;
            const verdict = await commitOne(session.store, { ...askingTurn(claim, { rate: key }), rev });
            rev += 1;
            const answer = verdict.verdict === 'ok' ? verdict.taken?.[0] : undefined;
            const live = grants.filter((at) => at > now - windowMs);
            // It is granted exactly when the window has room.
            expect(answer?.granted).toBe(live.length < maxCount);
            if (answer?.granted === true) grants.push(now);
          }
          for (const from of grants) {
            expect(grants.filter((at) => at >= from && at < from + windowMs).length).toBeLessThanOrEqual(
              maxCount,
            );
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});
