import { describe, expect, it } from 'vitest';
import { gate, loop, parallel, sleep, step, task, tryCatch } from './support/blocks.ts';
import { play } from './support/play.ts';
import { answerAt, cancelAt, fails, ok, reportAt } from './support/script.ts';

describe('parallel', () => {
  it('enters all branches together and lets none hold up another [PAR-1]', async () => {
    const run = await play({
      blocks: [
        parallel('p', [
          [task('w'), step('a')],
          [step('b'), step('c')],
        ]),
      ],
      events: [reportAt(5000, 'w', ok('late'))],
    });
    expect(run.state).toBe('completed');
    expect(run.called).toEqual(['w', 'b', 'c', 'a']);
  });

  it('serves the timer of one branch while a handler of another runs [PAR-1]', async () => {
    const run = await play({
      blocks: [parallel('p', [[step('slow')], [step('a', { delay: { duration: 100 } })]])],
      on: { slow: ok(null, { takesMs: 5000 }) },
    });
    const started = run.nodes.find((node) => node.blockId === 'a')?.completedAt ?? 0;
    expect(started - run.world.startAt).toBe(100);
  });

  it('lets the other branches run to their end when one fails [PAR-2] [PAR-3]', async () => {
    const run = await play({
      blocks: [
        parallel('p', [
          [step('a'), step('b')],
          [sleep('c', 1000), step('d')],
        ]),
        step('z'),
      ],
      on: { a: fails('no') },
    });
    expect(run.state).toBe('failed');
    expect(run.tree).toEqual({
      p: 'failed',
      a: 'failed',
      b: 'skipped',
      c: 'completed',
      d: 'completed',
      z: 'skipped',
    });
  });

  it('is cancelled when a branch was and none failed [PAR-3]', async () => {
    const run = await play({
      blocks: [parallel('p', [[step('a')], [sleep('b', 1000)], [gate('g')]])],
      events: [cancelAt(10)],
    });
    expect(run.tree).toEqual({ p: 'cancelled', a: 'completed', b: 'cancelled', g: 'cancelled' });
  });

  it('lets the last commit win for one key of data [PAR-5]', async () => {
    const run = await play({
      blocks: [parallel('p', [[task('a')], [task('b')]])],
      on: { a: ok({ k: 'a', a: 1 }, { takesMs: 20 }), b: ok({ k: 'b', b: 1 }, { takesMs: 10 }) },
    });
    expect(run.instance.data).toEqual({ k: 'a', a: 1, b: 1 });
  });

  it('cancels the other branches at the first failure with fail_fast (RULINGS B25)', async () => {
    const run = await play({
      blocks: [
        tryCatch('t', [
          parallel('p', [[step('a'), step('x')], [sleep('b', 9000), step('c')], [task('w')], []], {
            fail_fast: true,
          }),
        ]),
      ],
      on: { a: fails('no') },
    });
    expect(run.state).toBe('completed');
    expect(run.endedMs).toBe(0);
    expect(run.tree).toEqual({
      t: 'completed',
      p: 'failed',
      a: 'failed',
      x: 'skipped',
      b: 'cancelled',
      c: 'cancelled',
      w: 'cancelled',
    });
    expect(run.frontier.openTasks).toEqual([]);
  });

  it('completes with min_successful branches and cancels the rest (RULINGS B25)', async () => {
    const run = await play({
      blocks: [
        parallel(
          'p',
          [[step('a')], [step('b'), step('x')], [sleep('c', 9000), step('d')], [sleep('e', 50)]],
          {
            min_successful: 2,
          },
        ),
        step('z'),
      ],
      on: { b: fails('no') },
    });
    expect(run.state).toBe('completed');
    expect(run.endedMs).toBe(50);
    expect(run.tree).toEqual({
      p: 'completed',
      a: 'completed',
      b: 'failed',
      x: 'skipped',
      c: 'cancelled',
      d: 'cancelled',
      e: 'completed',
      z: 'completed',
    });
  });

  it('fails when min_successful cannot be reached any more (RULINGS B25)', async () => {
    const run = await play({
      blocks: [parallel('p', [[step('a')], [step('b')]], { min_successful: 2 })],
      on: { b: fails('no') },
    });
    expect(run.state).toBe('failed');
  });

  it('lets gates of different branches wait and be answered on their own [14.2]', async () => {
    const run = await play({
      blocks: [parallel('p', [[gate('g')], [gate('h')]])],
      events: [answerAt(10, 'h', { value: 'yes' }), answerAt(20, 'g', { value: 'no' })],
    });
    expect(run.state).toBe('completed');
    expect(run.called).toEqual(['h', 'g']);
    expect(run.instance.data).toEqual({ g: 'no', h: 'yes' });
  });

  it('lets loops of different branches poll at the same time [LOOP-8]', async () => {
    const run = await play({
      blocks: [
        parallel('p', [
          [loop('l', [step('a')], { poll_interval: 10 })],
          [loop('m', [step('b')], { poll_interval: 3, max_iterations: 3 })],
        ]),
      ],
    });
    expect(run.state).toBe('completed');
    expect(run.called).toEqual(['a@l:0', 'b@m:0', 'b@m:1', 'b@m:2', 'a@l:1']);
    expect(run.endedMs).toBe(10_000);
  });
});
