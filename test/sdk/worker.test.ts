import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineHandler, type HandlerContext, StepError } from '../../src/sdk/handler.ts';
import { createWorker, type WorkerContext } from '../../src/sdk/worker.ts';
import { START_AT } from './support/world.ts';
import { createSignal, createWorkerWorld } from './support/worker-world.ts';

describe('a worker', () => {
  it('runs a defined handler with parsed input and the context of its step', async () => {
    const world = createWorkerWorld();
    const seen: HandlerContext[] = [];
    const weigh = defineHandler(
      'weigh',
      { input: z.object({ kg: z.coerce.number() }) },
      async ({ kg }, ctx) => {
        seen.push(ctx);
        return { grams: kg * 1000, at: new Date(ctx.nowMs) };
      },
    );
    const run = await world.run(
      {
        name: 'parcels',
        blocks: [
          {
            type: 'for_each',
            id: 'each',
            collection: 'data.parcels',
            body: [
              { type: 'step', id: 'work', handler: 'weigh', params: { kg: '{{item}}' }, timeout: 60_000 },
            ],
          },
        ],
      },
      { parcels: ['2'] },
    );
    const worker = world.workerOf({ handlers: [weigh] });
    worker.start();
    await world.driver.settle();
    await run.assertState('completed');
    expect(await run.outputs()).toMatchObject({
      'work@each:0': { grams: 2000, at: new Date(START_AT).toISOString() },
    });
    expect(seen).toMatchObject([
      {
        instanceId: run.id,
        blockId: 'work',
        tenantId: 'default',
        iteration: 'each:0',
        attempt: 0,
        redelivery: false,
        dryRun: false,
        nowMs: START_AT,
      },
    ]);
    const [ctx] = seen;
    expect(ctx?.idempotencyKey).toMatch(/:work:each:0$/);
    expect(ctx?.attemptKey).toBe(`${ctx?.idempotencyKey}:0`);
    expect(ctx?.remainingTimeMs()).toBe(60_000);
    expect(ctx?.context).toMatchObject({ data: { parcels: ['2'] }, config: {} });
    await expect(ctx?.state.get('a')).rejects.toMatchObject({
      code: 'STATE_NOT_AVAILABLE',
      retryable: false,
    });
    await worker.stop();
  });

  it('reports what a handler throws, and the step tries again as its policy says', async () => {
    const world = createWorkerWorld();
    const attempts: number[] = [];
    const functions = {
      charge: (_input: unknown, ctx: WorkerContext) => {
        attempts.push(ctx.attempt);
        if (ctx.attempt === 0) throw new StepError('busy', { code: 'BUSY' });
        throw new StepError('declined', { retryable: false, code: 'DECLINED', details: { card: 'x-1' } });
      },
    };
    const retry = { max_attempts: 5, initial_backoff: 1000, max_backoff: 1000 };
    const run = await world.runStep('charge', { retry });
    const worker = world.workerOf({ functions });
    worker.start();
    expect(await run.finish()).toBe('failed');
    expect(attempts).toEqual([0, 1]);
    expect(await run.tree()).toMatchObject([
      { state: 'failed', error: { message: 'declined', code: 'DECLINED', details: { card: 'x-1' } } },
    ]);
    await worker.stop();
  });

  it('fails a task for good whose params or result are not what the schemas say', async () => {
    const world = createWorkerWorld();
    const handlers = [
      defineHandler('takes', { input: z.object({ no: z.string() }) }, () => null),
      defineHandler('gives', { output: z.string() }, () => 5 as never),
      defineHandler('breaks', {}, () => () => null),
    ];
    const runs = [await world.runStep('takes'), await world.runStep('gives'), await world.runStep('breaks')];
    const worker = world.workerOf({ handlers });
    worker.start();
    await world.driver.settle();
    const codes = await Promise.all(runs.map(async ({ tree }) => JSON.stringify((await tree())[0]?.error)));
    expect(codes).toEqual([
      expect.stringContaining('INVALID_PARAMS'),
      expect.stringContaining('OUTPUT_CONTRACT_VIOLATION'),
      expect.stringContaining('INVALID_OUTPUT'),
    ]);
    await worker.stop();
  });

  it('fails a task whose output the server refuses, instead of doing it for ever', async () => {
    const world = createWorkerWorld();
    const body = JSON.stringify({
      error: 'payload too large: the body',
      code: 'body_too_large',
      request_id: 'r',
    });
    world.plan(/complete$/, { status: 413, headers: { 'content-type': 'application/json' }, body });
    const run = await world.runStep('grow');
    const worker = world.workerOf({ functions: { grow: () => 'x' } });
    worker.start();
    await world.driver.settle();
    await run.assertState('failed');
    expect(await run.tree()).toMatchObject([{ error: { code: 'OUTPUT_TOO_LARGE' } }]);
    await worker.stop();
  });

  it('takes its own repeated report for heard (RULINGS B9)', async () => {
    const world = createWorkerWorld();
    world.plan(/complete$/, 'request lost', 'answer lost', 'request lost');
    const run = await world.runStep('weigh');
    const worker = world.workerOf({ functions: { weigh: () => ({ kg: 3 }) } });
    worker.start();
    expect(await run.finish()).toBe('completed');
    await world.driver.moveTo(world.time.nowMs() + 10_000, {});
    expect(world.requests.filter((request) => request.endsWith('/complete'))).toHaveLength(4);
    expect(worker.activeCount()).toBe(0);
    expect(world.logged.filter((line) => !line.startsWith('info'))).toEqual([]);
    await worker.stop();
  });

  it('sends the log lines of a handler along, up to a thousand', async () => {
    const world = createWorkerWorld();
    const run = await world.runStep('talk');
    const talk = (_input: unknown, ctx: WorkerContext) => {
      for (let line = 0; line < 1001; line += 1) ctx.log.warn(`line ${line}`);
    };
    const worker = world.workerOf({ functions: { talk } });
    worker.start();
    await world.driver.settle();
    const lines = await world.client.instances.logs(run.id);
    expect(lines).toHaveLength(1000);
    expect(lines[0]).toMatchObject({
      level: 'warn',
      message: 'line 0',
      ts: new Date(START_AT).toISOString(),
    });
    await worker.stop();
  });

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

  it('needs handlers, each with a name of its own', () => {
    const { client } = createWorkerWorld();
    const handlers = [defineHandler('a', {}, () => null)];
    expect(() => createWorker({ client })).toThrow(TypeError);
    expect(() => createWorker({ client, handlers, functions: { a: () => null } })).toThrow('called a');
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
