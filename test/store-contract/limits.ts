import { expect, it } from 'vitest';
import type { BreakerOutcome, Takes } from '../../src/core/run/limits/takes.ts';
import type { NewResource } from '../../src/ports/store/limits.ts';
import type { Claim, FrameWrite, TurnCommit } from '../../src/ports/store/turn.ts';
import { TENANT, frame, leaf, nextId, settleAs, turnOf } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { type World, useWorld } from './world.ts';

const RULE = { threshold: 2, cooldownMs: 60_000 };
const failed = (handler: string): BreakerOutcome => ({ handler, ok: false, error: 'boom', ...RULE });
const succeeded = (handler: string): BreakerOutcome => ({ handler, ok: true });

/** The write of a root frame whose leaf is to begin when limits give what it takes. */
function asking(takes: Takes, before = frame()): FrameWrite {
  const taken = takes.rate === undefined ? {} : { rate: true as const };
  return { frame: before, intent: { ...before, leaf: leaf({ dispatchedAt: 7, taken }) }, takes };
}

/** Asks in a commit of a fresh instance; answers what the limits say. */
async function ask(world: World, takes: Takes, more: Partial<TurnCommit> = {}) {
  const claim = await world.claim(await world.start());
  const verdict = await world.apply(turnOf(claim, { frames: [asking(takes)], ...more }));
  return { claim, answer: verdict.taken?.[0], verdict };
}

async function tell(world: World, ...outcomes: readonly BreakerOutcome[]): Promise<Claim> {
  const claim = await world.claim(await world.start());
  await world.apply(turnOf(claim, { outcomes }));
  return claim;
}

async function limitTo(world: World, maxCount: number, windowMs = 60_000, resourceKey = 'mail') {
  return world.store.putRateLimit({ tenantId: TENANT, resourceKey, maxCount, windowMs });
}

function resource(overrides: Partial<NewResource> = {}): NewResource {
  return {
    id: nextId(),
    resourceKey: 'r1',
    name: 'first',
    weight: 1,
    enabled: true,
    dailyCap: 0,
    warmupStart: null,
    warmupDays: 0,
    warmupStartCap: 0,
    ...overrides,
  };
}

async function poolOf(world: World, strategy: 'round_robin' | 'weighted' | 'random', ...all: NewResource[]) {
  const pool = await world.store.createPool({ id: nextId(), tenantId: TENANT, name: 'senders', strategy });
  for (const one of all) await world.store.addResource(TENANT, pool.id, one);
  return pool;
}

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
    expect((await world.frontier(claim.instanceId)).frames[0]?.leaf).toBeNull();
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
    expect((await ask(world, { rate: 'mail' })).answer).toMatchObject({ granted: false, until: at + 5_000 });
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
    expect(frames.filter((one) => one.leaf !== null)).toHaveLength(2);
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
    await world.apply(denied);
    expect(await world.commit(denied)).toMatchObject({ verdict: 'already', taken: [{ granted: false }] });
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
    expect(leaves.map(({ frames }) => frames[0]?.leaf === null)).toEqual([false, true]);
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

