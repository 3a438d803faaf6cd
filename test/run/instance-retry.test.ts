import { describe, expect, it } from 'vitest';
import {
  forEach,
  gate,
  loop,
  parallel,
  pure,
  race,
  router,
  saga,
  sleep,
  split,
  step,
  tries,
  tryCatch,
} from './support/blocks.ts';
import { play, playOnce } from './support/play.ts';
import { answerAt, byRun, cancelAt, fails, ok, retryAt } from './support/script.ts';

const once = byRun(fails('no'), ok('now'));

describe('retry of an instance', () => {
  it('keeps what is completed and runs what failed and what it had skipped [OP-1] [OP-3] [OP-4] [MEMO-1]', async () => {
    const run = await play({
      blocks: [step('a'), step('b', { when: 'false' }), step('x'), step('z')],
      on: { x: once },
      events: [retryAt(100)],
    });
    expect(run.state).toBe('completed');
    expect(run.called).toEqual(['a', 'x', 'x', 'z']);
    expect(run.outputs).toEqual(['a={"from":"a"}', 'x="now"', 'z={"from":"z"}']);
    expect(run.tree).toEqual({ a: 'completed', b: 'skipped', x: 'completed', z: 'completed' });
  });

  it('begins a new run: counters, run id, no _error, no error rows; data stays [OP-2] [CERR-1]', async () => {
    const run = await play({
      blocks: [tryCatch('t', [step('a')]), step('b'), step('x')],
      data: { keep: 1 },
      on: { a: fails('absorbed'), x: once },
      events: [retryAt(100)],
    });
    expect(run.instance.data).toEqual({ keep: 1 });
    expect(run.instance).toMatchObject({ runNo: 2, totalSteps: 1, recoveryCount: 0, failure: null });
    expect(run.rows.map((row) => `${row.blockId} ${row.kind}`)).toEqual(['b result', 'x result']);
  });

  it('can be done again and again', async () => {
    const run = await play({
      blocks: [step('x', tries(2, 10))],
      on: { x: byRun(fails('1'), fails('2'), ok('3')) },
      events: [retryAt(100), retryAt(200)],
    });
    expect([run.state, run.outputs]).toEqual(['completed', ['x="3"']]);
  });

  it('shows pending nodes and running composites before it goes on [OP-3]', async () => {
    const run = await playOnce({
      blocks: [
        step('a'),
        parallel('p', [[step('b'), step('x', { delay: { duration: 500 } }), step('c')], [step('d')]]),
        step('z'),
      ],
      on: { x: once },
      events: [retryAt(1000)],
      untilMs: 1100,
    });
    expect(run.tree).toEqual({
      a: 'completed',
      p: 'running',
      b: 'completed',
      x: 'waiting:delay',
      c: 'pending',
      d: 'completed',
      z: 'pending',
    });
    expect(run.instance.nextFireAt).toBe(run.world.startAt + 1500);
  });

  it('runs only the unfinished branches of a parallel [OP-3]', async () => {
    const run = await play({
      blocks: [parallel('p', [[step('a'), step('x'), step('y')], [step('b')], [step('c'), step('w')]])],
      on: { x: once, w: once },
      events: [retryAt(100)],
    });
    expect(run.called).toEqual(['a', 'b', 'c', 'x', 'w', 'x', 'w', 'y']);
    expect(run.state).toBe('completed');
  });

  it('runs the branches again that fail_fast had cancelled [OP-3]', async () => {
    const run = await play({
      blocks: [
        parallel(
          'p',
          [
            [step('x')],
            [step('a'), sleep('s', 500), step('b')],
            [saga('g', [[step('c')], [sleep('d', 900)]])],
          ],
          {
            fail_fast: true,
          },
        ),
      ],
      on: { x: byRun(fails('no', { takesMs: 50 }), ok()) },
      events: [retryAt(100)],
    });
    expect(run.state).toBe('completed');
    expect(run.called).toEqual(['x', 'a', 'c', 'x', 'b']);
    expect(run.endedMs).toBe(1000);
  });

  it('goes on in the pass of the loop that failed [OP-3]', async () => {
    const run = await play({
      blocks: [loop('l', [step('a'), step('x'), step('b')], { max_iterations: 3 })],
      on: { x: ({ iteration, runNo }) => (iteration === 'l:1' && runNo === 1 ? fails('no') : ok()) },
      events: [retryAt(100)],
    });
    expect(run.called).toEqual([
      'a@l:0',
      'x@l:0',
      'b@l:0',
      'a@l:1',
      'x@l:1',
      'x@l:1',
      'b@l:1',
      'a@l:2',
      'x@l:2',
      'b@l:2',
    ]);
    expect(run.rows.filter((row) => row.kind === 'counter').map((row) => row.attempt)).toEqual([1, 2, 3]);
  });

  it('goes on with the item of the for_each that failed [OP-3]', async () => {
    const run = await play({
      blocks: [
        forEach('f', 'xs', [
          step('a', { params: { v: '{{item}}' } }),
          step('x', { params: { v: '{{item}}' } }),
        ]),
      ],
      data: { xs: ['p', 'q', 'r'] },
      on: { x: ({ iteration, runNo }) => (iteration === 'f:1' && runNo === 1 ? fails('no') : ok()) },
      events: [retryAt(100)],
    });
    expect(run.calls.filter((call) => call.blockId === 'x').map((call) => call.params)).toEqual([
      { v: 'p' },
      { v: 'q' },
      { v: 'q' },
      { v: 'r' },
    ]);
    expect(run.calls.filter((call) => call.blockId === 'a').length).toBe(3);
  });

  it('reads the collection again when that had failed', async () => {
    const run = await play({
      blocks: [forEach('f', '{{ nope.x }}', [step('a')])],
      events: [retryAt(100)],
    });
    expect(run.instance.failure).toMatchObject({ blockId: 'f', error: { code: 'TEMPLATE_ERROR' } });
    expect(run.rows.filter((row) => row.kind === 'error').length).toBe(1);
  });

  it('starts a saga whose rollback ran from its first action again [OP-3]', async () => {
    const run = await play({
      blocks: [saga('g', [[step('a'), step('a_undo')], [step('b'), step('b_undo')], [step('x')]])],
      on: { x: once },
      events: [retryAt(100)],
    });
    expect(run.called).toEqual(['a', 'b', 'x', 'b_undo', 'a_undo', 'a', 'b', 'x']);
    expect(run.tree).toEqual({
      g: 'completed',
      a: 'completed',
      a_undo: 'skipped',
      b: 'completed',
      b_undo: 'skipped',
      x: 'completed',
    });
    expect(run.outputs.length).toBe(3);
  });

  it('resets a try_catch that failed in catch as a whole [OP-3]', async () => {
    const run = await play({
      blocks: [tryCatch('t', [step('a'), step('b')], [step('c')], [step('f')])],
      on: { b: once, c: fails('no') },
      events: [retryAt(100)],
    });
    expect(run.called).toEqual(['a', 'b', 'c', 'f', 'a', 'b', 'f']);
    expect(run.tree).toEqual({
      t: 'completed',
      a: 'completed',
      b: 'completed',
      c: 'skipped',
      f: 'completed',
    });
    expect(run.outputs.length).toBe(3);
  });

  it('goes on in a finally list that failed; try and catch are not run again [OP-3] [OP-4]', async () => {
    const run = await play({
      blocks: [tryCatch('t', [step('a'), step('b')], [step('c')], [step('f'), step('x'), step('h')])],
      on: { b: fails('no'), x: once },
      events: [retryAt(100)],
    });
    expect(run.state).toBe('completed');
    expect(run.called).toEqual(['a', 'b', 'c', 'f', 'x', 'x', 'h']);
  });

  it('keeps the choice of a router and of a split [OP-3] [AB-3]', async () => {
    const run = await play({
      blocks: [
        router(
          'r',
          [
            [
              'data.go',
              [
                split('ab', [
                  [1, [step('a'), step('x')]],
                  [0, []],
                ]),
              ],
            ],
          ],
          [step('b')],
        ),
      ],
      data: { go: true },
      on: { x: once },
      events: [{ at: 50, patch: { data: { go: false } } }, retryAt(100)],
    });
    expect(run.called).toEqual(['a', 'x', 'x']);
    expect(run.rows.filter((row) => row.kind === 'variant').length).toBe(1);
  });

  it('runs a failed race again with all branches that have not drained [OP-3]', async () => {
    const run = await play({
      blocks: [
        race('r', [
          [step('a'), step('x')],
          [step('b'), sleep('s', 900)],
        ]),
      ],
      on: { x: once },
      events: [retryAt(100)],
    });
    expect(run.state).toBe('completed');
    expect(run.called).toEqual(['a', 'b', 'x', 'x']);
    expect(run.tree).toEqual({
      r: 'completed',
      a: 'completed',
      x: 'completed',
      b: 'completed',
      s: 'cancelled',
    });
  });

  it('does not run completed steps again that a failed cancel had left in cancelled composites [OP-4]', async () => {
    const run = await play({
      blocks: [
        parallel('p', [
          [step('x', { cancellable: false }), step('n')],
          [router('r', [['true', [step('a'), sleep('s', 900), step('b')]]])],
          [loop('l', [step('c'), sleep('s2', 900)])],
        ]),
      ],
      on: { x: byRun(fails('no', { takesMs: 200 }), ok()) },
      events: [cancelAt(100), retryAt(500)],
    });
    expect(run.state).toBe('completed');
    expect(run.called.filter((id) => id === 'a' || id === 'c@l:0')).toEqual(['a', 'c@l:0']);
    expect(run.instance.cancelRequestedAt).toBe(null);
  });

  it('opens a gate again that had expired', async () => {
    const run = await play({
      blocks: [gate('g', { timeout: 100 })],
      events: [retryAt(500), answerAt(550, 'g', { value: 'yes' })],
    });
    expect([run.state, run.endedMs]).toEqual(['completed', 550]);
  });

  it('reads outputs of the run before', async () => {
    const run = await play({
      blocks: [pure('a'), step('x', { params: { a: '{{outputs.a.from}}' } })],
      on: { x: once },
      events: [retryAt(100)],
    });
    expect(run.calls.at(-1)?.params).toEqual({ a: 'a' });
  });
});
