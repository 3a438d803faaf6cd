import { expect, it } from 'vitest';
import { TENANT, nextId, turnOf } from '../support/turn-builder.ts';
import { RULE, ask, asking, failed, limitTo, succeeded, tell } from './limit-acts.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

export function describeBreakers(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  it('opens at the threshold of failures in a row, and a success between them begins anew [CB-1] [CB-2]', async () => {
    await tell(world, failed('charge'));
    expect(await world.store.getBreaker(TENANT, 'charge')).toMatchObject({
      state: 'closed',
      failureCount: 1,
    });
    await tell(world, succeeded('charge'));
    expect(await world.store.getBreaker(TENANT, 'charge')).toMatchObject({
      state: 'closed',
      failureCount: 0,
    });
    await tell(world, failed('charge'));
    const at = await world.now();
    await tell(world, failed('charge'));
    expect(await world.store.getBreaker(TENANT, 'charge')).toEqual({
      tenantId: TENANT,
      handler: 'charge',
      state: 'open',
      failureCount: 2,
      failureThreshold: 2,
      cooldownMs: 60_000,
      openedAt: at,
      probeUntil: null,
      lastError: 'boom',
    });
  });

  it('a handler that never failed has no breaker, and a reset makes none [CB-7]', async () => {
    await tell(world, succeeded('calm'));
    await world.store.resetBreaker(TENANT, 'calm');
    expect(await world.store.getBreaker(TENANT, 'calm')).toBeNull();
  });

  it('claims and commits tell which breakers of the tenant are not closed', async () => {
    const claim = await world.claim(await world.start());
    expect(claim.openBreakers).toBeUndefined();
    expect(await world.apply(turnOf(claim))).not.toHaveProperty('openBreakers');
    await tell(world, failed('charge'), failed('charge'));
    expect(await world.apply(turnOf(claim, { rev: 1 }))).toMatchObject({ openBreakers: ['charge'] });
    expect((await world.claim(await world.start())).openBreakers).toEqual(['charge']);
    const foreign = await world.start({ tenantId: 'other' });
    expect((await world.claim(foreign, { tenantId: 'other' })).openBreakers).toBeUndefined();
  });

  it('a start that takes the lease tells them too', async () => {
    await tell(world, failed('charge'), failed('charge'));
    const id = await world.start();
    expect((await world.claim(id)).openBreakers).toEqual(['charge']);
  });

  it('denies until the end of the cooldown, then lets one probe through [CB-5] [CB-6]', async () => {
    const at = await world.now();
    await tell(world, failed('charge'), failed('charge'));
    const takes = { breaker: { handler: 'charge' } };
    expect((await ask(world, takes)).answer).toEqual({
      granted: false,
      reason: 'breaker',
      until: at + 60_000,
    });
    await world.advance(60_000);
    const probe = await ask(world, takes);
    const probeUntil = at + 120_000;
    expect(probe.answer).toEqual({ granted: true, taken: { handler: 'charge', probeUntil } });
    expect(await world.store.getBreaker(TENANT, 'charge')).toMatchObject({ state: 'half_open', probeUntil });
    expect((await ask(world, takes)).answer).toEqual({
      granted: false,
      reason: 'breaker',
      until: at + 65_000,
    });
    await world.apply(turnOf(probe.claim, { rev: 1, outcomes: [succeeded('charge')] }));
    expect(await world.store.getBreaker(TENANT, 'charge')).toMatchObject({
      state: 'closed',
      failureCount: 0,
    });
    expect((await ask(world, takes)).answer).toEqual({ granted: true, taken: { handler: 'charge' } });
  });

  it('a probe that fails opens it again for a new cooldown [CB-6]', async () => {
    await tell(world, failed('charge'), failed('charge'));
    await world.advance(61_000);
    const probe = await ask(world, { breaker: { handler: 'charge' } });
    const at = await world.now();
    await world.apply(turnOf(probe.claim, { rev: 1, outcomes: [failed('charge')] }));
    expect(await world.store.getBreaker(TENANT, 'charge')).toMatchObject({ state: 'open', openedAt: at });
  });

  it('a probe that does not answer for 60 s leaves its place, and has no say any more [CB-6]', async () => {
    await tell(world, failed('charge'), failed('charge'));
    await world.advance(60_000);
    const long = await world.claim(await world.start(), { leaseMs: 600_000 });
    await world.apply(turnOf(long, { frames: [asking({ breaker: { handler: 'charge' } })] }));
    await world.advance(60_000);
    const next = await ask(world, { breaker: { handler: 'charge' } });
    expect(next.answer).toMatchObject({ granted: true });
    await world.apply(turnOf(long, { rev: 1, outcomes: [failed('charge')] }));
    expect(await world.store.getBreaker(TENANT, 'charge')).toMatchObject({ state: 'half_open' });
  });

  it('a late success does not close an open breaker', async () => {
    await tell(world, failed('charge'), failed('charge'));
    await tell(world, succeeded('charge'));
    expect(await world.store.getBreaker(TENANT, 'charge')).toMatchObject({ state: 'open' });
  });

  it('the fallback is let through while its own breaker allows [CB-4] [CB-5]', async () => {
    const at = await world.now();
    await tell(world, failed('charge'), failed('charge'));
    const takes = (tracked: boolean) => ({
      breaker: { handler: 'charge', fallback: { handler: 'spare', tracked } },
    });
    expect((await ask(world, takes(true))).answer).toEqual({ granted: true, taken: { handler: 'spare' } });
    await world.advance(5_000);
    await tell(world, failed('spare'), failed('spare'));
    const denied = { granted: false, reason: 'breaker', until: at + 65_000 };
    expect((await ask(world, takes(true))).answer).toEqual(denied);
    expect((await ask(world, takes(false))).answer).toEqual({ granted: true, taken: { handler: 'spare' } });
  });

  it('a denial by the breaker takes no token', async () => {
    await limitTo(world, 1);
    await tell(world, failed('charge'), failed('charge'));
    const denied = await ask(world, { rate: 'mail', breaker: { handler: 'charge' } });
    expect(denied.answer).toMatchObject({ granted: false, reason: 'breaker' });
    expect(await world.store.getRateLimit(TENANT, 'mail')).toMatchObject({ currentCount: 0 });
  });

  it("a worker's failure counts before its report is answered, a success when its result is stored [CB-2]", async () => {
    const { task } = await world.claimedTask();
    const report = {
      tenantId: TENANT,
      taskId: task.id,
      workerId: task.workerId ?? '',
      claimEpoch: task.claimEpoch,
    };
    const outcome = { ok: false as const, message: 'no such parcel', retryable: false };
    const request = { ...report, factId: nextId(), outcome, breaker: RULE, logs: [] };
    expect((await world.store.reportTask(request)).status).toBe('accepted');
    const breaker = await world.store.getBreaker(TENANT, task.handlerName);
    expect(breaker).toMatchObject({ failureCount: 1, lastError: 'no such parcel' });
    expect((await world.store.reportTask(request)).status).toBe('accepted');
    expect(await world.store.getBreaker(TENANT, task.handlerName)).toMatchObject({ failureCount: 1 });
  });

  it('breakers are listed by handler and closed by a reset [CB-7]', async () => {
    await tell(world, failed('b'), failed('a'), failed('a'));
    expect((await world.store.listBreakers(TENANT, 10)).map(({ handler }) => handler)).toEqual(['a', 'b']);
    expect(await world.store.listBreakers('other', 10)).toEqual([]);
    await world.store.resetBreaker(TENANT, 'a');
    const closed = { state: 'closed', failureCount: 0, openedAt: null };
    expect(await world.store.getBreaker(TENANT, 'a')).toMatchObject(closed);
    await world.store.resetBreaker(TENANT, 'a');
  });
}
