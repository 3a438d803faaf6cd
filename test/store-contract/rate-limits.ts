import { expect, it } from 'vitest';
import { TENANT, frame, leaf, nextId, turnOf } from '../support/turn-builder.ts';
import { ask, asking, limitTo } from './limit-acts.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

export function describeRateLimits(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  it('grants a token with the intent, and keeps what was taken in the leaf (RULINGS A32) [RATE-2]', async () => {
    await limitTo(world, 1);
    const { claim, answer, verdict } = await ask(world, { rate: 'mail' });
    expect(verdict.granted).toBe(true);
    expect(answer).toEqual({ granted: true, taken: {} });
    const { frames } = await world.frontier(claim.instanceId);
    expect(frames[0]?.leaf).toMatchObject({ dispatchedAt: 7, taken: { rate: true } });
  });

  it('denies the token after the last until the oldest grant leaves, and stores no intent [RATE-2] [RATE-3]', async () => {
    await limitTo(world, 1);
    const at = await world.now();
    await ask(world, { rate: 'mail' });
    await world.advance(10_000);
    const { claim, answer } = await ask(world, { rate: 'mail' });
    expect(answer).toEqual({ granted: false, reason: 'rate_limit', until: at + 60_000 });
    const { frames } = await world.frontier(claim.instanceId);
    const waits = { state: 'waiting', reason: 'rate_limit', limit: 'mail', wakeAt: at + 60_000 } as const;
    expect(frames[0]?.leaf).toEqual(leaf({ startedAt: 3, ...waits }));
    expect(await world.store.getRateLimit(TENANT, 'mail')).toMatchObject({
      currentCount: 1,
      windowStart: at,
    });
  });

  it('a token is free again exactly when the oldest grant leaves the window (RULINGS A32) [RATE-1]', async () => {
    await limitTo(world, 2);
    await ask(world, { rate: 'mail' });
    await world.advance(30_000);
    await ask(world, { rate: 'mail' });
    await world.advance(29_999);
    expect((await ask(world, { rate: 'mail' })).answer).toMatchObject({ granted: false });
    await world.advance(1);
    expect((await ask(world, { rate: 'mail' })).answer).toMatchObject({ granted: true });
    expect((await ask(world, { rate: 'mail' })).answer).toMatchObject({ granted: false });
  });

  it('a key without a limit does not limit, and 0 always denies [RATE-4]', async () => {
    expect((await ask(world, { rate: 'free' })).answer).toMatchObject({ granted: true });
    const at = await world.now();
    await limitTo(world, 0, 5_000);
    // Not until somebody changes it, which wakes those that wait.
    const until = at + 366 * 86_400_000;
    expect((await ask(world, { rate: 'mail' })).answer).toMatchObject({ granted: false, until });
  });

  it('several intents of one commit take in their order, and each has its answer', async () => {
    await limitTo(world, 2);
    const claim = await world.claim(await world.start());
    const branches = [0, 1, 2].map((branch) =>
      asking({ rate: 'mail' }, frame({ blockId: 'both', branch, detail: { kind: 'branch' } })),
    );
    const { taken } = await world.apply(turnOf(claim, { frames: branches }));
    expect(taken?.map(({ granted }) => granted)).toEqual([true, true, false]);
    const { frames } = await world.frontier(claim.instanceId);
    const reasons = frames.map((one) => one.leaf?.reason ?? 'none');
    expect(reasons.toSorted()).toEqual(['none', 'none', 'rate_limit']);
  });

  it('takes nothing when unseen facts withhold the intents (RULINGS A9)', async () => {
    await limitTo(world, 1);
    const claim = await world.claim(await world.start());
    await world.store.signal({
      ...{
        tenantId: TENANT,
        instanceId: claim.instanceId,
        signalId: nextId(),
        signalType: 'custom:x',
        payload: 1,
      },
    });
    const verdict = await world.apply(turnOf(claim, { frames: [asking({ rate: 'mail' })] }));
    expect(verdict).toMatchObject({ granted: false });
    expect(await world.store.getRateLimit(TENANT, 'mail')).toMatchObject({ currentCount: 0 });
  });

  it('the same commit again has the same answers and takes no second token (RULINGS A8)', async () => {
    await limitTo(world, 1);
    const claim = await world.claim(await world.start());
    const turn = turnOf(claim, { frames: [asking({ rate: 'mail' })] });
    const first = await world.apply(turn);
    expect(await world.commit(turn)).toMatchObject({ verdict: 'already', granted: true, taken: first.taken });
    expect(await world.store.getRateLimit(TENANT, 'mail')).toMatchObject({ currentCount: 1 });
    const other = await world.claim(await world.start());
    const denied = turnOf(other, { frames: [asking({ rate: 'mail' })] });
    const second = await world.apply(denied);
    expect(second.taken).toMatchObject([{ granted: false }]);
    expect(await world.commit(denied)).toMatchObject({ verdict: 'already', taken: second.taken });
  });

  it('turns of a batch take one after the other', async () => {
    await limitTo(world, 1);
    const claims = [await world.claim(await world.start()), await world.claim(await world.start())];
    const turns = claims.map((claim) => turnOf(claim, { frames: [asking({ rate: 'mail' })] }));
    const { verdicts } = await world.store.commit(turns);
    expect(verdicts.map((one) => (one.verdict === 'ok' ? one.taken?.[0]?.granted : one))).toEqual([
      true,
      false,
    ]);
    const leaves = await Promise.all(claims.map((claim) => world.frontier(claim.instanceId)));
    expect(leaves.map(({ frames }) => frames[0]?.leaf?.reason)).toEqual([null, 'rate_limit']);
  });

  it('above 1,000 grants a window sub-windows count against the caller (RULINGS A32)', async () => {
    await limitTo(world, 1001, 100_000);
    const began = await world.now();
    const claim = await world.claim(await world.start());
    const many = (count: number) =>
      Array.from({ length: count }, (_, branch) =>
        asking({ rate: 'mail' }, frame({ blockId: 'both', branch, detail: { kind: 'branch' } })),
      );
    const first = await world.apply(turnOf(claim, { frames: many(1002) }));
    expect(first.taken?.filter(({ granted }) => granted)).toHaveLength(1001);
    const denied = first.taken?.find(({ granted }) => !granted);
    expect(denied).toMatchObject({ reason: 'rate_limit' });
    const until = denied?.granted === false ? (denied.until ?? 0) : 0;
    expect(until).toBeGreaterThanOrEqual(began + 100_000);
    expect(until).toBeLessThanOrEqual(began + 101_000);
    await world.advance(until - began);
    expect((await ask(world, { rate: 'mail' })).answer).toMatchObject({ granted: true });
  });

  it('a changed limit counts the grants of before', async () => {
    await limitTo(world, 3);
    for (let n = 0; n < 3; n += 1) await ask(world, { rate: 'mail' });
    expect(await limitTo(world, 1)).toMatchObject({ maxCount: 1, currentCount: 3 });
    expect((await ask(world, { rate: 'mail' })).answer).toMatchObject({ granted: false });
    await limitTo(world, 4);
    expect((await ask(world, { rate: 'mail' })).answer).toMatchObject({ granted: true });
    expect((await ask(world, { rate: 'mail' })).answer).toMatchObject({ granted: false });
  });

  it('limits are kept by tenant and key, listed in order, and forgotten when deleted', async () => {
    await limitTo(world, 1, 1_000, 'b');
    await limitTo(world, 2, 2_000, 'a');
    await world.store.putRateLimit({ tenantId: 'other', resourceKey: 'c', maxCount: 3, windowMs: 3_000 });
    expect((await world.store.listRateLimits(TENANT, 10)).map(({ resourceKey }) => resourceKey)).toEqual([
      'a',
      'b',
    ]);
    expect(await world.store.listRateLimits(null, 10)).toHaveLength(3);
    expect(await world.store.getRateLimit(TENANT, 'c')).toBeNull();
    expect(await world.store.deleteRateLimit(TENANT, 'a')).toBe(true);
    expect(await world.store.deleteRateLimit(TENANT, 'a')).toBe(false);
    expect(await world.store.getRateLimit(TENANT, 'a')).toBeNull();
  });
}
