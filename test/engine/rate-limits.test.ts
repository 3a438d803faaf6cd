import { describe, expect, it } from 'vitest';
import type { StepOutcome } from '../../src/ports/step-handler.ts';
import { putRateLimit } from '../../src/engine/limits.ts';
import { parallel, sleepStep, step } from './support/blocks.ts';
import { START_AT, TENANT, TestEngine } from './support/test-engine.ts';

const retryable: StepOutcome = { ok: false, failure: { message: 'busy', retryable: true } };
const done: StepOutcome = { ok: true, output: 'sent' };
const scripts = {
  send: {},
  flaky: { outcome: (_: unknown, nth: number) => (nth === 0 ? retryable : done) },
  tidy: { kind: 'pure' as const },
};
const mail = (id: string, members = {}) => step(id, 'send', { rate_limit_key: 'mail', ...members });

async function worldWith(maxCount: number, windowMs: number): Promise<TestEngine> {
  const world = new TestEngine({ scripts });
  await world.store.putRateLimit({ tenantId: TENANT, resourceKey: 'mail', maxCount, windowMs });
  world.boot();
  return world;
}

/** Seconds after the start at which the calls happened, in order. */
const seconds = (world: TestEngine, blockId: string): readonly number[] =>
  world.ledger.of(blockId).map(({ at }) => (at - START_AT) / 1000);

const used = async (world: TestEngine, key = 'mail') =>
  (await world.store.getRateLimit(TENANT, key))?.currentCount;

