import { describe, expect, it } from 'vitest';
import type { StepOutcome } from '../../src/ports/step-handler.ts';
import { parallel, step } from './support/blocks.ts';
import { START_AT, TENANT, TestEngine } from './support/test-engine.ts';

const down: StepOutcome = { ok: false, failure: { message: 'down', retryable: true } };
const broken: StepOutcome = { ok: false, failure: { message: 'no', retryable: false } };
const done: StepOutcome = { ok: true, output: 'ok' };
const COOLDOWN = 60_000;

interface Weather {
  charge: StepOutcome;
  spare: StepOutcome;
}

/** A world in which the weather decides how the handlers answer. */
function worldOf(takesMs = 0) {
  const weather: Weather = { charge: down, spare: done };
  const world = new TestEngine({
    scripts: {
      charge: { outcome: () => weather.charge, takesMs },
      spare: { outcome: () => weather.spare },
      tidy: { kind: 'pure', outcome: () => weather.charge },
    },
  });
  world.boot();
  return { world, weather };
}

const breaker = (world: TestEngine, handler = 'charge') => world.store.getBreaker(TENANT, handler);

/** Runs as many instances that fail as open the breaker. */
async function open(world: TestEngine, handler = 'charge', times = 5): Promise<void> {
  const sequence = await world.publish([step('x', handler)]);
  for (let n = 0; n < times; n += 1) {
    const id = await world.start(sequence);
    expect((await world.untilEnded(id)).state).toBe('failed');
  }
}

