import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineHandler, type HandlerContext, StepError } from '../../src/sdk/handler.ts';
import { createWorker, type WorkerContext } from '../../src/sdk/worker.ts';
import { START_AT } from './support/world.ts';
import { createWorkerWorld } from './support/worker-world.ts';

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

  it('takes its own repeated report for heard (RULINGS B9) [WRK-9]', async () => {
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
    const bodies = world.sent.flatMap(({ body }) => (typeof body === 'string' ? [body] : []));
    expect(bodies.filter((body) => body.includes('line 1000'))).toEqual([]);
    expect(lines[0]).toMatchObject({
      level: 'warn',
      message: 'line 0',
      ts: new Date(START_AT).toISOString(),
    });
    await worker.stop();
  });

  it('needs handlers, each with a name of its own', () => {
    const { client } = createWorkerWorld();
    const handlers = [defineHandler('a', {}, () => null)];
    expect(() => createWorker({ client })).toThrow(TypeError);
    expect(() => createWorker({ client, handlers, functions: { a: () => null } })).toThrow('called a');
  });
});
