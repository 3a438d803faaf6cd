import { expect, it } from 'vitest';
import { nextId, settleAs, turnOf } from '../support/turn-builder.ts';
import { ENDED_STATES } from './states.ts';
import type { MakeStore } from './store-under-test.ts';
import { LEASE_MS, dueRequest, useWorld } from './world.ts';

export function describeLeases(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  const poke = (id: string): Promise<unknown> =>
    world.store.signal({
      tenantId: null,
      instanceId: id,
      signalId: nextId(),
      signalType: 'custom:poke',
      payload: null,
    });

  it('a renewal moves the end of the leases that are still held [CLAIM-3]', async () => {
    const claim = await world.claim(await world.start());
    const lost = await world.claim(await world.start());
    await world.claim(lost.instanceId, { mode: 'operator', takeOver: true });
    await world.advance(20_000);
    const renewed = await world.store.renewLeases([claim, lost], LEASE_MS);
    expect([...renewed]).toEqual([claim.instanceId]);
    expect((await world.view(claim.instanceId)).leaseUntil).toBe((await world.now()) + LEASE_MS);
  });

  it('a lease that ran out but was not taken over is renewed', async () => {
    const claim = await world.claim(await world.start());
    await world.advance(LEASE_MS + 1);
    expect((await world.store.renewLeases([claim], LEASE_MS)).size).toBe(1);
    expect((await world.store.claimExpired(dueRequest())).claims).toEqual([]);
  });

  it('lists what falls due soon and was set long before, the earliest first; leased instances are not listed', async () => {
    const minutes = (count: number): number => count * 60_000;
    const start = async (aheadMs: number): Promise<string> =>
      world.start({ nextFireAt: (await world.now()) + aheadMs });
    const request = { withinMs: minutes(1), aheadMs: minutes(15), limit: 10 };
    const [late, early, far] = [
      await start(minutes(20) + 30_000),
      await start(minutes(20)),
      await start(minutes(40)),
    ];
    await world.advance(minutes(19) + 31_000);
    await start(29_000);
    const now = await world.now();
    const { instances } = await world.store.listUpcoming(request);
    expect(instances.map(({ instanceId, dueAt }) => [instanceId, dueAt - now])).toEqual([
      [early, 29_000],
      [late, 59_000],
    ]);
    const [first, ...rest] = (await world.store.listUpcoming({ ...request, limit: 1 })).instances;
    expect([first?.instanceId, rest]).toEqual([early, []]);
    const after = { dueAt: first?.dueAt ?? 0, instanceId: early };
    const next = (await world.store.listUpcoming({ ...request, after })).instances;
    expect(next.map(({ instanceId }) => instanceId)).toEqual([late]);
    await world.advance(minutes(20));
    expect((await world.store.listUpcoming(request)).instances.map(({ instanceId }) => instanceId)).toEqual([
      far,
    ]);
  });

  it('lists what falls due at the same instant page by page, each once', async () => {
    const nextFireAt = (await world.now()) + 3_600_000;
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.push(await world.start({ nextFireAt }));
    await world.advance(3_590_000);
    const request = { withinMs: 60_000, aheadMs: 900_000, limit: 2 };
    const listed: string[] = [];
    for (let page = 0; page < 4; page += 1) {
      const last = listed.at(-1);
      const after = last === undefined ? {} : { after: { dueAt: nextFireAt, instanceId: last } };
      const { instances } = await world.store.listUpcoming({ ...request, ...after });
      listed.push(...instances.map(({ instanceId }) => instanceId));
    }
    expect(listed).toEqual(ids.toSorted());
  });

  it('counts what is due and held by nobody, up to a limit', async () => {
    const before = await world.store.countDue(1000);
    const ids = [await world.start(), await world.start(), await world.start()];
    await world.start({ nextFireAt: (await world.now()) + 60_000 });
    expect(await world.store.countDue(1000)).toBe(before + 3);
    expect(await world.store.countDue(before + 2)).toBe(before + 2);
    await world.claim(ids[0] ?? '');
    expect(await world.store.countDue(1000)).toBe(before + 2);
  });

  it('a renewal needs epoch and token (RULINGS A24)', async () => {
    const claim = await world.claim(await world.start());
    const wrongToken = { ...claim, leaseToken: nextId() };
    const wrongEpoch = { ...claim, epoch: claim.epoch + 1 };
    const wrongTenant = { ...claim, tenantId: 'other' };
    for (const wrong of [wrongToken, wrongEpoch, wrongTenant]) {
      expect((await world.store.renewLeases([wrong], LEASE_MS)).size).toBe(0);
      await world.store.releaseLeases([wrong]);
      expect((await world.store.peekInbox([{ ...wrong, seenSeq: 0 }])).size).toBe(0);
    }
    expect((await world.view(claim.instanceId)).leaseUntil).toBe(claim.leaseUntil);
  });

  it('a released claim of a scheduled instance is as if it had not been (RULINGS A30)', async () => {
    const claim = await world.claim(await world.start());
    await world.advance(7);
    await world.store.releaseLeases([claim]);
    const now = await world.now();
    expect(await world.view(claim.instanceId)).toMatchObject({
      state: 'scheduled',
      nextFireAt: now,
      dueAt: now,
      leaseOwner: null,
      leaseUntil: null,
      recoveryCount: 0,
    });
    expect(await world.store.listAudit(null, claim.instanceId, 10)).toEqual([]);
    expect((await world.claim(claim.instanceId)).epoch).toBe(2);
  });

  for (const state of ['waiting', 'paused'] as const) {
    it(`a released claim leaves a ${state} instance in its state and due`, async () => {
      const id = await world.inState(state);
      await poke(id);
      await world.store.releaseLeases([await world.claim(id)]);
      expect(await world.view(id)).toMatchObject({ state, dueAt: await world.now(), leaseUntil: null });
    });
  }

  for (const state of ENDED_STATES) {
    it(`a released operator's claim leaves a ${state} instance as it was`, async () => {
      const id = await world.inState(state);
      await world.store.releaseLeases([await world.operate(id)]);
      expect(await world.view(id)).toMatchObject({ state, dueAt: null, leaseUntil: null });
    });
  }

  it('a stale release changes nothing', async () => {
    const claim = await world.claim(await world.start());
    const taken = await world.claim(claim.instanceId, { mode: 'operator', takeOver: true });
    await world.store.releaseLeases([claim]);
    expect(await world.view(claim.instanceId)).toMatchObject({ state: 'running', epoch: taken.epoch });
    expect((await world.view(claim.instanceId)).leaseUntil).toBe(taken.leaseUntil);
  });

  it('peekInbox names the held instances with facts above what their turns have seen (RULINGS B22)', async () => {
    const quiet = await world.claim(await world.start());
    const news = await world.claim(await world.start());
    const lost = await world.claim(await world.start());
    await poke(news.instanceId);
    await poke(lost.instanceId);
    await world.claim(lost.instanceId, { mode: 'operator', takeOver: true });
    const seen = [quiet, news, lost].map((claim) => ({ ...claim, seenSeq: 0 }));
    expect([...(await world.store.peekInbox(seen))]).toEqual([news.instanceId]);
    expect((await world.store.peekInbox([{ ...news, seenSeq: 1 }])).size).toBe(0);
  });

  it('nextWake answers null when nothing is to come', async () => {
    expect(await world.store.nextWake()).toMatchObject({
      now: await world.now(),
      dueAt: null,
      leaseUntil: null,
    });
  });

  it('nextWake answers the least due time of the free ones and the least lease end (DESIGN 5)', async () => {
    const now = await world.now();
    await world.start({ nextFireAt: now + 9_000 });
    await world.start({ nextFireAt: now + 5_000 });
    await world.claim(await world.start());
    await world.claim(await world.start(), { leaseMs: 3_000 });
    expect(await world.store.nextWake()).toMatchObject({ now, dueAt: now + 5_000, leaseUntil: now + 3_000 });
  });

  it('nextWake knows nothing of ended instances', async () => {
    for (const state of ENDED_STATES) await world.inState(state);
    expect(await world.store.nextWake()).toMatchObject({ dueAt: null, leaseUntil: null });
  });

  it('a settle gives the lease back (RULINGS A27)', async () => {
    const claim = await world.claim(await world.start());
    const dueAt = (await world.now()) + 5;
    await world.apply(turnOf(claim, { settle: settleAs('running', { dueAt }) }));
    expect(await world.view(claim.instanceId)).toMatchObject({ leaseOwner: null, leaseUntil: null, dueAt });
    expect((await world.store.renewLeases([claim], LEASE_MS)).size).toBe(0);
  });
}