describe('circuit breakers (13.8)', () => {
  it('five failures in a row open it, retryable or not; a success between them begins anew [CB-1] [CB-2]', async () => {
    const { world, weather } = worldOf();
    await open(world, 'charge', 3);
    weather.charge = broken;
    await open(world, 'charge', 1);
    expect(await breaker(world)).toMatchObject({ state: 'closed', failureCount: 4 });
    weather.charge = done;
    await world.untilEnded(await world.start(await world.publish([step('a', 'charge')])));
    expect(await breaker(world)).toMatchObject({ state: 'closed', failureCount: 0 });
    weather.charge = down;
    await open(world);
    expect(await breaker(world)).toMatchObject({ state: 'open', failureCount: 5, failureThreshold: 5 });
  });

  it('open without a fallback: scheduled 60 s ahead, not called; then one probe is let through (C09) [CB-5] [CB-6]', async () => {
    const { world, weather } = worldOf();
    await open(world);
    const openedAt = world.time.now;
    const id = await world.start(await world.publish([step('a', 'charge')]));
    await world.time.calm();
    expect(await world.view(id)).toMatchObject({
      state: 'scheduled',
      nextFireAt: openedAt + COOLDOWN,
      totalSteps: 0,
    });
    const { frames } = (await world.store.getFrontier(TENANT, id)) ?? { frames: [] };
    expect(frames[0]?.leaf).toMatchObject({ reason: 'breaker', limit: 'charge', attempt: 0 });
    weather.charge = done;
    expect((await world.untilEnded(id)).state).toBe('completed');
    expect(world.ledger.of('a').map(({ at }) => at)).toEqual([openedAt + COOLDOWN]);
    expect(await breaker(world)).toMatchObject({ state: 'closed', failureCount: 0 });
  });

  it('while the probe is out the others wait, and all go on when it succeeds [CB-6]', async () => {
    const { world, weather } = worldOf(8_000);
    await open(world);
    weather.charge = done;
    const sequence = await world.publish([step('a', 'charge')]);
    const ids = [await world.start(sequence), await world.start(sequence), await world.start(sequence)];
    await world.time.pass(COOLDOWN + 1_000);
    expect(world.ledger.of('a')).toHaveLength(1);
    expect(await breaker(world)).toMatchObject({ state: 'half_open' });
    for (const id of ids) expect((await world.untilEnded(id)).state).toBe('completed');
    const [probe, ...others] = world.ledger.of('a');
    expect(others).toHaveLength(2);
    for (const { at } of others) expect(at).toBeGreaterThanOrEqual(probe?.endedAt ?? 0);
  });

  it('a probe that fails opens it for a new cooldown [CB-6]', async () => {
    const { world } = worldOf();
    await open(world);
    const retry = { max_attempts: 2, initial_backoff: 1, max_backoff: 1 };
    const id = await world.start(await world.publish([step('a', 'charge', { retry })]));
    expect((await world.untilEnded(id)).state).toBe('failed');
    const [first, second] = world.ledger.of('a').map(({ at }) => at);
    expect((second ?? 0) - (first ?? 0)).toBe(COOLDOWN);
    expect(await breaker(world)).toMatchObject({ state: 'open', openedAt: second });
  });

  it('the fallback runs at once with the same params and key, and counts for its own breaker [CB-4]', async () => {
    const { world, weather } = worldOf();
    await open(world);
    const params = { amount: 3 };
    const block = step('a', 'charge', { fallback_handler: 'spare', params });
    const sequence = await world.publish([block]);
    const id = await world.start(sequence);
    expect((await world.untilEnded(id, 1_000)).state).toBe('completed');
    expect(world.ledger.of('a')).toMatchObject([{ handler: 'spare', params, attempt: 0, redelivery: false }]);
    expect(await world.outputs(id)).toEqual({ a: 'ok' });
    weather.spare = broken;
    const failed = await world.start(sequence);
    expect((await world.untilEnded(failed, 1_000)).state).toBe('failed');
    expect(await breaker(world, 'spare')).toMatchObject({ failureCount: 1 });
    expect(await breaker(world)).toMatchObject({ failureCount: 5 });
  });

  it('with both open the step waits for the later one [CB-5]', async () => {
    const { world, weather } = worldOf();
    await open(world);
    await world.time.pass(20_000);
    weather.spare = down;
    await open(world, 'spare');
    const spareOpenedAt = world.time.now;
    const id = await world.start(await world.publish([step('a', 'charge', { fallback_handler: 'spare' })]));
    await world.time.calm();
    expect(await world.view(id)).toMatchObject({ nextFireAt: spareOpenedAt + COOLDOWN });
  });

  it('a fallback that is served by workers makes a task of its name [CB-4]', async () => {
    const { world } = worldOf();
    await open(world);
    const id = await world.start(await world.publish([step('a', 'charge', { fallback_handler: 'far' })]));
    await world.untilState(id, 'waiting');
    const task = await world.poll('far');
    expect(task).toMatchObject({ instanceId: id, blockId: 'a', handlerName: 'far', attempt: 0 });
    if (task !== null) await world.report(task, { ok: true, output: { by: 'far' } });
    expect((await world.untilEnded(id)).state).toBe('completed');
  });

  it('built-ins such as fail are not tracked, whatever they do [CB-3]', async () => {
    const { world } = worldOf();
    await open(world, 'fail', 6);
    expect(await world.store.listBreakers(TENANT, 10)).toEqual([]);
  });

  it('a failure before the call, such as a template, is none of the handler [CB-2]', async () => {
    const { world } = worldOf();
    const block = step('a', 'charge', { params: { x: '{{nowhere.y}}' } });
    expect((await world.untilEnded(await world.start(await world.publish([block])))).state).toBe('failed');
    expect(await breaker(world)).toBeNull();
  });

  it('a pure handler has a breaker as well', async () => {
    const { world, weather } = worldOf();
    await open(world, 'tidy');
    const id = await world.start(await world.publish([step('a', 'tidy')]));
    await world.time.calm();
    expect(await world.view(id)).toMatchObject({ state: 'scheduled' });
    weather.charge = done;
    expect((await world.untilEnded(id)).state).toBe('completed');
  });

  it('failures that workers report open it before their call returns, and their timeouts count too [CB-2]', async () => {
    const { world } = worldOf();
    const sequence = await world.publish([step('a', 'far')]);
    for (let n = 1; n <= 4; n += 1) {
      await world.start(sequence);
      await world.time.calm();
      const task = await world.poll('far');
      if (task !== null) await world.report(task, { ok: false, message: 'lost', retryable: true }, false);
      expect(await breaker(world, 'far')).toMatchObject({ state: 'closed', failureCount: n });
    }
    const slow = await world.start(await world.publish([step('a', 'far', { timeout: 1_000 })]));
    expect((await world.untilEnded(slow)).state).toBe('failed');
    expect(await breaker(world, 'far')).toMatchObject({ state: 'open', failureCount: 5 });
    const held = await world.start(sequence);
    await world.time.calm();
    expect(await world.view(held)).toMatchObject({ state: 'scheduled' });
    expect(await world.poll('far')).toBeNull();
    await world.time.pass(COOLDOWN);
    const probe = await world.poll('far');
    expect(probe?.instanceId).toBe(held);
    if (probe !== null) await world.report(probe, { ok: true, output: 1 });
    await world.untilEnded(held);
    expect(await breaker(world, 'far')).toMatchObject({ state: 'closed', failureCount: 0 });
  });

  it('in branches side by side only one probe goes out [CB-6] [STEP-1]', async () => {
    const { world, weather } = worldOf(1_000);
    await open(world);
    weather.charge = done;
    const scope = (id: string) => ({
      type: 'cancellation_scope',
      id: `s${id}`,
      blocks: [step(id, 'charge')],
    });
    const id = await world.start(await world.publish([parallel('p', [scope('a')], [scope('b')])]));
    await world.time.pass(COOLDOWN + 500);
    expect([...world.ledger.of('a'), ...world.ledger.of('b')]).toHaveLength(1);
    expect((await world.untilEnded(id)).state).toBe('completed');
  });

  it('a breaker that opens while a step is being granted holds that step back', async () => {
    const { world, weather } = worldOf(1_000);
    weather.charge = down;
    // Both wait for the same instant; the commit of the second one's intent tells that the breaker has opened.
    const slow = await world.publish([step('x', 'charge')]);
    const calls = await Promise.all([1, 2, 3, 4, 5].map(() => world.start(slow)));
    const late = await world.publish([step('n', 'log'), step('y', 'charge', { deadline: 600_000 })]);
    await world.time.pass(999);
    const id = await world.start(late);
    for (const one of calls) await world.untilEnded(one);
    await world.time.calm();
    expect(await breaker(world)).toMatchObject({ state: 'open' });
    expect((await world.untilEnded(id, 700_000)).state).toBe('failed');
    expect(world.ledger.of('y').length).toBeGreaterThan(0);
    expect(START_AT).toBeLessThan(world.time.now);
  });

  it('an operator closes it, and what starts then is called at once [CB-7] (C11)', async () => {
    const { world, weather } = worldOf();
    await open(world);
    await world.store.resetBreaker(TENANT, 'charge');
    weather.charge = done;
    const id = await world.start(await world.publish([step('a', 'charge')]));
    expect((await world.untilEnded(id, 100)).state).toBe('completed');
  });
});
