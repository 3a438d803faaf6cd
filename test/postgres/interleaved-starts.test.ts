import { describe, expect, it } from 'vitest';
import { auditEntry, newInstance, nextId, settleAs, turnOf } from '../support/turn-builder.ts';
import { claimRequest, commitOk, commitOne, family, request, signalOf, start } from './acts.ts';
import { useSessions } from './sessions.ts';
import { MIGRATED_WITH_TEST_CLOCK } from './store-database.ts';

describe('families of two sessions', () => {
  const sessions = useSessions(MIGRATED_WITH_TEST_CLOCK);

  it('a child that ends while its parent cancels it waits and is refused (RULINGS A16)', async () => {
    const [above, below] = [await sessions.open(), await sessions.open()];
    const { parent, child } = await family(above.store);
    await above.begin();
    await commitOk(
      above.store,
      turnOf(parent, { childrenCancelled: [{ instanceId: child.instanceId, signalId: nextId() }] }),
    );
    const ending = turnOf(child, {
      audit: [auditEntry('running', 'completed')],
      settle: settleAs('completed'),
    });
    const late = commitOne(below.store, ending);
    await below.untilBlocked();
    await above.commit();
    expect(await late).toEqual({ verdict: 'refused' });
  });

  it('a parent that cancels a child which is just ending waits, and the end reaches it (RULINGS A16, A17)', async () => {
    const [above, below] = [await sessions.open(), await sessions.open()];
    const { parent, child } = await family(above.store);
    await below.begin();
    await commitOk(
      below.store,
      turnOf(child, { audit: [auditEntry('running', 'completed')], settle: settleAs('completed') }),
    );
    const cancelling = turnOf(parent, {
      childrenCancelled: [{ instanceId: child.instanceId, signalId: nextId() }],
    });
    const pending = commitOne(above.store, cancelling);
    await above.untilBlocked();
    await below.commit();
    expect(await pending).toMatchObject({
      verdict: 'ok',
      inbox: [{ fact: { kind: 'child', state: 'completed' } }],
    });
    expect((await below.store.getFrontier(null, child.instanceId))?.inbox).toEqual([]);
  });

  it('families that end and cancel at the same time never deadlock (RULINGS A16)', async () => {
    const before = await sessions.deadlockCount();
    const [above, below] = [await sessions.open(), await sessions.open()];
    for (let round = 0; round < 30; round += 1) {
      const { parent, child } = await family(above.store);
      const cancel = turnOf(parent, {
        childrenCancelled: [{ instanceId: child.instanceId, signalId: nextId() }],
      });
      const end = turnOf(child, {
        audit: [auditEntry('running', 'completed')],
        settle: settleAs('completed'),
      });
      const parentEnds = turnOf(parent, {
        audit: [auditEntry('running', 'failed')],
        settle: settleAs('failed'),
      });
      const [upper, lower] = await Promise.all([
        commitOne(above.store, round % 2 === 0 ? cancel : parentEnds),
        commitOne(below.store, end),
      ]);
      // Exactly one came first: the child's end reached the parent, or the cancel reached the child.
      expect([
        ['ok', 'ok'],
        ['refused', 'ok'],
        ['ok', 'refused'],
      ]).toContainEqual([upper.verdict, lower.verdict]);
    }
    expect(await sessions.deadlockCount()).toBe(before);
  });
});

describe('starts and other single acts of two sessions', () => {
  const sessions = useSessions(MIGRATED_WITH_TEST_CLOCK);

  it('the last slot of a key goes to one of two claims (RULINGS A31)', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const keyed = { concurrencyKey: `depot-${nextId()}`, maxConcurrency: 1 };
    const [one, two] = [await start(first.store, keyed), await start(first.store, keyed)];
    await first.begin();
    expect(await first.store.claimOne(claimRequest(one))).toMatchObject({ status: 'claimed' });
    const pending = second.store.claimOne(claimRequest(two));
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toMatchObject({ status: 'not_due' });
    expect(await second.store.getInstance(null, two)).toMatchObject({ state: 'scheduled', epoch: 0 });
  });

  it('two starts with one key make one instance; when the first is undone the second makes it (RULINGS A36)', async () => {
    for (const outcome of ['commit', 'rollback'] as const) {
      const [first, second] = [await sessions.open(), await sessions.open()];
      const key = { idempotencyKey: `order-${nextId()}` };
      const [one, two] = [newInstance(key), newInstance(key)];
      await first.begin();
      await first.store.start({ instances: [one], onKnownKey: 'first' });
      const pending = second.store.start({ instances: [two], onKnownKey: 'first' });
      await second.untilBlocked();
      await first[outcome]();
      const expected =
        outcome === 'commit' ? { id: one.id, deduplicated: true } : { id: two.id, deduplicated: false };
      expect(await pending).toMatchObject({ status: 'ok', started: [expected] });
    }
  });

  it('two signals with one id are one; the second is a repeat (RULINGS A36)', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const signal = signalOf(await start(first.store));
    await first.begin();
    await first.store.signal(signal);
    const pending = second.store.signal(signal);
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toMatchObject({ status: 'repeated', signalId: signal.signalId });
    const { claims } = await second.store.claimDue(request());
    expect(claims.find(({ instanceId }) => instanceId === signal.instanceId)?.inbox).toHaveLength(1);
  });

  it('two deliveries of one webhook start one instance (RULINGS B21)', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const delivery = { slug: 'orders', deliveryId: nextId() };
    const one = newInstance();
    await first.begin();
    await first.store.start({ instances: [one], onKnownKey: 'first', delivery });
    const pending = second.store.start({ instances: [newInstance()], onKnownKey: 'first', delivery });
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toMatchObject({ status: 'ok', started: [{ id: one.id, deduplicated: true }] });
  });

  it('a nonce is good for one of two requests', async () => {
    const [first, second] = [await sessions.open(), await sessions.open()];
    const nonce = { slug: 'orders', nonce: nextId() };
    await first.begin();
    await first.store.start({ instances: [newInstance()], onKnownKey: 'first', nonce });
    const pending = second.store.start({ instances: [newInstance()], onKnownKey: 'first', nonce });
    await second.untilBlocked();
    await first.commit();
    expect(await pending).toEqual({ status: 'nonce_used' });
  });
});
