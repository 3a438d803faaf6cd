import { describe, expect, it } from 'vitest';
import { parallel, pure, sleep, step, task, tries } from './support/blocks.ts';
import { play, playOnce } from './support/play.ts';
import { byAttempt, fails, ok, reportAt, retryably, signal } from './support/script.ts';

const failure = (run: { readonly instance: { readonly failure: unknown } }): unknown => run.instance.failure;

describe('results', () => {
  it('params whose only template is null are null for the handler, absent ones are an object [TPL-1] 2.3', async () => {
    for (const make of [step, pure, task]) {
      const run = await play({ blocks: [make('a', { params: '{{data.none}}' }), make('b')] });
      expect(run.calls.map(({ params }) => params).slice(0, 1)).toEqual([null]);
    }
    const run = await play({ blocks: [step('b')] });
    expect(run.calls.map(({ params }) => params)).toEqual([{}]);
  });

  it('does not merge the result of an in-process step into data [DISP-3]', async () => {
    const run = await play({ blocks: [step('a')], on: { a: ok({ x: 1 }) } });
    expect(run.instance.data).toEqual({});
  });

  it('merges an object of a worker into data before the next block, other values not [DISP-3] [CTX-2] [CTX-4]', async () => {
    const run = await play({
      blocks: [task('a'), step('b', { params: { x: '{{data.x}}' } }), task('c'), task('d')],
      data: { x: { deep: 1 }, y: 1 },
      on: { a: ok({ x: { other: 2 } }), c: ok([1]), d: ok('text') },
    });
    expect(run.calls.find((call) => call.blockId === 'b')?.params).toEqual({ x: { other: 2 } });
    expect(run.instance.data).toEqual({ x: { other: 2 }, y: 1 });
    const replaced = await play({ blocks: [task('a')], data: [1, 2], on: { a: ok({ x: 1 }) } });
    expect(replaced.instance.data).toEqual({ x: 1 });
  });

  it('fails the attempt when the merge makes the context too large, and merges nothing [DISP-4] [CTX-1]', async () => {
    const run = await play({
      blocks: [task('a', tries(3))],
      data: { x: 1 },
      on: { a: ok({ y: 'x'.repeat(500) }) },
      maxContextBytes: 300,
    });
    expect(failure(run)).toMatchObject({ error: { code: 'CONTEXT_TOO_LARGE', retryable: false } });
    expect(run.instance.data).toEqual({ x: 1 });
  });

  for (const make of [step, pure, task]) {
    it(`fails permanently when the result of a ${make.name} is too large or breaks its schema [DISP-2] [SCHEMA-1]`, async () => {
      const large = await play({
        blocks: [make('a', tries(3))],
        on: { a: ok({ text: 'x'.repeat(500) }) },
        maxOutputBytes: 400,
      });
      expect(failure(large)).toMatchObject({ error: { code: 'OUTPUT_TOO_LARGE', retryable: false } });
      const wrong = await play({
        blocks: [make('a', { output_schema: { type: 'object', required: ['id'] }, ...tries(3) })],
        on: { a: ok({ other: 1 }) },
      });
      expect(failure(wrong)).toMatchObject({
        error: {
          code: 'OUTPUT_CONTRACT_VIOLATION',
          details: { violations: [{ pointer: expect.any(String) }] },
        },
      });
      expect(wrong.instance.data).toEqual({});
      const right = await play({
        blocks: [make('a', { output_schema: { type: 'object', required: ['id'] } })],
        on: { a: ok({ id: 1 }) },
      });
      expect(right.state).toBe('completed');
    });
  }

  it('fails at once for a handler that nobody has (RULINGS B8)', async () => {
    const run = await play({ blocks: [step('a', { handler: 'gone:a', ...tries(3) })] });
    expect(failure(run)).toMatchObject({ error: { code: 'HANDLER_NOT_AVAILABLE' } });
  });

  it('counts dispatched attempts, retries and worker tasks included, skipped steps not [END-2]', async () => {
    const run = await playOnce({
      blocks: [step('a', tries(3, 10)), pure('b'), task('c'), step('d', { when: 'false' }), sleep('e', 10)],
      on: { a: byAttempt(retryably('x'), retryably('x'), ok()), c: ok() },
    });
    expect(run.instance.totalSteps).toBe(6);
  });
});

