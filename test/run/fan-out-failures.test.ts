import { describe, expect, it } from 'vitest';
import { cancelAt, fails, ok, retryAt } from './support/script.ts';
import { child, forEach, parallel, scope, sleep, step, task, tryCatch } from './support/blocks.ts';
import { play } from './support/play.ts';
import type { Call, Reaction } from './support/script.ts';

const index = ({ iteration }: Call): number => Number(/(\d+)$/.exec(iteration)?.[1] ?? -1);

/** Fails in the given items, in the first run only. */
const failsIn =
  (items: readonly number[], takesMs = 0): Reaction =>
  (call) =>
    call.runNo === 1 && items.includes(index(call))
      ? fails('no', { takesMs })
      : ok(call.iteration, { takesMs });

const xs = (count: number): number[] => Array.from({ length: count }, (_, item) => item);

describe('failures of items', () => {
  it('fail the block at once by default; open items are cancelled, the rest is not begun (RULINGS B25)', async () => {
    const run = await play({
      blocks: [
        forEach('f', 'xs', [step('a'), sleep('s', 900), step('z')], {
          concurrency: 3,
          on_item_failure: 'fail',
        }),
      ],
      data: { xs: xs(5) },
      on: { a: failsIn([1]) },
    });
    expect(run.state).toBe('failed');
    expect(run.endedMs).toBe(0);
    expect(run.called).toEqual(['a@f:0', 'a@f:1', 'a@f:2']);
    expect(run.tree).toEqual({ f: 'failed', a: 'failed', s: 'skipped', z: 'skipped' });
    expect(run.nodes.find((node) => node.blockId === 'a')?.iteration).toBe('f:1');
    expect(run.outputs.filter((text) => text.includes('__error__'))).toHaveLength(1);
  });

  it('are outlived with continue: every item runs, and the counters say which failed (RULINGS B25)', async () => {
    for (const concurrency of [1, 2, 9]) {
      const run = await play({
        blocks: [
          forEach('f', 'xs', [step('a'), step('b')], { concurrency, on_item_failure: 'continue' }),
          step('z'),
        ],
        data: { xs: xs(4) },
        on: { a: failsIn([0, 2]) },
      });
      expect(run.state).toBe('completed');
      expect(run.tree['f']).toBe('completed');
      expect([...run.called].sort()).toEqual(['a@f:0', 'a@f:1', 'a@f:2', 'a@f:3', 'b@f:1', 'b@f:3', 'z']);
      const counters = run.rows.filter(({ kind }) => kind === 'counter').map(({ output }) => output);
      expect(counters.at(-1)).toMatchObject({ _index: 4, _total: 4, _failed: 2 });
      const failed = counters.filter((output) => (output as { _item_failed?: boolean })._item_failed);
      expect(failed).toMatchObject([{ _item: 0 }, { _item: 2 }]);
      expect(run.nodes.find(({ blockId }) => blockId === 'f')?.decision).toMatchObject({
        passes: 4,
        total: 4,
        failed: 2,
      });
      expect(run.frontier.frames.filter(({ blockId }) => blockId !== '')).toEqual([]);
    }
  });

  it('fail the block when they are more than tolerate says; then the open items are cancelled (RULINGS B25)', async () => {
    const cases: readonly (readonly [object, number, string])[] = [
      [{ count: 2 }, 2, 'completed'],
      [{ count: 1 }, 2, 'failed'],
      [{ count: 0 }, 1, 'failed'],
      [{ percent: 50 }, 2, 'completed'],
      [{ percent: 49 }, 2, 'failed'],
      [{ percent: 100 }, 4, 'completed'],
    ];
    for (const [tolerate, failures, state] of cases) {
      const run = await play({
        blocks: [forEach('f', 'xs', [step('a'), task('w')], { concurrency: 4, tolerate: { ...tolerate } })],
        data: { xs: xs(4) },
        on: { a: failsIn(xs(failures)), w: ok(null, { takesMs: 50 }) },
      });
      expect([tolerate, run.state]).toEqual([tolerate, state]);
      expect(run.frontier.openTasks).toEqual([]);
    }
  });

  it('can be caught as one failed block [TRY-4]', async () => {
    const run = await play({
      blocks: [
        tryCatch(
          't',
          [forEach('f', 'xs', [step('a')], { concurrency: 2, tolerate: { count: 1 } })],
          [step('c')],
        ),
      ],
      data: { xs: xs(6) },
      on: { a: failsIn([0, 3]) },
    });
    expect(run.state).toBe('completed');
    expect(run.instance.data).toMatchObject({
      _error: { failed_blocks: ['f'], errors: [{ block_id: 'a', message: 'no' }] },
    });
    expect(run.called.at(-1)).toBe('c');
  });

  it('cut open items short, protected or not, with their children and tasks (RULINGS B25)', async () => {
    const run = await play({
      blocks: [
        forEach(
          'f',
          'xs',
          [
            step('a'),
            scope('k', [
              parallel('p', [[task('w')], [child('c', 'long')], [step('h', { cancellable: false })]]),
            ]),
          ],
          { concurrency: 3 },
        ),
      ],
      sequences: { long: { blocks: [sleep('ls', 5000)] } },
      data: { xs: xs(3) },
      on: {
        a: (call) => (index(call) === 2 ? fails('no', { takesMs: 40 }) : ok()),
        h: ok(null, { takesMs: 90 }),
        w: 'silent',
      },
    });
    expect(run.state).toBe('failed');
    expect(run.frontier.openTasks).toEqual([]);
    const children = (await run.world.store.listChildren(null, run.instance.id)) ?? [];
    expect(children.map(({ state }) => state)).toEqual(['cancelled', 'cancelled']);
  });
});

