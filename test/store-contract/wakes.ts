import { expect, it } from 'vitest';
import type { Wake } from '../../src/core/run/record.ts';
import { TENANT, allDone, frame, leaf, nextId, settleAs, turnOf, write } from '../support/turn-builder.ts';
import { ask, failed, limitTo, poolOf, resource, tell } from './limit-acts.ts';
import { removeExpired } from './remove-expired.ts';
import type { MakeStore } from './store-under-test.ts';

import { oneRequest, useWorld } from './world.ts';

const HOUR = 3_600_000;

export function describeWakes(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const timers = (wakeAt: number): Wake => ({
    ends: [{ blockId: 'nap', iteration: '', wakeAt }],
    startAt: null,
    limit: null,
  });
  const wake = (instanceId: string, what: Wake, factId = nextId()) =>
    world.store.wakeInstance({ tenantId: TENANT, instanceId, factId, wake: what });
  /** A scheduled run that waits for its step `nap` for an hour. */
  const delayed = async (): Promise<{ readonly id: string; readonly until: number }> => {
    const claim = await world.claim(await world.start());
    const until = (await world.now()) + HOUR;
    const waits = leaf({ state: 'waiting', reason: 'delay', wakeAt: until });
    const settle = settleAs('scheduled', { nextFireAt: until, dueAt: until });
    await world.apply(turnOf(claim, { frames: [write(frame({ leaf: waits }))], settle }));
    return { id: claim.instanceId, until };
  };
  /** A run that a limit has denied, at rest until it looks again. */
  const denied = async (takes: Parameters<typeof ask>[1]): Promise<string> => {
    const { claim, answer } = await ask(world, takes);
    const until = answer?.granted === false ? answer.until : null;
    const settle = settleAs('scheduled', { nextFireAt: until, dueAt: until });
    const next = { ...claim, instance: { ...claim.instance, rev: claim.instance.rev + 1 } };
    await world.apply(turnOf(next, { settle }));
    return claim.instanceId;
  };
  const RATE = { reason: 'rate_limit', name: 'mail' } as const;

  it('a wake is a fact that makes a run due that is at rest for a timer [DASHBOARD A9]', async () => {
    const { id, until } = await delayed();
    await world.advance(1_000);
    const now = await world.now();
    expect(await wake(id, timers(until))).toBe('accepted');
    expect(await world.view(id)).toMatchObject({ state: 'scheduled', nextFireAt: now, dueAt: now });
    const claim = await world.claim(id);
    expect(claim).toMatchObject({ mayRun: true, instance: { state: 'running' } });
    expect(claim.inbox.map(({ fact }) => fact)).toEqual([{ kind: 'wake', ...timers(until) }]);
  });

  it('the same wake again, an unknown run, one of another tenant and one that has ended change nothing', async () => {
    const { id, until } = await delayed();
    const factId = nextId();
    await wake(id, timers(until), factId);
    expect(await wake(id, timers(until), factId)).toBe('accepted');
    expect((await world.frontier(id)).inbox).toHaveLength(1);
    expect(await wake(nextId(), timers(until))).toBe('not_found');
    const foreign = { tenantId: 'dunes', instanceId: id, factId: nextId(), wake: timers(until) };
    expect(await world.store.wakeInstance(foreign)).toBe('not_found');
    expect(await wake(await world.inState('completed'), timers(until))).toBe('terminal');
  });

  it('leaves state and lease to the turn that holds the run, which is given the fact (RULINGS A4)', async () => {
    const { id, until } = await delayed();
    await world.store.signal({
      tenantId: TENANT,
      instanceId: id,
      signalId: nextId(),
      signalType: 'custom:x',
      payload: 1,
    });
    const claim = await world.claim(id);
    await wake(id, timers(until));
    expect(await world.view(id)).toMatchObject({ state: 'scheduled', nextFireAt: until, epoch: claim.epoch });
    const verdict = await world.apply(turnOf(claim, { inboxDone: allDone(claim) }));
    expect(verdict).toMatchObject({ granted: false, inbox: [{ fact: { kind: 'wake' } }] });
  });

  it('starts a run that is held back only when it is held back until that instant', async () => {
    const at = (await world.now()) + HOUR;
    const id = await world.start({ nextFireAt: at });
    const start = (startAt: number): Wake => ({ ends: [], startAt, limit: null });
    await wake(id, start(at + 1));
    expect(await world.view(id)).toMatchObject({ nextFireAt: at });
    await wake(id, start(at));
    expect(await world.view(id)).toMatchObject({ nextFireAt: await world.now() });
    expect(await world.claim(id)).toMatchObject({ mayRun: true, instance: { state: 'running' } });
  });

  it('a run without a slot keeps on waiting for it [CONC-1]', async () => {
    const key = { concurrencyKey: 'depot', maxConcurrency: 1 };
    await world.claim(await world.start(key));
    const second = await world.start(key);
    expect(await world.store.claimOne(oneRequest(second))).toMatchObject({ status: 'not_due' });
    const { nextFireAt } = await world.view(second);
    await wake(second, timers(7));
    expect(await world.view(second)).toMatchObject({ state: 'scheduled', nextFireAt, waitsForSlot: true });
    expect(await world.claim(second)).toMatchObject({ mayRun: false, instance: { state: 'scheduled' } });
  });

  it('wakes those that a rate limit has denied, a piece at a time, each once [RATE-3]', async () => {
    await limitTo(world, 0);
    const ids = [
      await denied({ rate: 'mail' }),
      await denied({ rate: 'mail' }),
      await denied({ rate: 'mail' }),
    ];
    const other = await denied({ rate: 'mail' });
    await world.advance(30_000);
    const first = await world.store.wakeLimitWaiters(TENANT, RATE, 3);
    expect(first).toEqual({ woken: ids.toSorted(), more: true });
    expect(await world.store.wakeLimitWaiters(TENANT, RATE, 3)).toEqual({ woken: [other], more: false });
    expect(await world.store.wakeLimitWaiters(TENANT, RATE, 3)).toEqual({ woken: [], more: false });
    const now = await world.now();
    for (const id of [...ids, other]) {
      const { inbox, instance } = await world.frontier(id);
      expect(inbox.map(({ fact }) => fact)).toEqual([{ kind: 'wake', ends: [], startAt: null, limit: RATE }]);
      expect(instance).toMatchObject({ nextFireAt: now, dueAt: now });
    }
  });

  it('wakes nobody whose wait is over by itself, who has ended, or of another tenant or limit', async () => {
    await limitTo(world, 1, 5_000);
    await ask(world, { rate: 'mail' });
    const over = await denied({ rate: 'mail' });
    await world.advance(5_000);
    expect(await world.store.wakeLimitWaiters('dunes', RATE, 9)).toEqual({ woken: [], more: false });
    const pool = { reason: 'pool', name: 'mail' } as const;
    expect(await world.store.wakeLimitWaiters(TENANT, pool, 9)).toEqual({ woken: [], more: false });
    expect(await world.store.wakeLimitWaiters(TENANT, RATE, 9)).toEqual({ woken: [], more: false });
    expect((await world.frontier(over)).inbox).toEqual([]);
    await ask(world, { rate: 'mail' });
    const { claim, answer } = await ask(world, { rate: 'mail' });
    expect(answer).toMatchObject({ granted: false });
    const next = { ...claim, instance: { ...claim.instance, rev: claim.instance.rev + 1 } };
    await world.apply(turnOf(next, { settle: settleAs('cancelled') }));
    expect(await world.store.wakeLimitWaiters(TENANT, RATE, 9)).toEqual({ woken: [], more: false });
  });

  it('who may run a fallback waits for both breakers [CB-4]', async () => {
    await tell(world, failed('charge'), failed('charge'), failed('other'), failed('other'));
    const fallback = { handler: 'other', tracked: true };
    const id = await denied({ breaker: { handler: 'charge', fallback } });
    const by = (name: string) => world.store.wakeLimitWaiters(TENANT, { reason: 'breaker', name }, 9);
    expect(await by('other')).toEqual({ woken: [id], more: false });
    expect(await by('charge')).toEqual({ woken: [id], more: false });
  });

  it('wakes those that a pool has denied', async () => {
    await poolOf(world, 'round_robin', resource({ dailyCap: 1 }));
    await ask(world, { pool: { name: 'senders', dice: 0 } });
    const id = await denied({ pool: { name: 'senders', dice: 0 } });
    const waiters = await world.store.wakeLimitWaiters(TENANT, { reason: 'pool', name: 'senders' }, 9);
    expect(waiters).toEqual({ woken: [id], more: false });
  });

  it('forgets waits that are over, with what else is past its time', async () => {
    await limitTo(world, 1, 5_000);
    await ask(world, { rate: 'mail' });
    await denied({ rate: 'mail' });
    expect(await removeExpired(world, 9)).toBe(0);
    await world.advance(5_000);
    expect(await removeExpired(world, 9)).toBe(1);
    expect(await removeExpired(world, 9)).toBe(0);
  });

  it('a lease that is given back tells who got the slot (RULINGS A31)', async () => {
    const key = { concurrencyKey: 'depot', maxConcurrency: 1 };
    const claim = await world.claim(await world.start(key));
    const waiter = await world.start(key);
    await world.store.claimOne(oneRequest(waiter));
    expect(await world.store.releaseLeases([claim])).toEqual([{ tenantId: TENANT, instanceId: waiter }]);
    expect(await world.store.releaseLeases([claim])).toEqual([]);
  });
}
