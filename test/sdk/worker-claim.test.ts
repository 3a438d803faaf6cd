import { describe, expect, it } from 'vitest';
import { defineHandler } from '../../src/sdk/handler.ts';
import type { WorkerContext } from '../../src/sdk/worker.ts';
import { START_AT } from './support/world.ts';
import { createSignal, createWorkerWorld, type WorkerWorld } from './support/worker-world.ts';

/** Time goes on although a handler runs, as it does outside of tests. */
const pass = (world: WorkerWorld, ms: number) => world.driver.moveTo(world.time.nowMs() + ms, {});

const nameOf = (reason: unknown) => (reason instanceof DOMException ? reason.name : String(reason));

describe('the claim of a task', () => {
  it('is kept alive by heartbeats for as long as the handler works', async () => {
    const world = createWorkerWorld();
    const end = createSignal();
    const run = await world.runStep('dig');
    const worker = world.workerOf({ functions: { dig: () => end.told } });
    worker.start();
    world.plan(/heartbeat$/, 'request lost', 'answer lost');
    await pass(world, 600_000);
    end.tell();
    await world.driver.settle();
    await run.assertState('completed');
    const [task] = await world.client.tasks.list();
    expect((await world.client.tasks.attempts(task?.id ?? '')).map(({ event }) => event)).toEqual([
      'claimed',
      'completed',
    ]);
    expect(world.requests.filter((request) => request.endsWith('heartbeat'))).toHaveLength(30);
    const [last] = world.requestTimes.slice(-1);
    await pass(world, 60_000);
    expect(world.requests.filter((request) => request.endsWith('heartbeat'))).toHaveLength(30);
    expect(last).toBeLessThanOrEqual(START_AT + 600_000);
    await worker.stop();
  });

  it('that is lost fires the signal, and nothing is reported', async () => {
    const world = createWorkerWorld();
    const run = await world.runStep('dig');
    const reasons: unknown[] = [];
    const dig = (_input: unknown, ctx: WorkerContext) => {
      ctx.signal.addEventListener('abort', () => reasons.push(ctx.signal.reason));
      return new Promise(() => undefined);
    };
    const frozen = world.workerOf({ functions: { dig }, heartbeatMs: 100_000, concurrency: 1 });
    frozen.start();
    await pass(world, 90_000);
    const fresh = world.workerOf({ functions: { dig: () => 'dug' }, workerId: 'w-2' });
    fresh.start();
    await world.driver.settle();
    await run.assertState('completed');
    await run.assertOutput('work', 'dug');
    await pass(world, 60_000);
    expect(reasons.map(nameOf)).toEqual(['AbortError']);
    expect(frozen.activeCount()).toBe(0);
    expect(world.requests.filter((request) => /(complete|fail)$/.test(request))).toHaveLength(1);
    expect(world.logged).toEqual(['info a task was taken over by another worker']);
  });

  it('tells the handler of a cancel, and waits for it to end', async () => {
    const world = createWorkerWorld();
    const run = await world.runStep('dig', { cancellable: false });
    const worker = world.workerOf({
      functions: {
        dig: (_input, ctx) =>
          new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve('tidied up'))),
      },
    });
    worker.start();
    await world.driver.settle();
    await world.client.instances.signal(run.id, { type: 'cancel' });
    await pass(world, 20_000);
    expect(worker.activeCount()).toBe(0);
    await run.assertState('cancelled');
    await run.assertOutput('work', 'tidied up');
    await worker.stop();
  });
});

describe('the time of a task', () => {
  it('counts from its creation, fires the signal early, and ends as a timeout', async () => {
    const world = createWorkerWorld();
    const run = await world.runStep('dig', {
      timeout: 60_000,
      retry: { max_attempts: 1, initial_backoff: 1, max_backoff: 1 },
    });
    await pass(world, 20_000);
    const fired: number[] = [];
    const dig = (_input: unknown, ctx: WorkerContext) => {
      expect(ctx.remainingTimeMs()).toBe(40_000);
      ctx.signal.addEventListener('abort', () => fired.push(world.time.nowMs() - START_AT));
      return new Promise(() => undefined);
    };
    const worker = world.workerOf({ functions: { dig } });
    worker.start();
    await pass(world, 60_000);
    expect(fired).toEqual([59_000]);
    expect(worker.activeCount()).toBe(0);
    await run.assertState('failed');
    expect(await run.tree()).toMatchObject([{ error: { code: 'TIMEOUT' } }]);
    await worker.stop();
  });

  it('is that of the handler when the step says nothing', async () => {
    const world = createWorkerWorld();
    const run = await world.runStep('dig');
    const dig = defineHandler('dig', { timeout: 5000 }, () => new Promise(() => undefined));
    const worker = world.workerOf({ handlers: [dig] });
    worker.start();
    await pass(world, 4999);
    await run.assertState('waiting');
    await pass(world, 1);
    await run.assertState('failed');
    expect(await run.tree()).toMatchObject([{ error: { code: 'TIMEOUT' } }]);
    await worker.stop();
  });
});

describe('checkpoints', () => {
  it('are written in order and found by whoever takes the task over', async () => {
    const world = createWorkerWorld();
    const run = await world.runStep('read');
    world.plan(/heartbeat$/, 'answer lost');
    const saved = createSignal();
    const dies = async (_input: unknown, ctx: WorkerContext) => {
      expect(ctx.checkpoint).toBeUndefined();
      await Promise.all([ctx.saveCheckpoint({ row: 1 }), ctx.saveCheckpoint({ row: 2 })]);
      saved.tell();
      return new Promise(() => undefined);
    };
    const frozen = world.workerOf({ functions: { read: dies }, heartbeatMs: 10_000_000, concurrency: 1 });
    frozen.start();
    await world.awaitOn(saved.told);
    await pass(world, 90_000);
    const contexts: WorkerContext[] = [];
    const read = async (_input: unknown, ctx: WorkerContext) => {
      contexts.push(ctx);
      await ctx.saveCheckpoint({ row: 3 });
      return 'read';
    };
    const fresh = world.workerOf({ functions: { read }, workerId: 'w-2' });
    fresh.start();
    await world.driver.settle();
    await run.assertState('completed');
    expect(contexts).toMatchObject([{ checkpoint: { row: 2 }, redelivery: true, attempt: 0 }]);
    expect(await world.client.tasks.list()).toMatchObject([
      { checkpoint_seq: 3, resume_checkpoint: { row: 3 }, claim_epoch: 2, id: contexts[0]?.taskId },
    ]);
    await fresh.stop();
  });

  it('are refused when they are too large or the claim is lost', async () => {
    const world = createWorkerWorld();
    await world.runStep('read');
    const errors: unknown[] = [];
    const read = async (_input: unknown, ctx: WorkerContext) => {
      await ctx.saveCheckpoint('x'.repeat(300_000)).catch((error: unknown) => errors.push(error));
      const [task] = await world.client.tasks.list();
      await world.client.tasks.fail(
        { ...task, id: ctx.taskId, worker_id: 'w-1', claim_epoch: 1 },
        { message: 'no' },
      );
      await ctx.saveCheckpoint(1).catch((error: unknown) => errors.push(error));
      return ctx.signal.aborted;
    };
    const worker = world.workerOf({ functions: { read } });
    worker.start();
    await world.driver.settle();
    expect(errors).toMatchObject([{ status: 413 }, { status: 409, code: 'stale_claim' }]);
    expect(worker.activeCount()).toBe(0);
    expect(world.requests.filter((request) => /(complete|fail)$/.test(request))).toEqual([]);
    await worker.stop();
  });
});
