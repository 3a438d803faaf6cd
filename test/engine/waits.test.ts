import { describe, expect, it } from 'vitest';
import { parallel, sleepStep, step } from './support/blocks.ts';
import { faultAt } from './support/fault-plans.ts';
import { TENANT, TestEngine } from './support/test-engine.ts';

const RARE_SWEEP = { sweepMs: 3_600_000 };
const RETRY = { max_attempts: 2, initial_backoff: 1000, max_backoff: 1000 };

describe('timeouts (15.4)', () => {
  it('TO-1: in process the signal fires, the attempt has failed at once, and a later result is dropped', async () => {
    const world = new TestEngine({ scripts: { charge: { takesMs: 10_000 } } });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge', { timeout: 2000 })]));
    const startedAt = world.time.now;
    const ended = await world.untilState(id, 'failed', 2000);
    expect(ended.failure?.error).toMatchObject({ code: 'TIMEOUT', retryable: true });
    expect(world.ledger.of('a').map(({ abortedAt }) => abortedAt)).toEqual([startedAt + 2000]);
    await world.time.pass(20_000);
    expect(await world.view(id)).toEqual(ended);
  });

  it('TO-2: a timeout is retryable', async () => {
    const world = new TestEngine({
      scripts: { charge: { takesMs: (_, nth) => (nth === 0 ? 10_000 : 100) } },
    });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge', { timeout: 2000, retry: RETRY })]));
    const ended = await world.untilEnded(id, 3100);
    expect(ended.state).toBe('completed');
    expect(world.ledger.of('a').map(({ attempt }) => attempt)).toEqual([0, 1]);
    expect(await world.outputs(id)).toEqual({ a: { did: 'a', attempt: 1 } });
  });

  it('TO-1: on a worker the time counts from the creation of the task, and late completions are refused', async () => {
    const world = new TestEngine();
    world.boot({ settings: RARE_SWEEP });
    const id = await world.start(await world.publish([step('a', 'packing', { timeout: 5000 })]));
    await world.time.pass(4000);
    const task = await world.poll('packing');
    if (task === null) throw new Error('there is no task');
    const ended = await world.untilState(id, 'failed', 1100);
    expect(ended.failure?.error).toMatchObject({ code: 'TIMEOUT' });
    expect(await world.report(task, { ok: true, output: {} })).toBe('stale');
    const events = await world.store.listTaskEvents(TENANT, task.id, 10);
    expect(events?.map(({ event }) => event)).toContain('timed_out');
  });

  it('RULINGS A11: of a result and a timeout at the same time exactly one wins, whoever is asked first', async () => {
    for (const reportFirst of [true, false]) {
      const world = new TestEngine();
      world.boot({ settings: RARE_SWEEP });
      const id = await world.start(await world.publish([step('a', 'packing', { timeout: 5000 })]));
      await world.time.pass(4000);
      const task = await world.poll('packing');
      if (task === null) throw new Error('there is no task');
      if (reportFirst) {
        world.faults = faultAt('commit', 0, { kind: 'slow-before', forMs: 2000 });
        await world.time.pass(1001);
      } else await world.time.pass(1500);
      const status = await world.report(task, { ok: true, output: { packed: true } });
      const ended = await world.untilEnded(id, 10_000);
      expect([status, ended.state]).toEqual(reportFirst ? ['accepted', 'completed'] : ['stale', 'failed']);
    }
  });

  it('TO-3: without a timeout an in-process attempt may run for as long as it takes', async () => {
    const world = new TestEngine({ scripts: { charge: { takesMs: 3_600_000 } } });
    world.boot();
    const id = await world.start(await world.publish([step('a', 'charge')]));
    expect((await world.untilEnded(id, 3_600_001)).state).toBe('completed');
    expect(world.ledger.of('a')).toHaveLength(1);
  });
});

