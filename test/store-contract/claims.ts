import { expect, it } from 'vitest';
import { auditEntry, nextId, settleAs, turnOf } from '../support/turn-builder.ts';
import { ALL_STATES, ENDED_STATES } from './states.ts';
import type { MakeStore } from './store-under-test.ts';
import { LEASE_MS, dueRequest, oneRequest, useWorld } from './world.ts';

export function describeClaims(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  const claimedIds = async (overrides: Parameters<typeof dueRequest>[0] = {}): Promise<readonly string[]> =>
    (await world.store.claimDue(dueRequest(overrides))).claims.map(({ instanceId }) => instanceId);

  it('a claim makes a scheduled instance running under the next epoch, and begins the run [CLAIM-1]', async () => {
    const id = await world.start();
    await world.advance(5);
    const request = dueRequest();
    const { now, claims } = await world.store.claimDue(request);
    expect(now).toBe(await world.now());
    const [claim] = claims;
    expect(claim).toMatchObject({
      instanceId: id,
      epoch: 1,
      leaseToken: request.leaseToken,
      leaseUntil: now + LEASE_MS,
      frames: [],
      inbox: [],
      takenOver: false,
      mayRun: true,
      instance: { id, state: 'running', startedAt: now, rev: 0, runNo: 1, hasHistory: false },
    });
    expect(await world.view(id)).toMatchObject({
      state: 'running',
      epoch: 1,
      leaseOwner: 'process-a',
      leaseUntil: now + LEASE_MS,
      startedAt: now,
    });
    // The claim scheduled -> running writes no audit row ([AUD-1]).
    expect(await world.store.listAudit(null, id, 10)).toEqual([]);
  });

  for (const state of ALL_STATES) {
    it(`the due claim takes a ${state} instance only when it is due (RULINGS A26)`, async () => {
      const id = await world.inState(state);
      await world.advance(600_000 - 1);
      expect(await claimedIds()).toEqual(state === 'scheduled' ? [id] : []);
      await world.advance(1);
      expect(await claimedIds()).toEqual(state === 'running' ? [id] : []);
    });
  }

  for (const state of ['waiting', 'paused'] as const) {
    it(`a claim of a ${state} instance leaves its state unchanged (TURN-1)`, async () => {
      const id = await world.inState(state);
      await world.store.signal({
        tenantId: null,
        instanceId: id,
        signalId: nextId(),
        signalType: 'custom:poke',
        payload: null,
      });
      const claim = await world.claim(id);
      expect(claim.instance.state).toBe(state);
      expect(claim.inbox).toHaveLength(1);
      expect((await world.view(id)).state).toBe(state);
    });
  }

  it('due instances come by priority, then due time, then id (SWEEP-3, RULINGS A30)', async () => {
    const late = await world.start({ priority: 1 });
    await world.advance(1);
    const later = await world.start({ priority: 1 });
    const tie = await world.start({ priority: 1 });
    const critical = await world.start({ priority: 3 });
    const low = await world.start({ priority: 0 });
    expect(await claimedIds()).toEqual([critical, late, later, tie, low]);
  });

  it('a backlog of one tenant does not hold up the others (RULINGS A30)', async () => {
    for (let index = 0; index < 5; index += 1) await world.start({ tenantId: 'ahead' });
    await world.advance(1);
    const second = await world.start({ tenantId: 'behind' });
    const third = await world.start({ tenantId: 'last' });
    const { claims } = await world.store.claimDue(dueRequest({ limit: 4 }));
    expect(claims.map(({ tenantId }) => tenantId).sort()).toEqual(['ahead', 'ahead', 'behind', 'last']);
    expect(claims.map(({ instanceId }) => instanceId)).toEqual(expect.arrayContaining([second, third]));
  });

  it('at most perTenantLimit instances of a tenant are in one claim', async () => {
    for (let index = 0; index < 3; index += 1) await world.start({ tenantId: 'ahead' });
    const other = await world.start({ tenantId: 'behind' });
    const { claims } = await world.store.claimDue(dueRequest({ perTenantLimit: 2 }));
    expect(claims.map(({ tenantId }) => tenantId).sort()).toEqual(['ahead', 'ahead', 'behind']);
    expect(claims.map(({ instanceId }) => instanceId)).toContain(other);
  });

  it('a claim takes no more than its limit and leaves the rest for the next one', async () => {
    const ids = [await world.start(), await world.start(), await world.start()];
    expect(await claimedIds({ limit: 2 })).toEqual(ids.slice(0, 2));
    expect(await claimedIds({ limit: 2 })).toEqual(ids.slice(2));
  });

  it('a held instance is in no other claim', async () => {
    const id = await world.start();
    await world.claim(id);
    expect(await claimedIds()).toEqual([]);
    expect(await world.store.claimOne(oneRequest(id))).toMatchObject({ status: 'held' });
  });

  it('the due claim leaves an expired lease to the take-overs (RULINGS A28)', async () => {
    const id = await world.start();
    await world.claim(id);
    await world.advance(LEASE_MS);
    expect(await claimedIds()).toEqual([]);
    expect((await world.view(id)).epoch).toBe(1);
  });

  it('a claim repeated with its token answers what it holds (RULINGS A24)', async () => {
    const id = await world.start();
    const second = await world.start();
    const request = dueRequest({ limit: 1 });
    const first = await world.store.claimDue(request);
    await world.advance(1);
    const again = await world.store.claimDue(request);
    expect(again.claims).toEqual(first.claims);
    expect(again.claims.map(({ instanceId }) => instanceId)).toEqual([id]);
    expect((await world.view(second)).epoch).toBe(0);
  });

  it('a named claim repeated with its token reads the inbox afresh (RULINGS A24)', async () => {
    const id = await world.start();
    const request = oneRequest(id);
    const first = await world.store.claimOne(request);
    const signalId = nextId();
    await world.store.signal({
      tenantId: null,
      instanceId: id,
      signalId,
      signalType: 'custom:poke',
      payload: 1,
    });
    const again = await world.store.claimOne(request);
    expect(first).toMatchObject({ status: 'claimed', claim: { epoch: 1, inbox: [] } });
    expect(again).toMatchObject({
      status: 'claimed',
      claim: { epoch: 1, inbox: [{ seq: 1, id: signalId }] },
    });
  });

  it('a claim that ran out is not held by its token any more (RULINGS A24)', async () => {
    const id = await world.start();
    const request = oneRequest(id);
    await world.store.claimOne(request);
    await world.advance(LEASE_MS);
    expect(await world.store.claimOne(request)).toMatchObject({
      status: 'claimed',
      claim: { epoch: 2, takenOver: true },
    });
  });

  it('a held instance has no due time until a fact comes in (RULINGS A26)', async () => {
    const id = await world.start();
    await world.claim(id);
    expect((await world.view(id)).dueAt).toBeNull();
    await world.advance(3);
    await world.store.signal({
      tenantId: null,
      instanceId: id,
      signalId: nextId(),
      signalType: 'custom:poke',
      payload: null,
    });
    expect((await world.view(id)).dueAt).toBe(await world.now());
  });

  it('a start in the future is held back until then [CLAIM-1]', async () => {
    const id = await world.start({ nextFireAt: (await world.now()) + 1_000 });
    expect(await claimedIds()).toEqual([]);
    expect(await world.store.claimOne(oneRequest(id))).toMatchObject({ status: 'not_due' });
    await world.advance(1_000);
    expect(await claimedIds()).toEqual([id]);
  });

  it('a signal to a run that is not yet due gets it a turn for its inbox only [SETTLE-3] (RULINGS A26)', async () => {
    const nextFireAt = (await world.now()) + 1_000_000;
    const id = await world.start({ nextFireAt });
    await world.store.signal({
      tenantId: null,
      instanceId: id,
      signalId: nextId(),
      signalType: 'pause',
      payload: null,
    });
    const [claim] = (await world.store.claimDue(dueRequest())).claims;
    expect(claim).toMatchObject({
      mayRun: false,
      instance: { state: 'scheduled', startedAt: null, nextFireAt },
      inbox: [{ seq: 1 }],
    });
  });

  it('a started instance with a timer in the future keeps its state under a claim, but may run (TURN-1)', async () => {
    const id = await world.start();
    const nextFireAt = (await world.now()) + 50_000;
    const settle = settleAs('scheduled', { nextFireAt, dueAt: nextFireAt });
    await world.apply(turnOf(await world.claim(id), { audit: [auditEntry('running', 'scheduled')], settle }));
    await world.store.signal({
      tenantId: null,
      instanceId: id,
      signalId: nextId(),
      signalType: 'custom:poke',
      payload: null,
    });
    const claim = await world.claim(id);
    expect(claim).toMatchObject({ mayRun: true, instance: { state: 'scheduled', nextFireAt } });
  });

  it('a named claim of an unknown instance or of another tenant finds nothing', async () => {
    const id = await world.start();
    expect(await world.store.claimOne(oneRequest(nextId()))).toMatchObject({ status: 'not_found' });
    expect(await world.store.claimOne(oneRequest(id, { tenantId: 'other' }))).toMatchObject({
      status: 'not_found',
    });
  });

  for (const state of ENDED_STATES) {
    it(`a hint for a ${state} instance is answered terminal, an operator gets it`, async () => {
      const id = await world.inState(state);
      expect(await world.store.claimOne(oneRequest(id))).toMatchObject({ status: 'terminal' });
      const claim = await world.operate(id);
      expect(claim.instance.state).toBe(state);
    });
  }

  for (const state of ALL_STATES) {
    it(`an operator's claim of a ${state} instance leaves state and run as they are (RULINGS A28)`, async () => {
      const id = await world.inState(state);
      const before = await world.view(id);
      const claim = await world.operate(id);
      expect(claim).toMatchObject({
        epoch: before.epoch + 1,
        takenOver: false,
        instance: { state, startedAt: before.startedAt, nextFireAt: before.nextFireAt },
      });
    });
  }

  it('an operator takes a live lease over only when told to (RULINGS A10)', async () => {
    const id = await world.start();
    await world.claim(id);
    expect(await world.store.claimOne(oneRequest(id, { mode: 'operator' }))).toMatchObject({
      status: 'held',
    });
    const taken = await world.claim(id, { mode: 'operator', takeOver: true });
    expect(taken).toMatchObject({ epoch: 2, takenOver: true, instance: { recoveryCount: 0 } });
  });
}