export function describePools(makeStore: MakeStore): void {
  const world = useWorld(makeStore);
  const next = async (dice = 0) => (await ask(world, { pool: { name: 'senders', dice } })).answer;
  const given = async (dice = 0) => {
    const answer = await next(dice);
    return answer?.granted === true ? answer.taken.resource : answer?.reason;
  };

  it('round robin goes by creation and skips what is at its cap; the next day begins afresh (F07, RULINGS B24)', async () => {
    await poolOf(
      world,
      'round_robin',
      resource({ dailyCap: 2 }),
      resource({ resourceKey: 'r2', dailyCap: 1 }),
    );
    expect([await given(), await given(), await given()]).toEqual(['r1', 'r2', 'r1']);
    const at = await world.now();
    const midnight = (Math.floor(at / 86_400_000) + 1) * 86_400_000;
    expect(await next()).toEqual({ granted: false, reason: 'pool', until: midnight });
    await world.advance(midnight - at);
    expect(['r1', 'r2']).toContain(await given());
  });

  it('weighted goes by the weights of those available and never chooses weight 0', async () => {
    await poolOf(
      world,
      'weighted',
      resource({ weight: 0, resourceKey: 'never' }),
      resource({ weight: 3, resourceKey: 'often' }),
      resource({ weight: 1, resourceKey: 'seldom' }),
    );
    expect([await given(0), await given(0.74), await given(0.76), await given(0.99)]).toEqual([
      'often',
      'often',
      'seldom',
      'seldom',
    ]);
  });

  it('random takes each of those available alike', async () => {
    await poolOf(world, 'random', resource({ weight: 9 }), resource({ resourceKey: 'r2' }));
    expect([await given(0.4), await given(0.6)]).toEqual(['r1', 'r2']);
  });

  it('says empty when none is enabled, and unknown when there is no pool', async () => {
    expect(await given()).toBe('pool_unknown');
    await poolOf(world, 'round_robin', resource({ enabled: false }));
    expect(await given()).toBe('pool_empty');
  });

  it('the cap grows day by day in the warm-up', async () => {
    const today = new Date(await world.now()).toISOString().slice(0, 10);
    await poolOf(
      world,
      'round_robin',
      resource({ dailyCap: 4, warmupStart: today, warmupDays: 2, warmupStartCap: 1 }),
    );
    const perDay: number[] = [];
    for (let day = 0; day < 3; day += 1) {
      let count = 0;
      while ((await given()) === 'r1') count += 1;
      perDay.push(count);
      await world.advance(86_400_000);
    }
    expect(perDay).toEqual([1, 2, 4]);
  });

  it('pools and resources are made, changed, listed and deleted within their tenant', async () => {
    const pool = await poolOf(world, 'weighted', resource({ dailyCap: 5, warmupStart: '2027-02-01' }));
    const [first] = (await world.store.listResources(TENANT, pool.id)) ?? [];
    expect(first).toMatchObject({
      poolId: pool.id,
      dailyUsage: 0,
      dailyUsageDate: null,
      warmupStart: '2027-02-01',
    });
    const id = first?.id ?? '';
    const changed = await world.store.changeResource(TENANT, pool.id, id, {
      enabled: false,
      warmupStart: null,
    });
    expect(changed).toMatchObject({ enabled: false, warmupStart: null, dailyCap: 5 });
    expect(await world.store.changeResource('other', pool.id, id, { weight: 2 })).toBeNull();
    expect(await world.store.getPool(TENANT, pool.id)).toMatchObject({ name: 'senders', roundRobinIndex: 0 });
    expect(await world.store.getPool('other', pool.id)).toBeNull();
    expect(await world.store.listPools(TENANT, 10)).toEqual([pool]);
    const second = await poolOf(world, 'random');
    expect(await world.store.deleteResource(TENANT, second.id, id)).toBe('foreign');
    expect(await world.store.deleteResource(TENANT, pool.id, id)).toBe('deleted');
    expect(await world.store.deleteResource(TENANT, pool.id, id)).toBe('deleted');
    expect(await world.store.deletePool(TENANT, pool.id)).toBe(true);
    expect(await world.store.deletePool(TENANT, pool.id)).toBe(false);
    expect(await world.store.listResources(TENANT, pool.id)).toBeNull();
    expect(await world.store.addResource(TENANT, pool.id, resource())).toBeNull();
    expect(await world.store.deleteResource(TENANT, pool.id, id)).toBe('no_pool');
  });
}

export function describeBudgets(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  it('usage and caps are columns that a commit changes and a claim reads [BUD-2]', async () => {
    const claim = await world.claim(await world.start({ budget: { max_steps: 3 } }));
    expect(claim.instance).toMatchObject({ budget: { max_steps: 3 }, usage: null });
    const usage = { externalCalls: 2, stepsAllowed: null };
    await world.apply(turnOf(claim, { instance: { usage, budget: { max_steps: 9 } } }));
    expect(await world.view(claim.instanceId)).toMatchObject({ usage, budget: { max_steps: 9 } });
  });

  it('new caps are a fact for a live instance and apply at once to an ended one [BUD-4]', async () => {
    const id = await world.start();
    const request = { tenantId: TENANT, instanceId: id, factId: nextId(), budget: { max_steps: 5 } };
    expect(await world.store.setBudget(request)).toBe('accepted');
    expect(await world.store.setBudget(request)).toBe('accepted');
    const claim = await world.claim(id);
    expect(claim.inbox.map(({ fact }) => fact)).toEqual([
      { kind: 'context', sections: {}, mode: 'replace', budget: { max_steps: 5 } },
    ]);
    const inboxDone = claim.inbox.map(({ seq }) => ({ seq, disposition: 'applied' as const }));
    await world.apply(turnOf(claim, { inboxDone, settle: settleAs('completed') }));
    expect(await world.store.setBudget({ ...request, factId: nextId() })).toBe('applied');
    expect(await world.view(id)).toMatchObject({ budget: { max_steps: 5 } });
    expect(await world.store.setBudget({ ...request, tenantId: 'other' })).toBe('not_found');
    expect(await world.store.setBudget({ ...request, instanceId: nextId() })).toBe('not_found');
  });
}
