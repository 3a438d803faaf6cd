import { describe, expect, it } from 'vitest';
import type { WorkerContext } from '../../src/sdk/worker.ts';
import { START_AT } from './support/world.ts';
import { createSignal, createWorkerWorld } from './support/worker-world.ts';

describe('polling', () => {
  it('never does more tasks at once than it may, and goes on as soon as one ends', async () => {
    const world = createWorkerWorld();
    const ends: (() => void)[] = [];
    let most = 0;
    let now = 0;
    const work = async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise<void>((resolve) => ends.push(resolve));
      now -= 1;
    };
    const runs = [];
    for (let count = 0; count < 5; count += 1) runs.push(await world.runStep(`work_${count % 2}`));
    const worker = world.workerOf({ functions: { work_0: work, work_1: work }, concurrency: 2 });
    worker.start();
    for (let count = 0; count < 5; count += 1) {
      await world.driver.settle();
      expect(worker.activeCount()).toBe(Math.min(2, 5 - count));
      ends.shift()?.();
    }
    await world.driver.settle();
    expect([most, now, worker.activeCount()]).toEqual([2, 0, 0]);
    for (const run of runs) await run.assertState('completed');
    await worker.stop();
  });

  it('takes tasks of its queue only', async () => {
    const world = createWorkerWorld();
    const [far, near] = [
      await world.runStep('lift', { queue_name: 'far' }),
      await world.runStep('lift', { queue_name: 'near' }),
    ];
    const worker = world.workerOf({ functions: { lift: () => null }, queue: 'near', version: '1.2.0' });
    worker.start();
    await world.driver.settle();
    await near.assertState('completed');
    await far.assertState('waiting');
    expect(await world.client.tasks.workers()).toMatchObject([{ queues: ['near'], version: '1.2.0' }]);
    expect(await world.client.tasks.workers({ offset: 1 })).toEqual([]);
    await worker.stop();
  });

  it('polls less and less often while there is nothing to do', async () => {
    const world = createWorkerWorld();
    const worker = world.workerOf({ functions: { rest: () => null } });
    worker.start();
    await world.driver.moveTo(START_AT + 18_000, {});
    expect(world.requestTimes.map((at) => at - START_AT)).toEqual([0, 500, 1500, 3500, 7500, 12_500, 17_500]);
    await worker.stop();
  });

  it('begins to count anew when it has got something, also while that still runs', async () => {
    const world = createWorkerWorld();
    const worker = world.workerOf({ functions: { rest: () => new Promise(() => undefined) } });
    worker.start();
    await world.driver.moveTo(START_AT + 10_000, {});
    await world.runStep('rest');
    await world.driver.moveTo(START_AT + 13_000, {});
    const polls = world.requestTimes.map((at) => at - START_AT);
    expect(polls.slice(5)).toEqual([12_500, 12_500, 13_000]);
    expect(await world.awaitOn(worker.stop({ graceMs: 0 }))).toBe(1);
  });

  it('gives each of its handlers a turn when there is room for one task only', async () => {
    const world = createWorkerWorld();
    const done: string[] = [];
    const note = (_input: unknown, ctx: WorkerContext) => void done.push(ctx.idempotencyKey.slice(-10));
    for (let count = 0; count < 3; count += 1) {
      await world.runStep('flood');
      if (count === 0) await world.runStep('trickle', { id: 'trickle' });
    }
    const worker = world.workerOf({ functions: { flood: note, trickle: note }, concurrency: 1 });
    worker.start();
    await world.driver.settle();
    expect(done).toHaveLength(4);
    expect(done.findIndex((key) => key.includes('trickle'))).toBeLessThan(2);
    await worker.stop();
  });

  it('goes on polling after the server was away, and says so once', async () => {
    const world = createWorkerWorld();
    world.plan(/poll$/, 'request lost', { status: 503 }, 'request lost');
    const run = await world.runStep('rest');
    const worker = world.workerOf({ functions: { rest: () => null } });
    worker.start();
    expect(await run.finish()).toBe('completed');
    expect(world.logged).toEqual(['warn a poll failed', 'info the server answers again']);
    await worker.stop();
  });
});

describe('stopping a worker', () => {
  it('takes nothing more and waits for what runs', async () => {
    const world = createWorkerWorld();
    const end = createSignal();
    const run = await world.runStep('pack');
    const worker = world.workerOf({ functions: { pack: () => end.told } });
    worker.start();
    await world.driver.settle();
    const stopped = worker.stop();
    const later = await world.runStep('pack');
    end.tell();
    expect(await stopped).toBe(0);
    await run.assertState('completed');
    await later.assertState('waiting');
    expect(() => worker.start()).toThrow('cannot be started again');
  });

  it('does what an open poll still brings', async () => {
    const world = createWorkerWorld();
    const run = await world.runStep('pack');
    const worker = world.workerOf({ functions: { pack: () => null } });
    worker.start();
    expect(await worker.stop()).toBe(0);
    await run.assertState('completed');
  });

  it('fires the signals of the handlers when its grace is over, and reports no failure of theirs', async () => {
    const world = createWorkerWorld();
    const runs = [await world.runStep('heeds'), await world.runStep('ends'), await world.runStep('hangs')];
    const untilAborted = (ctx: WorkerContext) =>
      new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()));
    const worker = world.workerOf({
      functions: {
        heeds: async (_input, ctx) => {
          await untilAborted(ctx);
          ctx.signal.throwIfAborted();
        },
        ends: async (_input, ctx) => {
          await untilAborted(ctx);
          return 'in time';
        },
        hangs: () => new Promise(() => undefined),
      },
    });
    worker.start();
    await world.driver.settle();
    expect(await world.awaitOn(worker.stop({ graceMs: 5000 }))).toBe(1);
    expect(world.time.nowMs()).toBe(START_AT + 6000);
    const states = await Promise.all(runs.map(({ state }) => state()));
    expect(states).toEqual(['waiting', 'completed', 'waiting']);
    expect(world.requests.filter((request) => request.endsWith('/fail'))).toEqual([]);
  });

  it('that was never started is done at once', async () => {
    expect(
      await createWorkerWorld()
        .workerOf({ functions: { a: () => null } })
        .stop(),
    ).toBe(0);
  });
});
