import { expect, it } from 'vitest';
import { TENANT, auditEntry, nextId, settleAs, turnOf } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { LEASE_MS, dueRequest, oneRequest, useWorld } from './world.ts';

export function describeNoProgress(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  it('more than 20 claims in a row without a committed change pause the run (RULINGS B7)', async () => {
    const id = await world.start({ metadata: { depot: 'north-2' } });
    for (let claims = 1; claims <= 20; claims += 1) await idleTurn(id);
    expect((await world.store.claimDue(dueRequest())).claims).toEqual([]);
    expect(await world.view(id)).toMatchObject({
      state: 'paused',
      nextFireAt: null,
      dueAt: null,
      leaseUntil: null,
      metadata: { depot: 'north-2', paused_reason: 'no_progress' },
    });
    expect((await world.store.listAudit(null, id, 1))?.[0]).toMatchObject({
      fromState: 'scheduled',
      toState: 'paused',
    });
  });

  it('a fact that turns have seen and kept for later makes no hint a claim ([HI-6])', async () => {
    const id = await world.start();
    const claim = await world.claim(id);
    const signalType = 'custom:human_input:quay';
    await world.store.signal({
      tenantId: null,
      instanceId: id,
      signalId: nextId(),
      signalType,
      payload: 'yes',
    });
    const settle = settleAs('waiting', { openWaits: 1 });
    await world.apply(turnOf(claim, { seenSeq: 1, audit: [auditEntry('running', 'waiting')], settle }));
    expect(await world.store.claimOne(oneRequest(id))).toMatchObject({ status: 'not_due' });
    expect((await world.frontier(id)).inbox).toHaveLength(1);
  });

  it('a named claim and a take-over count as claims too (RULINGS B7)', async () => {
    const id = await world.start();
    await world.claim(id);
    for (let claims = 2; claims <= 20; claims += 1) {
      await world.advance(LEASE_MS);
      if (claims % 2 === 0) await world.claim(id);
      else await world.store.claimExpired(dueRequest());
      expect((await world.view(id)).epoch).toBe(claims);
    }
    await world.advance(LEASE_MS);
    expect(await world.store.claimOne(oneRequest(id))).toMatchObject({ status: 'not_due' });
    expect(await world.view(id)).toMatchObject({ state: 'paused', leaseUntil: null });
  });

  it('a committed change begins the count anew (RULINGS B7)', async () => {
    const id = await world.start();
    for (let claims = 1; claims <= 20; claims += 1) await idleTurn(id);
    // The 21st claim would pause the run; a change before it does not let it come to that.
    const other = await world.start();
    for (let claims = 1; claims <= 19; claims += 1) await idleTurn(other);
    const claim = await world.claim(other);
    await world.apply(turnOf(claim, { kv: [{ key: 'k', value: 1 }], ...backToScheduled(await world.now()) }));
    for (let claims = 1; claims <= 20; claims += 1) await idleTurn(other);
    expect((await world.view(other)).state).toBe('scheduled');
  });

  it('claims that were given back unused do not count (RULINGS B7)', async () => {
    const id = await world.start();
    for (let claims = 1; claims <= 25; claims += 1) {
      await world.store.releaseLeases([await world.claim(id)]);
    }
    expect((await world.view(id)).state).toBe('scheduled');
  });

  it('claims that read afresh in vain count although they are given back (RULINGS B7)', async () => {
    const id = await world.start();
    for (let claims = 1; claims <= 20; claims += 1) {
      await world.store.releaseLeases([{ ...(await world.claim(id)), isHop: true }]);
    }
    expect((await world.store.claimDue(dueRequest())).claims).toEqual([]);
    expect(await world.view(id)).toMatchObject({
      state: 'paused',
      metadata: { paused_reason: 'no_progress' },
    });
  });

  it.each(['a take-over', 'a named claim'] as const)(
    '%s that pauses a run tells who got its slot [CONC-3]',
    async (way) => {
      const shared = { concurrencyKey: 'crane', maxConcurrency: 1 };
      const id = await world.start(shared);
      for (let claims = 1; claims <= 20; claims += 1) {
        await world.claim(id);
        await world.advance(LEASE_MS);
      }
      const waiting = await world.start(shared);
      expect(await world.store.claimOne(oneRequest(waiting))).toMatchObject({ status: 'not_due' });
      const { given } =
        way === 'a take-over'
          ? await world.store.claimExpired(dueRequest())
          : { given: [], ...(await world.store.claimOne(oneRequest(id))) };
      expect(given).toEqual([{ tenantId: TENANT, instanceId: waiting }]);
      expect((await world.view(id)).state).toBe('paused');
      expect(await world.claim(waiting)).toMatchObject({ instanceId: waiting });
    },
  );

  it('a signal wakes a run that was paused for want of progress', async () => {
    const id = await world.start();
    for (let claims = 1; claims <= 20; claims += 1) await idleTurn(id);
    await world.store.claimDue(dueRequest());
    await world.store.signal({
      tenantId: null,
      instanceId: id,
      signalId: nextId(),
      signalType: 'resume',
      payload: null,
    });
    expect(await world.claim(id)).toMatchObject({ instance: { state: 'paused' }, inbox: [{ seq: 1 }] });
  });

  const backToScheduled = (
    dueAt: number,
  ): Pick<Parameters<typeof turnOf>[1] & object, 'audit' | 'settle'> => ({
    audit: [auditEntry('running', 'scheduled')],
    settle: settleAs('scheduled', { dueAt, nextFireAt: dueAt }),
  });

  /** A turn that only holds the lease. */
  async function idleTurn(id: string): Promise<void> {
    await world.apply(turnOf(await world.claim(id), backToScheduled(await world.now())));
  }
}
