import { describe, expect, it } from 'vitest';
import { forEach, pure, step, task } from './support/blocks.ts';
import { play } from './support/play.ts';
import { byPass, fails, ok, reportAt } from './support/script.ts';

const counters = (run: { readonly rows: readonly { kind: string; output: unknown }[] }): unknown[] =>
  run.rows.filter((row) => row.kind === 'counter').map((row) => row.output);

describe('for_each with concurrency', () => {
  it('runs as many items at once as it may, and the next when one has ended (RULINGS B25)', async () => {
    const run = await play({
      blocks: [forEach('f', 'xs', [step('a', { params: { v: '{{item}}' } })], { concurrency: 2 })],
      data: { xs: [1, 2, 3] },
      on: { a: byPass(ok(null, { takesMs: 50 }), ok(null, { takesMs: 10 }), ok(null, { takesMs: 10 })) },
    });
    expect(run.state).toBe('completed');
    expect(run.calls.map(({ iteration, atMs, params }) => [iteration, atMs, params])).toEqual([
      ['f:0', 0, { v: 1 }],
      ['f:1', 0, { v: 2 }],
      ['f:2', 10, { v: 3 }],
    ]);
  });

  it('counts the items that have ended, in whatever order [EACH-3] [EACH-4]', async () => {
    const run = await play({
      blocks: [forEach('f', 'xs', [pure('a')], { concurrency: 3 })],
      data: { xs: [1, 2, 3, 4] },
    });
    expect(counters(run)).toEqual(
      [0, 1, 2, 3, 4].map((_index) => ({
        _index,
        _total: 4,
        _item_var: 'item',
        _snapshot_ref: expect.any(String),
        ...(_index === 0 ? {} : { _item: _index - 1 }),
      })),
    );
  });

  it('fails with the first item that fails and cancels the open ones (RULINGS B25) [EACH-5]', async () => {
    const run = await play({
      blocks: [forEach('f', 'xs', [task('w'), step('b')], { concurrency: 2 })],
      data: { xs: [1, 2, 3] },
      on: { w: 'silent' },
      events: [reportAt(10, 'w', fails('no'))],
    });
    expect(run.state).toBe('failed');
    expect(run.frontier.openTasks).toEqual([]);
    expect(run.called).toEqual(['w@f:0', 'w@f:1']);
  });

  it('sees the outputs of its own item only (RULINGS B25)', async () => {
    const run = await play({
      blocks: [
        forEach(
          'f',
          'xs',
          [step('a', { params: { v: '{{item}}' } }), step('b', { params: { got: '{{outputs.a.v}}' } })],
          { concurrency: 3 },
        ),
        step('z', { params: { last: '{{outputs.a.v}}' } }),
      ],
      data: { xs: [1, 2, 3] },
      on: {
        a: ({ iteration }) => ok({ v: iteration }, { takesMs: iteration === 'f:0' ? 10 : 20 }),
        b: ok(null, { takesMs: 100 }),
      },
    });
    expect(run.calls.filter(({ blockId }) => blockId === 'b').map(({ params }) => params)).toEqual([
      { got: 'f:0' },
      { got: 'f:1' },
      { got: 'f:2' },
    ]);
  });
});