describe('sleeps and delays', () => {
  it('PAR-1: a delay, a retry and a sleep end in time although a handler of another branch still runs [COMMIT-3]', async () => {
    const world = new TestEngine({
      scripts: {
        slow: { takesMs: 600_000 },
        quick: {},
        flaky: {
          outcome: (call) =>
            call.attempt === 0
              ? { ok: false, failure: { message: 'not yet', retryable: true } }
              : { ok: true, output: null },
        },
      },
    });
    world.boot({ settings: RARE_SWEEP });
    const delayed = step('delayed', 'quick', { delay: { duration: 5000 } });
    const again = step('again', 'flaky', { retry: RETRY });
    const id = await world.start(
      await world.publish([
        parallel(
          'p',
          [step('long', 'slow')],
          [delayed],
          [again],
          [sleepStep('nap', 7000), step('awake', 'quick')],
        ),
      ]),
    );
    const startedAt = world.time.now;
    await world.time.pass(10_000);
    const calledAfter = (block: string): number[] => world.ledger.of(block).map(({ at }) => at - startedAt);
    expect(calledAfter('delayed')).toEqual([5000]);
    expect(calledAfter('again')).toEqual([0, 1000]);
    expect(calledAfter('awake')).toEqual([7000]);
    expect((await world.untilEnded(id, 600_000)).state).toBe('completed');
  });

  it('SETTLE-4: a long sleep is parked: running, without a lease, due when it ends, and exact [SLEEP-2] [SETTLE-1]', async () => {
    const world = new TestEngine({ scripts: { quick: {} } });
    world.boot({ settings: RARE_SWEEP });
    const id = await world.start(await world.publish([sleepStep('nap', 100_000), step('b', 'quick')]));
    const startedAt = world.time.now;
    await world.time.pass(90_000);
    expect(await world.view(id)).toMatchObject({
      state: 'running',
      leaseUntil: null,
      dueAt: startedAt + 100_000,
      epoch: 1,
    });
    await world.untilEnded(id);
    expect(world.time.now).toBe(startedAt + 100_000);
    expect((await world.outputs(id))['nap']).toEqual({ slept_ms: 100_000 });
  });

  it('RULINGS B6: a short sleep is served in place, without another claim [SLEEP-1]', async () => {
    const world = new TestEngine({ scripts: { quick: {} } });
    world.boot({ settings: RARE_SWEEP });
    const id = await world.start(await world.publish([sleepStep('nap', 80), step('b', 'quick')]));
    const ended = await world.untilEnded(id, 1000);
    expect(ended.epoch).toBe(1);
    expect((await world.outputs(id))['nap']).toEqual({ slept_ms: 80 });
  });

  it('RULINGS B6: a short sleep does not hold up another branch', async () => {
    const world = new TestEngine({ scripts: { quick: { takesMs: 10 } } });
    world.boot({ settings: RARE_SWEEP });
    const id = await world.start(
      await world.publish([
        parallel('both', [sleepStep('nap', 80)], [step('b', 'quick'), step('c', 'quick')]),
      ]),
    );
    const startedAt = world.time.now;
    await world.untilEnded(id, 1000);
    expect(world.ledger.of('c')[0]?.at).toBe(startedAt + 10);
  });

  it('a parked sleep is no stale lease: the sweep leaves it alone', async () => {
    const world = new TestEngine({ scripts: { quick: {} } });
    world.boot();
    const id = await world.start(await world.publish([sleepStep('nap', 600_000), step('b', 'quick')]));
    await world.time.pass(500_000);
    expect(await world.view(id)).toMatchObject({ epoch: 1, recoveryCount: 0, state: 'running' });
  });

  it('a delay and a retry wait as scheduled with the instant shown', async () => {
    const world = new TestEngine({ scripts: { quick: {} } });
    world.boot({ settings: RARE_SWEEP });
    const id = await world.start(await world.publish([step('a', 'quick', { delay: { duration: 30_000 } })]));
    const startedAt = world.time.now;
    await world.time.pass(1000);
    expect(await world.view(id)).toMatchObject({ state: 'scheduled', nextFireAt: startedAt + 30_000 });
    await world.untilEnded(id, 29_000);
    expect(world.ledger.of('a').map(({ at }) => at)).toEqual([startedAt + 30_000]);
  });

  it('SETTLE-3: a signal does not start an instance before its time', async () => {
    const world = new TestEngine({ scripts: { quick: {} } });
    world.boot({ settings: RARE_SWEEP });
    const at = world.time.now + 60_000;
    const id = await world.start(await world.publish([step('a', 'quick')]), { nextFireAt: at });
    await world.time.pass(1000);
    await world.signal(id, 'update_context', { data: { early: true } });
    await world.time.pass(1000);
    expect(await world.view(id)).toMatchObject({ state: 'scheduled', nextFireAt: at, data: { early: true } });
    await world.untilEnded(id);
    expect(world.ledger.of('a').map((call) => call.at)).toEqual([at]);
  });
});

