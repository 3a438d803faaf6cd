import { expect, it } from 'vitest';
import { allDone, auditEntry, nextId, settleAs, turnOf } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { LEASE_MS, dueRequest, oneRequest, useWorld } from './world.ts';

export function describeConcurrencyKeys(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const keyed = (maxConcurrency: number, tenantId = 'saltmarsh'): Promise<string> =>
    world.start({ concurrencyKey: 'depot', maxConcurrency, tenantId });

  it('at most max_concurrency instances of a key run, also within one claim [CONC-1] (RULINGS A31)', async () => {
    const first = await keyed(2);
    const second = await keyed(2);
    const third = await keyed(2);
    const { now, claims } = await world.store.claimDue(dueRequest());
    expect(claims.map(({ instanceId }) => instanceId)).toEqual([first, second]);
    const refused = await world.view(third);
    expect(refused).toMatchObject({ state: 'scheduled', epoch: 0, startedAt: null });
    // [CONC-2]: looked at again after 1 to 2 s.
    expect(refused.dueAt).toBeGreaterThanOrEqual(now + 1_000);
    expect(refused.dueAt).toBeLessThanOrEqual(now + 2_000);
    expect(refused.nextFireAt).toBe(refused.dueAt);
  });

  it('the waiters of a full key are put off together, and hold up nothing that is due behind them [CONC-2] [CONC-3]', async () => {
    await world.claim(await keyed(1));
    const waiters = [];
    for (let n = 0; n < 6; n += 1) waiters.push(await keyed(1));
    const roomier = await keyed(2);
    const behind = await world.start({ concurrencyKey: 'quay', maxConcurrency: 1 });
    const { now, claims } = await world.store.claimDue(dueRequest({ limit: 2 }));
    expect(claims.map(({ instanceId }) => instanceId)).toEqual([roomier, behind]);
    const waits = await Promise.all(waiters.map(async (id) => ((await world.view(id)).dueAt ?? now) - now));
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(1_000);
    expect(waits.filter((wait) => wait >= 30_000 && wait <= 60_000)).toHaveLength(4);
    expect(waits.filter((wait) => wait <= 2_000)).toHaveLength(2);
  });

  it('a waiter that was put off for long is due when a slot gets free (RULINGS A31) [CONC-3]', async () => {
    const claim = await world.claim(await keyed(1));
    for (let n = 0; n < 3; n += 1) await keyed(1);
    await world.store.claimDue(dueRequest({ limit: 1 }));
    await world.store.releaseLeases([claim]);
    const { claims } = await world.store.claimDue(dueRequest({ limit: 9 }));
    expect(claims).toHaveLength(1);
  });

  it('a named claim of a full key is not due [CONC-2]', async () => {
    const first = await keyed(1);
    const second = await keyed(1);
    await world.claim(first);
    expect(await world.store.claimOne(oneRequest(second))).toMatchObject({ status: 'not_due' });
  });

  it('a fact is processed without a slot: a cancel does not wait for one [CAN-6]', async () => {
    const first = await keyed(1);
    const second = await keyed(1);
    await world.claim(first);
    await world.store.signal({
      tenantId: null,
      instanceId: second,
      signalId: nextId(),
      signalType: 'cancel',
      payload: null,
    });
    const [claim] = (await world.store.claimDue(dueRequest())).claims;
    expect(claim).toMatchObject({
      instanceId: second,
      mayRun: false,
      inbox: [{ seq: 1 }],
      instance: { state: 'scheduled', startedAt: null },
    });
  });

  it('a fact that was processed without a slot does not make a run of it', async () => {
    const first = await keyed(1);
    const second = await keyed(1);
    await world.claim(first);
    await world.store.signal({
      tenantId: null,
      instanceId: second,
      signalId: nextId(),
      signalType: 'custom:poke',
      payload: null,
    });
    const claim = await world.claim(second);
    const { nextFireAt } = claim.instance;
    const settle = settleAs('scheduled', { nextFireAt, dueAt: nextFireAt });
    await world.apply(turnOf(claim, { inboxDone: allDone(claim), settle }));
    await world.advance(2_000);
    expect((await world.store.claimDue(dueRequest())).claims).toEqual([]);
    expect(await world.view(second)).toMatchObject({ state: 'scheduled', startedAt: null });
  });

  it('a claim says that the run shares slots, so that a run that waited does not go on without one [CONC-1]', async () => {
    const first = await world.claim(await keyed(1));
    expect(first.sharesSlots).toBe(true);
    await world.apply(turnOf(first, { settle: settleAs('waiting', { openWaits: 1 }) }));
    const second = await world.claim(await keyed(1));
    await world.store.signal({
      tenantId: null,
      instanceId: first.instanceId,
      signalId: nextId(),
      signalType: 'custom:poke',
      payload: null,
    });
    expect(await world.claim(first.instanceId)).toMatchObject({
      sharesSlots: true,
      instance: { state: 'waiting' },
    });
    expect((await world.view(second.instanceId)).state).toBe('running');
    const free = await world.claim(await world.start({ concurrencyKey: 'depot', maxConcurrency: null }));
    expect(free.sharesSlots).toBeUndefined();
  });

  it('keys of different tenants do not meet', async () => {
    await keyed(1);
    await keyed(1, 'elsewhere');
    expect((await world.store.claimDue(dueRequest())).claims).toHaveLength(2);
  });

  it('a parked sleep keeps its slot (RULINGS B6)', async () => {
    const first = await keyed(1);
    const second = await keyed(1);
    const dueAt = (await world.now()) + 600_000;
    await world.apply(turnOf(await world.claim(first), { settle: settleAs('running', { dueAt }) }));
    expect(await world.store.claimOne(oneRequest(second))).toMatchObject({ status: 'not_due' });
  });

  for (const state of ['scheduled', 'waiting', 'paused', 'completed', 'failed', 'cancelled'] as const) {
    it(`a settle as ${state} releases the slot and makes the best waiter due (RULINGS A31) [CONC-3]`, async () => {
      const first = await keyed(1);
      const claim = await world.claim(first);
      const low = await world.start({ concurrencyKey: 'depot', maxConcurrency: 1, priority: 0 });
      const high = await world.start({ concurrencyKey: 'depot', maxConcurrency: 1, priority: 3 });
      expect((await world.store.claimDue(dueRequest())).claims).toEqual([]);
      await world.advance(10);
      const far = (await world.now()) + 900_000;
      const dueAt = state === 'scheduled' || state === 'waiting' ? far : null;
      const audit = [auditEntry('running', state)];
      await world.apply(turnOf(claim, { audit, settle: settleAs(state, { dueAt, nextFireAt: dueAt }) }));
      expect((await world.view(high)).dueAt).toBe(await world.now());
      const { claims } = await world.store.claimDue(dueRequest());
      expect(claims.map(({ instanceId }) => instanceId)).toEqual([high]);
      expect((await world.view(low)).state).toBe('scheduled');
    });
  }

  it('a commit that frees a slot names who got it, alone and in a batch, and others name nobody [CONC-3]', async () => {
    const runs = [await keyed(1), await world.start({ concurrencyKey: 'quay', maxConcurrency: 1 })];
    const free = await world.start({});
    const claims = [];
    for (const id of [...runs, free]) claims.push(await world.claim(id));
    const waiters = [await keyed(1), await world.start({ concurrencyKey: 'quay', maxConcurrency: 1 })];
    const last = await keyed(1);
    await world.store.claimDue(dueRequest());
    const end = { audit: [auditEntry('running', 'completed')], settle: settleAs('completed') };
    const { verdicts } = await world.store.commit(claims.map((claim) => turnOf(claim, end)));
    const named = verdicts.map((verdict) => (verdict.verdict === 'ok' ? verdict.nextOfKey : verdict));
    expect([waiters[0], last]).toContain(named[0]);
    expect(named.slice(1)).toEqual([waiters[1], undefined]);
    const got = named[0] === last ? last : (waiters[0] ?? '');
    const other = got === last ? waiters[0] : last;
    expect(await world.apply(turnOf(await world.claim(got), end))).toMatchObject({ nextOfKey: other });
  });

  it('a run that is paused for want of progress releases its slot (RULINGS B7)', async () => {
    const first = await keyed(1);
    const second = await keyed(1);
    await world.claim(first);
    for (let claims = 2; claims <= 20; claims += 1) {
      await world.advance(LEASE_MS);
      await world.claim(first);
    }
    expect(await world.store.claimOne(oneRequest(second))).toMatchObject({ status: 'not_due' });
    await world.advance(LEASE_MS);
    expect(await world.store.claimOne(oneRequest(first))).toMatchObject({ status: 'not_due' });
    expect((await world.view(first)).state).toBe('paused');
    expect((await world.claim(second)).instance.state).toBe('running');
  });

  it('a released claim releases the slot', async () => {
    const first = await keyed(1);
    const second = await keyed(1);
    const claim = await world.claim(first);
    await world.store.claimDue(dueRequest());
    await world.store.releaseLeases([claim]);
    expect((await world.view(second)).dueAt).toBe(await world.now());
  });
}