describe('worker steps', () => {
  it('waits for its task with the state waiting [DISP-1] [HI-1] 6.4', async () => {
    const run = await play({ blocks: [task('w', { queue_name: 'q', params: { x: 1 } })] });
    expect(run.state).toBe('waiting');
    expect(run.tree).toEqual({ w: 'waiting:worker' });
    expect(run.instance).toMatchObject({ openWaits: 1, dueAt: null, nextFireAt: null });
    expect(run.frontier.openTasks).toMatchObject([
      { blockId: 'w', queueName: 'q', params: { x: 1 }, attempt: 0 },
    ]);
  });

  it('times out from the creation of the task on, retryably, and closes it [TO-1] [TO-2]', async () => {
    const run = await play({
      blocks: [task('w', { timeout: 1000 })],
      events: [reportAt(1500, 'w', ok('late'))],
    });
    expect(run.state).toBe('failed');
    expect(run.endedMs).toBe(1500);
    expect(failure(run)).toMatchObject({ error: { code: 'TIMEOUT', retryable: true } });
    expect(run.frontier.openTasks).toEqual([]);
  });

  it('shows the due instant of the timeout while it waits 6.4', async () => {
    const run = await play({ blocks: [task('w', { timeout: 1000 })], untilMs: 10 });
    expect(run.instance).toMatchObject({ state: 'waiting', nextFireAt: run.world.startAt + 1000 });
  });

  it('takes a result that was accepted before the timeout was acted on (RULINGS A11)', async () => {
    const run = await play({
      blocks: [task('w', { timeout: 1000 })],
      events: [reportAt(1000, 'w', ok('just'))],
    });
    expect(run.state).toBe('completed');
  });

  it('makes a new task after the backoff, at least 150 ms later [WRK-8] [RET-6] (RULINGS B9)', async () => {
    const scenario = {
      blocks: [task('w', tries(2, 10))],
      on: { w: byAttempt(retryably('busy'), ok('done')) },
    };
    const waiting = await play({ ...scenario, untilMs: 100 });
    expect(waiting.state).toBe('scheduled');
    expect(waiting.tree).toEqual({ w: 'waiting:retry' });
    expect(waiting.frontier.openTasks).toEqual([]);
    const run = await play(scenario);
    expect(run.called).toEqual(['w', 'w#1']);
    expect([run.state, run.endedMs]).toEqual(['completed', 150]);
  });

  it('is final when a worker left retryable out or said no [RET-3] 15.1', async () => {
    const run = await play({ blocks: [task('w', tries(3))], on: { w: fails('no', { code: 'E9' }) } });
    expect(run.called).toEqual(['w']);
    expect(failure(run)).toMatchObject({ error: { code: 'E9', retryable: false } });
  });

  it('stores a result for a paused instance, which stays paused [WRK-7]', async () => {
    const run = await play({
      blocks: [parallel('p', [[task('w')], [step('a', { delay: { duration: 9000 } })]]), step('z')],
      events: [{ at: 10, signal: 'pause' }],
      on: { w: ok('r', { takesMs: 5 }) },
    });
    expect(run.state).toBe('paused');
    expect(run.tree['w']).toBe('completed');
    expect(run.called).toEqual(['w']);
  });

  it('closes the task with the cancel and answers a late result as stale [CAN-1]', async () => {
    const run = await play({
      blocks: [task('w')],
      events: [signal(10, 'cancel'), reportAt(20, 'w', ok('late'))],
    });
    expect(run.state).toBe('cancelled');
    expect(run.frontier.openTasks).toEqual([]);
  });
});

describe('timeouts of handlers', () => {
  it('cuts an attempt off retryably with code TIMEOUT [TO-1] [TO-2]', async () => {
    const run = await play({
      blocks: [step('a', { timeout: 100, ...tries(2, 10) })],
      on: { a: byAttempt(ok('late', { takesMs: 500 }), ok('in time', { takesMs: 50 })) },
    });
    expect(run.called).toEqual(['a', 'a#1']);
    expect(run.endedMs).toBe(160);
  });
});

describe('sleep', () => {
  it('is shown as running from start to end and parks the instance [SETTLE-4]', async () => {
    const run = await play({ blocks: [sleep('s', 1000)], untilMs: 100 });
    expect(run.state).toBe('running');
    expect(run.tree).toEqual({ s: 'running:sleep' });
    expect(run.instance).toMatchObject({ dueAt: run.world.startAt + 1000, leaseUntil: null });
  });

  it('sleeps through pause and resume without starting again [SLEEP-4]', async () => {
    const run = await play({
      blocks: [sleep('s', 1000)],
      events: [signal(100, 'pause'), signal(200, 'resume')],
    });
    expect([run.state, run.endedMs]).toEqual(['completed', 1000]);
  });

  it('cuts more than ten years to ten years, for it never fails', async () => {
    const run = await play({ blocks: [sleep('s', 315_360_000_001)] });
    expect([run.state, run.outputs]).toEqual(['completed', ['s={"slept_ms":315360000000}']]);
  });
});