describe('rate limits (13.3, RULINGS A32)', () => {
  it('4 per 90 s, ten instances: four at once, four after 90 s, two after 180 s [RATE-1] [RATE-3]', async () => {
    const world = await worldWith(4, 90_000);
    const sequence = await world.publish([mail('a')]);
    const ids = [];
    for (let n = 0; n < 10; n += 1) ids.push(await world.start(sequence));
    await world.time.calm();
    const waiting = await world.view(ids[4] ?? '');
    expect(waiting).toMatchObject({ state: 'scheduled', nextFireAt: START_AT + 90_000, totalSteps: 0 });
    for (const id of ids) expect((await world.untilEnded(id)).state).toBe('completed');
    expect(seconds(world, 'a')).toEqual([0, 0, 0, 0, 90, 90, 90, 90, 180, 180]);
  });

  it('3 per 60 s, nine runs: 3, 6, 9 completed and none failed (F05)', async () => {
    const world = await worldWith(3, 60_000);
    const sequence = await world.publish([mail('a')]);
    const ids: string[] = [];
    for (let n = 0; n < 9; n += 1) ids.push(await world.start(sequence));
    const completed = async () =>
      (await Promise.all(ids.map((id) => world.view(id)))).filter(({ state }) => state === 'completed')
        .length;
    await world.time.calm();
    expect(await completed()).toBe(3);
    await world.time.pass(60_000);
    expect(await completed()).toBe(6);
    await world.time.pass(60_000);
    expect(await completed()).toBe(9);
  });

  it('0 per second: nothing is asked until somebody changes it, and then at once', async () => {
    const world = await worldWith(0, 1_000);
    const id = await world.start(await world.publish([mail('a')]));
    await world.time.calm();
    const { epoch } = await world.view(id);
    await world.time.pass(3_600_000);
    expect(await world.view(id)).toMatchObject({ state: 'scheduled', epoch });
    const wider = { tenantId: TENANT, resourceKey: 'mail', maxCount: 1, windowMs: 1_000 };
    const useCases = world.live?.useCases;
    if (useCases === undefined) throw new Error('there is a process');
    await world.answered(putRateLimit(useCases, { tenantId: null, isAdmin: true }, wider));
    expect((await world.untilEnded(id, 60_000)).state).toBe('completed');
  });

  it('5 a second, 20 starts: at most 5 in any sliding second (B61)', async () => {
    const world = await worldWith(5, 1_000);
    const sequence = await world.publish([mail('a')]);
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) {
      ids.push(await world.start(sequence));
      await world.time.pass(37);
    }
    for (const id of ids) expect((await world.untilEnded(id)).state).toBe('completed');
    const calls = world.ledger.of('a').map(({ at }) => at);
    for (const from of calls)
      expect(calls.filter((at) => at >= from && at < from + 1_000).length).toBeLessThan(6);
  });

  it('every attempt takes one token, and a waiting one shows what it waits for [RATE-2] [RET-7]', async () => {
    const world = await worldWith(1, 60_000);
    const retry = { max_attempts: 3, initial_backoff: 100, max_backoff: 100 };
    const id = await world.start(
      await world.publish([step('a', 'flaky', { rate_limit_key: 'mail', retry })]),
    );
    await world.time.pass(1_000);
    const { frames } = (await world.store.getFrontier(TENANT, id)) ?? { frames: [] };
    expect(frames[0]?.leaf).toMatchObject({
      state: 'waiting',
      reason: 'rate_limit',
      limit: 'mail',
      attempt: 1,
    });
    expect((await world.untilEnded(id)).state).toBe('completed');
    expect(seconds(world, 'a')).toEqual([0, 60]);
  });

  it('the key is a template, and an empty one does not limit [RATE-4] [TPL-4]', async () => {
    const world = await worldWith(0, 60_000);
    const key = { rate_limit_key: '{{data.key}}' };
    const sequence = await world.publish([step('a', 'send', key)]);
    for (const value of ['', null, 'other']) {
      const id = await world.start(sequence, { data: { key: value } });
      expect((await world.untilEnded(id)).state).toBe('completed');
    }
    const held = await world.start(sequence, { data: { key: 'mail' } });
    await world.time.calm();
    expect(await world.view(held)).toMatchObject({
      state: 'scheduled',
      nextFireAt: START_AT + 366 * 86_400_000,
    });
    const broken = await world.publish([step('a', 'send', { rate_limit_key: '{{nowhere.key}}' })]);
    const failed = await world.untilEnded(await world.start(broken));
    expect(failed).toMatchObject({ state: 'failed', failure: { error: { code: 'TEMPLATE_ERROR' } } });
  });

  it.each([
    ['a pure handler', step('a', 'tidy', { rate_limit_key: 'mail' })],
    ['a sleep', { ...sleepStep('a', 10), rate_limit_key: 'mail' }],
    ['a cached result', mail('a', { cache_key: 'k' })],
    ['a skip', mail('a', { when: 'false' })],
  ])('%s takes a token like any step, but not when it is skipped [WHEN-2] [STEP-1]', async (what, block) => {
    const world = await worldWith(1, 60_000);
    const id = await world.start(await world.publish([block]));
    expect((await world.untilEnded(id)).state).toBe('completed');
    expect(await used(world)).toBe(what === 'a skip' ? 0 : 1);
  });

  it('a worker step makes its task once it has a token', async () => {
    const world = await worldWith(1, 60_000);
    const sequence = await world.publish([step('a', 'far', { rate_limit_key: 'mail' })]);
    const [first, second] = [await world.start(sequence), await world.start(sequence)];
    await world.time.calm();
    const task = await world.poll('far');
    expect(task?.instanceId).toBe(first);
    expect(await world.poll('far')).toBeNull();
    if (task !== null) await world.report(task, { ok: true, output: null });
    await world.time.pass(60_000);
    expect((await world.poll('far'))?.instanceId).toBe(second);
  });

  it('a run that waits for a person holds no token', async () => {
    const world = await worldWith(1, 60_000);
    const gated = await world.start(await world.publish([mail('a', { wait_for_input: { prompt: 'go?' } })]));
    await world.untilState(gated, 'waiting');
    expect(await used(world)).toBe(0);
    await world.signal(gated, 'custom:human_input:a', { value: 'yes' });
    expect((await world.untilEnded(gated)).state).toBe('completed');
    expect(await used(world)).toBe(1);
  });

  it('retries in loops in branches of a parallel take a token per attempt, at any depth', async () => {
    const world = await worldWith(2, 10_000);
    const retry = { max_attempts: 2, initial_backoff: 1, max_backoff: 1 };
    const inner = (id: string) => ({
      type: 'loop',
      id: `${id}-loop`,
      condition: 'true',
      max_iterations: 2,
      body: [step(id, 'flaky', { rate_limit_key: 'mail', retry })],
    });
    const scope = { type: 'cancellation_scope', id: 'scope', blocks: [inner('right')] };
    const id = await world.start(await world.publish([parallel('p', [inner('left')], [scope])]));
    expect((await world.untilEnded(id)).state).toBe('completed');
    const calls = [...world.ledger.of('left'), ...world.ledger.of('right')].map(({ at }) => at);
    expect(calls).toHaveLength(8);
    const sorted = calls.toSorted((a, b) => a - b);
    sorted.forEach((at, n) => expect(at - (sorted[n - 2] ?? -Infinity)).toBeGreaterThanOrEqual(10_000));
  });

  it('a cancel, a pause and a deadline reach a step that waits for a token [DL-1] [CAN-2]', async () => {
    const world = await worldWith(0, 60_000);
    const held = await world.start(await world.publish([mail('a')]));
    await world.time.calm();
    await world.signal(held, 'pause');
    await world.untilState(held, 'paused');
    await world.signal(held, 'resume');
    await world.untilState(held, 'scheduled');
    await world.signal(held, 'cancel');
    expect((await world.untilEnded(held, 1_000)).state).toBe('cancelled');
    const late = await world.start(await world.publish([mail('a', { deadline: 5_000 })]));
    const failed = await world.untilEnded(late, 6_000);
    expect(failed).toMatchObject({ state: 'failed', failure: { error: { code: 'DEADLINE_EXCEEDED' } } });
    expect(world.ledger.entries).toHaveLength(0);
  });

  it('a dry run passes rate limits without a token, but not in real time [DRY-3]', async () => {
    const world = await worldWith(0, 60_000);
    const sequence = await world.publish([mail('a')]);
    const dry = await world.start(sequence, { dryRun: true });
    expect((await world.untilEnded(dry, 1_000)).state).toBe('completed');
    const real = await world.start(sequence, { dryRun: true, dryRunRealTime: true });
    await world.time.calm();
    expect(await world.view(real)).toMatchObject({ state: 'scheduled' });
  });
});
