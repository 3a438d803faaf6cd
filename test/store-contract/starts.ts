import { expect, it } from 'vitest';
import type { StartAnswer, StartRequest, Started } from '../../src/ports/store/accept.ts';
import { auditEntry, newInstance, nextId, settleAs, turnOf } from '../support/turn-builder.ts';
import { ENDED_STATES } from './states.ts';
import { removeExpired } from './remove-expired.ts';
import type { MakeStore } from './store-under-test.ts';

import { LEASE_MS, dueRequest, useWorld } from './world.ts';

const DAY_MS = 86_400_000;

export function describeStarts(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const start = (
    instances: StartRequest['instances'],
    rest: Partial<StartRequest> = {},
  ): Promise<StartAnswer> => world.store.start({ instances, onKnownKey: 'first', ...rest });

  async function started(answer: Promise<StartAnswer>): Promise<readonly Started[]> {
    const settled = await answer;
    if (settled.status !== 'ok') throw new Error(`The start was answered with ${settled.status}.`);
    return settled.started;
  }

  async function expectAbsent(...ids: readonly string[]): Promise<void> {
    for (const id of ids) expect(await world.store.getInstance(null, id)).toBeNull();
  }

  it('a started instance has what it was given and nothing else [INS-6]', async () => {
    const given = newInstance({
      priority: 3,
      timezone: 'Europe/Lisbon',
      metadata: { depot: 'north-2' },
      data: { parcel: 'PX-9004' },
      config: { mode: 'a' },
      audit: [{ who: 'b' }],
      concurrencyKey: 'depot',
      maxConcurrency: 4,
      idempotencyKey: 'order-1',
      sessionId: nextId(),
      budget: { max_steps: 5 },
      dryRun: true,
      dryRunAutoApprove: true,
    });
    const answer = await start([given]);
    const now = await world.now();
    expect(answer).toEqual({
      status: 'ok',
      now,
      started: [{ id: given.id, deduplicated: false, conflict: false, claim: null }],
    });
    const { originalInput, ...columns } = given;
    expect(originalInput).toEqual({ parcel: 'PX-9004' });
    expect(await world.view(given.id)).toEqual({
      ...columns,
      dryRunRealTime: false,
      usage: null,
      state: 'scheduled',
      nextFireAt: now,
      dueAt: now,
      parent: null,
      depth: 0,
      createdAt: now,
      updatedAt: now,
      startedAt: null,
      runNo: 1,
      rev: 0,
      totalSteps: 0,
      recoveryCount: 0,
      cancelRequestedAt: null,
      currentStep: null,
      hasHistory: false,
      epoch: 0,
      leaseOwner: null,
      leaseUntil: null,
      openWaits: 0,
      failure: null,
    });
    expect(await world.store.listAudit(null, given.id, 10)).toEqual([]);
  });

  it('a start in the future is due then, one in the past is due now', async () => {
    const now = await world.now();
    const future = await world.start({ nextFireAt: now + 5_000 });
    const past = await world.start({ nextFireAt: now - 5_000 });
    expect(await world.view(future)).toMatchObject({ nextFireAt: now + 5_000, dueAt: now + 5_000 });
    expect((await world.view(past)).dueAt).toBe(now);
  });

  for (const state of ['scheduled', 'running', ...ENDED_STATES] as const) {
    it(`a known key answers the first instance while it is ${state} [INS-7]`, async () => {
      const first = newInstance({ idempotencyKey: 'order-1', data: { n: 1 } });
      await start([first]);
      if (state !== 'scheduled') {
        const claim = await world.claim(first.id);
        const audit = [auditEntry('running', state)];
        const instance = { data: { changed: true } };
        if (state !== 'running')
          await world.apply(turnOf(claim, { audit, instance, settle: settleAs(state) }));
      }
      const second = newInstance({ idempotencyKey: 'order-1', data: { n: 1 } });
      expect(await started(start([second]))).toEqual([
        { id: first.id, deduplicated: true, conflict: false, claim: null },
      ]);
      await expectAbsent(second.id);
      expect((await world.view(first.id)).state).toBe(state);
    });
  }

  it('a known key with another sequence or other data is a conflict, never an error [INS-8]', async () => {
    const first = newInstance({ idempotencyKey: 'order-1', data: { a: 1, b: [1, 2] } });
    await start([first]);
    const conflictOf = async (overrides: Parameters<typeof newInstance>[0]): Promise<boolean | undefined> =>
      (await started(start([newInstance({ idempotencyKey: 'order-1', ...overrides })])))[0]?.conflict;
    expect(await conflictOf({ data: { b: [1, 2], a: 1 } })).toBe(false);
    expect(await conflictOf({ data: { a: 1, b: [1, 2] }, priority: 3 })).toBe(false);
    expect(await conflictOf({ data: { a: 1, b: [2, 1] } })).toBe(true);
    expect(await conflictOf({ data: { a: 1, b: [1, 2] }, sequenceId: nextId() })).toBe(true);
  });

  it('keys belong to a tenant, and dry runs have a space of their own [INS-7]', async () => {
    const key = { idempotencyKey: 'order-1' };
    const real = newInstance(key);
    const dry = newInstance({ ...key, dryRun: true });
    const other = newInstance({ ...key, tenantId: 'other' });
    const answers = await started(start([real, dry, other]));
    expect(answers.map(({ id, deduplicated }) => [id, deduplicated])).toEqual([
      [real.id, false],
      [dry.id, false],
      [other.id, false],
    ]);
    expect((await started(start([newInstance({ ...key, dryRun: true })])))[0]?.id).toBe(dry.id);
  });

  it('an instance without a key is never a repeat', async () => {
    await start([newInstance()]);
    expect((await started(start([newInstance()])))[0]?.deduplicated).toBe(false);
  });

  it('a key that occurs twice in one start makes one instance [INS-7]', async () => {
    const [first, second] = [newInstance({ idempotencyKey: 'k' }), newInstance({ idempotencyKey: 'k' })];
    expect(await started(start([first, second]))).toMatchObject([
      { id: first.id, deduplicated: false },
      { id: first.id, deduplicated: true },
    ]);
    await expectAbsent(second.id);
  });

  it('in a batch a known key refuses all and names its place [INS-9]', async () => {
    await start([newInstance({ idempotencyKey: 'known' })]);
    const fresh = newInstance();
    const clash = newInstance({ idempotencyKey: 'known' });
    expect(await start([fresh, clash], { onKnownKey: 'conflict' })).toEqual({
      status: 'known_key',
      index: 1,
    });
    await expectAbsent(fresh.id, clash.id);
  });

  it('in a batch a key that occurs twice refuses all [INS-9]', async () => {
    const [first, second] = [newInstance({ idempotencyKey: 'k' }), newInstance({ idempotencyKey: 'k' })];
    const answer = await start([first, newInstance(), second], { onKnownKey: 'conflict' });
    expect(answer).toEqual({ status: 'known_key', index: 2 });
    await expectAbsent(first.id, second.id);
    // Nothing of the refused batch is remembered.
    expect((await started(start([newInstance({ idempotencyKey: 'k' })])))[0]?.deduplicated).toBe(false);
  });

  it('many instances are started in one go, in order', async () => {
    const many = Array.from({ length: 300 }, () => newInstance());
    const answers = await started(start(many, { onKnownKey: 'conflict' }));
    expect(answers.map(({ id }) => id)).toEqual(many.map(({ id }) => id));
  });

  it('no instances are a start too', async () => {
    expect(await start([])).toEqual({ status: 'ok', now: await world.now(), started: [] });
  });

  it('a start sent again after a lost answer is answered as the first time (RULINGS A36)', async () => {
    const instance = newInstance({ idempotencyKey: 'k' });
    for (const onKnownKey of ['first', 'conflict', 'first'] as const) {
      expect(await started(start([instance], { onKnownKey }))).toEqual([
        { id: instance.id, deduplicated: false, conflict: false, claim: null },
      ]);
    }
    expect((await world.store.claimDue(dueRequest())).claims).toHaveLength(1);
  });

  it('a start with a lease claims what is due at once (RULINGS A37)', async () => {
    const now = await world.now();
    const due = newInstance({ data: { n: 1 } });
    const future = newInstance({ nextFireAt: now + 1_000 });
    const lease = { leaseToken: nextId(), leaseOwner: 'process-a', leaseMs: LEASE_MS };
    const [first, second] = await started(start([due, future], { lease }));
    expect(first?.claim).toMatchObject({
      instanceId: due.id,
      tenantId: due.tenantId,
      epoch: 1,
      leaseToken: lease.leaseToken,
      leaseUntil: now + LEASE_MS,
      frames: [],
      inbox: [],
      takenOver: false,
      mayRun: true,
      instance: { state: 'running', startedAt: now, data: { n: 1 } },
    });
    expect(second?.claim).toBeNull();
    expect(await world.view(future.id)).toMatchObject({ state: 'scheduled', epoch: 0 });
    const claim = first?.claim ?? null;
    if (claim === null) throw new Error('The start was claimed.');
    await world.apply(turnOf(claim, { stepsDelta: 1 }));
  });

  it('a start with a lease sent again answers the claim that it holds (RULINGS A24, A36)', async () => {
    const instance = newInstance();
    const lease = { leaseToken: nextId(), leaseOwner: 'process-a', leaseMs: LEASE_MS };
    const first = await started(start([instance], { lease }));
    const again = await started(start([instance], { lease }));
    expect(again).toEqual(first);
    expect((await world.view(instance.id)).epoch).toBe(1);
  });

  it('a start with a lease does not claim the instance that its key names', async () => {
    await start([newInstance({ idempotencyKey: 'k' })]);
    const lease = { leaseToken: nextId(), leaseOwner: 'process-a', leaseMs: LEASE_MS };
    const [repeat] = await started(start([newInstance({ idempotencyKey: 'k' })], { lease }));
    expect(repeat).toMatchObject({ deduplicated: true, claim: null });
  });

  it('a start with a lease respects a full concurrency key [CONC-1] (RULINGS A31)', async () => {
    const keyed = { concurrencyKey: 'depot', maxConcurrency: 1 };
    const lease = { leaseToken: nextId(), leaseOwner: 'process-a', leaseMs: LEASE_MS };
    const answers = await started(start([newInstance(keyed), newInstance(keyed)], { lease }));
    expect(answers.map(({ claim }) => claim !== null)).toEqual([true, false]);
  });

  it('a nonce is good once within 360 s, per trigger (RULINGS B21)', async () => {
    const once = { nonce: { slug: 'orders', nonce: 'n-0123456789abcdef' } };
    expect((await start([newInstance()], once)).status).toBe('ok');
    const second = newInstance();
    await world.advance(359_999);
    expect(await start([second], once)).toEqual({ status: 'nonce_used' });
    await expectAbsent(second.id);
    expect((await start([newInstance()], { nonce: { ...once.nonce, slug: 'other' } })).status).toBe('ok');
    await world.advance(1);
    expect((await start([newInstance()], once)).status).toBe('ok');
  });

  it('a repeated delivery answers the first instance for 7 days, per trigger (RULINGS B21)', async () => {
    const delivery = { slug: 'orders', deliveryId: 'd-1' };
    const first = newInstance();
    await start([first], { delivery });
    await world.advance(7 * DAY_MS - 1);
    const second = newInstance();
    expect(await started(start([second], { delivery }))).toMatchObject([
      { id: first.id, deduplicated: true, claim: null },
    ]);
    await expectAbsent(second.id);
    const other = newInstance();
    expect((await started(start([other], { delivery: { ...delivery, slug: 'other' } })))[0]?.id).toBe(
      other.id,
    );
    await world.advance(1);
    expect((await started(start([second], { delivery })))[0]).toMatchObject({
      id: second.id,
      deduplicated: false,
    });
  });

  it('expired nonces and deliveries are removed, bounded', async () => {
    for (const name of ['a', 'b', 'c']) {
      await start([newInstance()], { nonce: { slug: 'orders', nonce: name } });
    }
    await start([newInstance()], { delivery: { slug: 'orders', deliveryId: 'd' } });
    expect(await removeExpired(world, 10)).toBe(0);
    await world.advance(360_000);
    expect(await removeExpired(world, 2)).toBe(2);
    expect(await removeExpired(world, 10)).toBe(1);
    await world.advance(7 * DAY_MS);
    expect(await removeExpired(world, 10)).toBe(1);
    expect(await removeExpired(world, 10)).toBe(0);
  });
}
