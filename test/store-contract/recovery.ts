import { expect, it } from 'vitest';
import { auditEntry, frame, leaf, row, settleAs, turnOf, write } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { LEASE_MS, dueRequest, oneRequest, useWorld } from './world.ts';

export function describeRecovery(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  it('an expired lease is taken over under the next epoch [REC-1]', async () => {
    const id = await world.start();
    await world.claim(id);
    await world.advance(LEASE_MS - 1);
    expect((await world.store.claimExpired(dueRequest())).claims).toEqual([]);
    await world.advance(1);
    const { now, claims } = await world.store.claimExpired(dueRequest({ leaseOwner: 'process-b' }));
    expect(claims).toMatchObject([
      { instanceId: id, epoch: 2, takenOver: true, mayRun: true, instance: { state: 'running' } },
    ]);
    expect(await world.view(id)).toMatchObject({ leaseOwner: 'process-b', leaseUntil: now + LEASE_MS });
  });

  it('a hint takes an expired lease over (RULINGS A28)', async () => {
    const id = await world.start();
    await world.claim(id);
    await world.advance(LEASE_MS);
    expect(await world.claim(id)).toMatchObject({ epoch: 2, takenOver: true });
  });

  it('expired leases are taken over oldest first, up to the limit', async () => {
    for (let index = 0; index < 3; index += 1) await world.start();
    const [first, second, third] = (await world.store.claimDue(dueRequest())).claims;
    if (first === undefined) throw new Error('Three were due.');
    await world.store.renewLeases([first], LEASE_MS + 5);
    await world.advance(LEASE_MS + 5);
    const { claims } = await world.store.claimExpired(dueRequest({ limit: 2 }));
    expect(claims.map(({ instanceId }) => instanceId)).toEqual([second?.instanceId, third?.instanceId]);
  });

  it('a lost turn of an instance claimed alone counts against it (RULINGS A18)', async () => {
    const id = await world.start();
    for (const recoveryCount of [1, 2, 3, 4]) {
      if (recoveryCount === 1) await world.claim(id);
      await world.advance(LEASE_MS);
      const [claim] = (await world.store.claimExpired(dueRequest())).claims;
      expect(claim?.instance.recoveryCount).toBe(recoveryCount);
    }
  });

  it('a turn that was not alone in its process speaks against nobody when it is lost (RULINGS A18)', async () => {
    const id = await world.start();
    const claim = await world.claim(id, { among: 2 });
    const dispatched = frame({ leaf: leaf({ dispatchedAt: await world.now() }) });
    await world.apply(turnOf(claim, { frames: [{ frame: frame(), intent: dispatched }] }));
    await world.advance(LEASE_MS);
    const taken = await world.claim(id, { among: 1 });
    expect(taken).toMatchObject({ takenOver: true, among: 1, instance: { recoveryCount: 0 } });
    await world.advance(LEASE_MS);
    expect(await world.claim(id)).toMatchObject({ instance: { recoveryCount: 1 } });
  });

  it('a hint does not get a suspect in larger company than it may be in, and takes nothing from it', async () => {
    const id = await world.start();
    await world.claim(id, { among: 40 });
    await world.advance(LEASE_MS);
    const now = await world.now();
    const refused = { status: 'suspect', now, company: 10 };
    expect(await world.store.claimOne(oneRequest(id, { among: 11 }))).toEqual(refused);
    expect(await world.view(id)).toMatchObject({ leaseUntil: null, dueAt: now, epoch: 1, recoveryCount: 0 });
    expect(await world.store.claimOne(oneRequest(id, { among: 11 }))).toEqual(refused);
    expect(await world.claim(id, { among: 10 })).toMatchObject({ epoch: 2, takenOver: true, among: 10 });
  });

  it('what is lost again and again comes back in ever smaller company, until it is alone and to blame', async () => {
    const id = await world.start();
    const seen: unknown[] = [];
    await world.claim(id, { among: 512 });
    for (let loss = 0; loss < 8; loss += 1) {
      await world.advance(LEASE_MS);
      const [claim] = (await world.store.claimExpired(dueRequest({ among: 512, leaseOwner: `p${loss}` })))
        .claims;
      seen.push([claim?.among, claim?.instance.recoveryCount]);
    }
    expect(seen.slice(0, 4)).toEqual([
      [2, 0],
      [1, 0],
      [1, 1],
      [1, 2],
    ]);
  });

  it('a fleet that ended comes back in quarters of what its processes had', async () => {
    for (let index = 0; index < 40; index += 1) await world.start();
    const first = await world.store.claimDue(dueRequest({ limit: 40 }));
    expect(first.claims.map(({ among }) => among)).toEqual(Array(40).fill(40));
    await world.advance(LEASE_MS);
    const { claims, left } = await world.store.claimExpired(dueRequest({ among: 64 }));
    expect([claims.length, left?.length]).toEqual([10, 30]);
    const next = await world.store.claimDue(dueRequest({ among: 64, busy: true, suspects: 4 }));
    expect(next.claims).toHaveLength(6);
    expect(next.claims.every(({ among, instance }) => among === 10 && instance.recoveryCount === 0)).toBe(
      true,
    );
    const full = await world.store.claimDue(dueRequest({ among: 64, busy: true, suspects: 10 }));
    expect(full).toMatchObject({ claims: [], waits: 10 });
  });

  it('a suspect that has to be alone waits for a process that has nothing to do', async () => {
    const id = await world.start();
    await world.claim(id, { among: 2 });
    await world.advance(LEASE_MS);
    const busy = await world.store.claimExpired(dueRequest({ among: 64, busy: true }));
    expect(busy).toMatchObject({ claims: [], left: [{ instanceId: id }] });
    await world.advance(1);
    const other = await world.start();
    const others = await world.store.claimDue(dueRequest({ among: 64, busy: true }));
    expect([others.claims.map(({ instanceId }) => instanceId), others.waits]).toEqual([[other], 1]);
    const alone = await world.store.claimDue(dueRequest({ among: 64 }));
    expect(alone.claims).toMatchObject([{ instanceId: id, among: 1 }]);
  });

  it('the end of a turn clears a suspect that was not alone yet', async () => {
    const id = await world.start();
    await world.claim(id, { among: 40 });
    await world.advance(LEASE_MS);
    const claim = await world.claim(id, { among: 10 });
    const dueAt = await world.now();
    const audit = [auditEntry('running', 'scheduled')];
    await world.apply(turnOf(claim, { audit, settle: settleAs('scheduled', { dueAt, nextFireAt: dueAt }) }));
    expect(await world.claim(id, { among: 64 })).toMatchObject({ among: 64, takenOver: false });
  });

  it('an operator who dies changes nothing of whom a suspect may be with', async () => {
    const id = await world.start();
    await world.claim(id, { among: 40 });
    await world.advance(LEASE_MS);
    expect(await world.operate(id)).toMatchObject({ among: 0, takenOver: true });
    await world.advance(LEASE_MS);
    expect(await world.store.claimOne(oneRequest(id, { among: 11 }))).toMatchObject({ company: 10 });
  });

  it('a take-over is one until the first commit after it', async () => {
    const id = await world.start();
    await world.claim(id);
    await world.advance(LEASE_MS);
    const claim = await world.claim(id);
    expect(await world.claim(id, { leaseToken: claim.leaseToken })).toMatchObject({ takenOver: true });
    await world.apply(turnOf(claim, { frames: [write(frame())] }));
    expect(await world.claim(id, { leaseToken: claim.leaseToken })).toMatchObject({ takenOver: false });
  });

  it('an instance with a recovery count is the only one of its claim until a result resets it (RULINGS A18)', async () => {
    const suspect = await world.start();
    await world.claim(suspect);
    await world.advance(LEASE_MS);
    const [taken] = (await world.store.claimExpired(dueRequest())).claims;
    if (taken === undefined) throw new Error('The lease had expired.');
    const dueAt = await world.now();
    const audit = [auditEntry('running', 'scheduled')];
    await world.apply(turnOf(taken, { audit, settle: settleAs('scheduled', { dueAt, nextFireAt: dueAt }) }));
    await world.advance(1);
    const other = await world.start();
    const first = (await world.store.claimDue(dueRequest())).claims;
    const second = (await world.store.claimDue(dueRequest())).claims;
    expect(first.map(({ instanceId }) => instanceId)).toEqual([suspect]);
    expect(second.map(({ instanceId }) => instanceId)).toEqual([other]);
    const [again] = first;
    if (again === undefined) throw new Error('The suspect was due.');
    await world.apply(turnOf(again, { hasResult: true, rows: [row()] }));
    expect((await world.view(suspect)).recoveryCount).toBe(0);
  });

  it('a suspect behind others in the order waits for a claim of its own (RULINGS A18)', async () => {
    const suspect = await world.start();
    await world.claim(suspect);
    await world.advance(LEASE_MS);
    await world.store.voidAllLeases();
    const urgent = await world.start({ priority: 3 });
    const first = (await world.store.claimDue(dueRequest())).claims;
    expect(first.map(({ instanceId }) => instanceId)).toEqual([urgent]);
    const second = (await world.store.claimDue(dueRequest())).claims;
    expect(second.map(({ instanceId }) => instanceId)).toEqual([suspect]);
  });

  it('only a result resets the recovery count, other commits do not [REC-3]', async () => {
    const id = await world.start();
    await world.claim(id);
    await world.advance(LEASE_MS);
    const claim = await world.claim(id);
    await world.apply(turnOf(claim, { frames: [write(frame())] }));
    expect((await world.view(id)).recoveryCount).toBe(1);
    const next = { ...claim, instance: { ...claim.instance, rev: 1 } };
    await world.apply(turnOf(next, { hasResult: true, rows: [row()] }));
    expect((await world.view(id)).recoveryCount).toBe(0);
  });

  it('a parked sleep is not stale, however long it sleeps (RULINGS B6)', async () => {
    await world.inState('running');
    await world.advance(599_999);
    expect((await world.store.claimExpired(dueRequest())).claims).toEqual([]);
  });

  it('voiding all leases puts running instances back at now and counts as a take-over (RULINGS B18)', async () => {
    const alone = await world.start();
    await world.claim(alone);
    const paused = await world.inState('paused');
    await world.operate(paused);
    await world.advance(3);
    expect(await world.store.voidAllLeases()).toBe(2);
    const now = await world.now();
    expect(await world.view(alone)).toMatchObject({
      state: 'scheduled',
      nextFireAt: now,
      dueAt: now,
      leaseUntil: null,
      epoch: 2,
      recoveryCount: 1,
    });
    expect(await world.store.listAudit(null, alone, 10)).toMatchObject([
      { eventType: 'state_transition', fromState: 'running', toState: 'scheduled' },
    ]);
    expect(await world.view(paused)).toMatchObject({ state: 'paused', dueAt: now, leaseUntil: null });
    expect(await world.claim(alone)).toMatchObject({ takenOver: true });
  });

  it('after voiding, the dead turn can commit nothing', async () => {
    const claim = await world.claim(await world.start());
    await world.store.voidAllLeases();
    expect(await world.commit(turnOf(claim, { rows: [row()] }))).toEqual({ verdict: 'fenced' });
  });

  it('an operator whose process died leaves no lease on an ended instance', async () => {
    const id = await world.inState('failed');
    await world.operate(id);
    await world.advance(LEASE_MS);
    expect((await world.store.claimExpired(dueRequest())).claims).toEqual([]);
    expect(await world.view(id)).toMatchObject({ state: 'failed', leaseUntil: null, recoveryCount: 0 });
  });

  it('a settled turn leaves nothing to take over: the next claim is an ordinary one', async () => {
    const id = await world.start();
    await world.claim(id);
    await world.advance(LEASE_MS);
    const dueAt = await world.now();
    const audit = [auditEntry('running', 'scheduled')];
    const settle = settleAs('scheduled', { dueAt, nextFireAt: dueAt });
    await world.apply(turnOf(await world.claim(id), { audit, settle }));
    expect(await world.claim(id)).toMatchObject({ takenOver: false });
  });
}