describe('a retry of a fan-out', () => {
  it('goes on with the failed and the unfinished items only [OP-3] [OP-4]', async () => {
    const run = await play({
      blocks: [forEach('f', 'xs', [step('a'), step('b'), step('c')], { concurrency: 2, collect: true })],
      data: { xs: xs(6) },
      on: { b: failsIn([3], 10), a: failsIn([]), c: failsIn([]) },
      events: [retryAt(1000)],
    });
    expect(run.state).toBe('completed');
    const again = run.calls
      .filter(({ runNo }) => runNo > 1)
      .map(({ blockId, iteration }) => `${blockId}@${iteration}`);
    expect(again.filter((call) => /f:[01]$/.test(call))).toEqual([]);
    expect(again).toContain('b@f:3');
    expect(again).not.toContain('a@f:3');
    expect(run.rows.filter(({ kind, blockId }) => kind === 'result' && blockId === 'b')).toHaveLength(6);
    expect(run.rows.find(({ kind, blockId }) => kind === 'result' && blockId === 'f')?.output).toEqual(
      xs(6).map((item) => `f:${item}`),
    );
  });

  it('opens tolerated failures again too, each where it stood, before new items [OP-3]', async () => {
    const run = await play({
      blocks: [
        forEach('f', 'xs', [step('a'), parallel('p', [[step('b')], [step('c')]])], {
          concurrency: 2,
          tolerate: { count: 2 },
          collect: true,
        }),
      ],
      data: { xs: xs(8) },
      on: { b: failsIn([0, 2, 4], 10), a: failsIn([]), c: failsIn([], 20) },
      events: [retryAt(1000)],
    });
    expect(run.state).toBe('completed');
    const again = run.calls
      .filter(({ runNo }) => runNo > 1)
      .map(({ blockId, iteration }) => `${blockId}@${iteration}`);
    expect(again.filter((call) => call.startsWith('b')).slice(0, 3)).toEqual(['b@f:4', 'b@f:0', 'b@f:2']);
    expect(again).not.toContain('a@f:0');
    expect(again).not.toContain('c@f:0');
    expect(again.filter((call) => /f:1$/.test(call))).toEqual([]);
    expect(run.rows.filter(({ kind, blockId }) => kind === 'result' && blockId === 'b')).toHaveLength(8);
    expect(run.rows.find(({ kind, blockId }) => kind === 'result' && blockId === 'f')?.output).toEqual(
      xs(8).map((item) => `f:${item}`),
    );
  });

  it('may fail again and be retried again [OP-3]', async () => {
    const run = await play({
      blocks: [forEach('f', 'xs', [step('a')], { concurrency: 2, tolerate: { count: 1 } })],
      data: { xs: xs(6) },
      on: {
        a: (call) => {
          const item = index(call);
          if (call.runNo === 1) return [0, 3].includes(item) ? fails('one') : ok();
          if (call.runNo === 2) return [0, 3, 5].includes(item) ? fails('two') : ok();
          return ok();
        },
      },
      events: [retryAt(1000), retryAt(2000)],
    });
    expect(run.state).toBe('completed');
    expect(run.calls.filter(({ runNo }) => runNo === 3).map(({ iteration }) => iteration)).toEqual(
      expect.arrayContaining(['f:0', 'f:3']),
    );
    expect(run.rows.filter(({ kind }) => kind === 'result')).toHaveLength(6);
  });

  it('resolves a collection again that could not be resolved [OP-3]', async () => {
    const run = await play({
      blocks: [forEach('f', '{{ data.xs.length.x }}', [step('a')], { concurrency: 2 })],
      data: {},
      events: [{ at: 500, patch: { data: { xs: { length: { x: [1] } } } } }, retryAt(1000)],
    });
    expect(run.state).toBe('completed');
  });
});

describe('a cancel of a fan-out', () => {
  it('opens no further item, cancels what may be cancelled, and lets the protected items end [CAN-2] [CAN-3]', async () => {
    const run = await play({
      blocks: [
        forEach('f', 'xs', [step('a'), scope('k', [step('b')]), step('z')], { concurrency: 2 }),
        step('after'),
      ],
      data: { xs: xs(4) },
      on: {
        a: (call) => ok(null, { takesMs: index(call) === 0 ? 10 : 200 }),
        b: ok(null, { takesMs: 100 }),
      },
      events: [cancelAt(50)],
    });
    expect(run.state).toBe('cancelled');
    expect(run.called).toEqual(['a@f:0', 'a@f:1', 'b@f:0']);
    expect(run.rows.filter(({ kind }) => kind === 'result').map(({ blockId }) => blockId)).toEqual([
      'a',
      'b',
    ]);
    expect(run.endedMs).toBe(110);
  });
});