describe('gates (14)', () => {
  const gate = (id: string, members = {}) =>
    step(id, 'quick', { wait_for_input: { prompt: 'Go on?', ...members } });

  it('HI-6: an answer that comes before its gate is used when the gate is reached', async () => {
    const world = new TestEngine({ scripts: { quick: {}, charge: { takesMs: 5000 } } });
    world.boot({ settings: RARE_SWEEP });
    const id = await world.start(await world.publish([step('a', 'charge'), gate('b')]));
    await world.time.pass(1000);
    await world.signal(id, 'custom:human_input:b', { value: 'yes' });
    const ended = await world.untilEnded(id, 4100);
    expect(ended).toMatchObject({ state: 'completed', data: { b: 'yes' } });
  });

  it('HI-6: it survives a crash, and useless hints in between do not wear the run out', async () => {
    const world = new TestEngine({ scripts: { quick: {} } });
    const first = world.boot({ settings: RARE_SWEEP });
    const id = await world.start(await world.publish([step('a', 'packing'), gate('b')]));
    await world.signal(id, 'custom:human_input:b', { value: 'no' });
    await world.time.pass(1000);
    for (let hint = 0; hint < 50; hint += 1) {
      await world.answered(first.engine.runner.nudge({ tenantId: TENANT, instanceId: id }));
    }
    expect(await world.view(id)).toMatchObject({ state: 'waiting' });
    first.crash();
    world.boot();
    const task = await world.poll('packing');
    if (task !== null) await world.report(task, { ok: true, output: null });
    const ended = await world.untilEnded(id, 10_000);
    expect(ended).toMatchObject({ state: 'completed', data: { b: 'no' } });
  });

  it('HI-3: what does not fit is consumed and the gate keeps waiting', async () => {
    const world = new TestEngine({ scripts: { quick: {} } });
    world.boot({ settings: RARE_SWEEP });
    const id = await world.start(await world.publish([gate('b')]));
    await world.time.pass(1000);
    await world.signal(id, 'custom:human_input:b', { approved: true });
    await world.time.pass(1000);
    const frontier = await world.store.getFrontier(TENANT, id);
    expect(frontier?.instance.state).toBe('waiting');
    expect(frontier?.inbox).toEqual([]);
    await world.signal(id, 'custom:human_input:b', { value: 'yes' });
    expect((await world.untilEnded(id, 1000)).state).toBe('completed');
  });

  it('HI-9, HI-11: it expires strictly after its timeout', async () => {
    const world = new TestEngine({ scripts: { quick: {} } });
    world.boot({ settings: RARE_SWEEP });
    const id = await world.start(await world.publish([gate('b', { timeout: 5000 })]));
    await world.time.pass(5000);
    expect((await world.view(id)).state).toBe('waiting');
    const ended = await world.untilEnded(id, 1);
    expect(ended.failure?.error).toMatchObject({ code: 'HUMAN_INPUT_TIMEOUT' });
  });

  it('HI-10: the escalation handler is called once and the run goes on', async () => {
    const world = new TestEngine({ scripts: { quick: {}, page: { takesMs: 60_000, listens: true } } });
    world.boot({ settings: RARE_SWEEP });
    const id = await world.start(
      await world.publish([gate('b', { timeout: 5000, escalation_handler: 'page' }), step('c', 'quick')]),
    );
    expect((await world.untilEnded(id, 5100)).state).toBe('completed');
    await world.time.pass(60_000);
    const calls = world.ledger.entries.filter(({ handler }) => handler === 'page');
    expect(calls).toHaveLength(1);
    expect((calls[0]?.abortedAt ?? 0) - (calls[0]?.at ?? 0)).toBe(10_000);
    expect(world.ledger.of('b')).toEqual([]);
  });
});
