import { describe, expect, it } from 'vitest';
import { child, forEach, parallel, race, saga, sleep, step, task, tryCatch } from './support/blocks.ts';
import { play } from './support/play.ts';
import { type Call, cancelAt, fails, ok, retryAt, signal } from './support/script.ts';

const xs = (count: number): number[] => Array.from({ length: count }, (_, item) => item);
const index = ({ iteration }: Call): number => Number(/(\d+)$/.exec(iteration)?.[1] ?? -1);

describe('fan-out and operators', () => {
  it('is paused and resumed between items', async () => {
    const run = await play({
      blocks: [forEach('f', 'xs', [step('a'), sleep('s', 40)], { concurrency: 2 })],
      data: { xs: xs(6) },
      on: { a: ok(null, { takesMs: 10 }) },
      events: [signal(25, 'pause'), signal(10_000, 'resume')],
    });
    expect(run.state).toBe('completed');
    expect(run.called).toHaveLength(6);
    expect(run.calls.filter(({ atMs }) => atMs > 60 && atMs < 10_000)).toEqual([]);
  });

  it('is cancelled inside a race that another branch wins, with its tasks and children', async () => {
    const run = await play({
      blocks: [
        race('r', [
          [forEach('f', 'xs', [parallel('p', [[task('w')], [child('c', 'kid')]])], { concurrency: 3 })],
          [sleep('limit', 10)],
        ]),
      ],
      data: { xs: xs(5) },
      sequences: { kid: { blocks: [sleep('ks', 5000)] } },
      on: { w: 'silent' },
    });
    expect(run.state).toBe('completed');
    expect(run.frontier.openTasks).toEqual([]);
    const children = (await run.world.store.listChildren(null, run.instance.id)) ?? [];
    expect(children.map(({ state }) => state)).toEqual(['cancelled', 'cancelled', 'cancelled']);
  });

  it('rolls the saga around it back when an item fails, after the others were cancelled', async () => {
    const run = await play({
      blocks: [
        saga('sg', [
          [step('a1'), step('u1')],
          [forEach('f', 'xs', [step('a2'), task('w')], { concurrency: 3 }), step('u2')],
        ]),
      ],
      data: { xs: xs(3) },
      on: { a2: (call) => (index(call) === 1 ? fails('no', { takesMs: 20 }) : ok()), w: 'silent' },
    });
    expect(run.state).toBe('failed');
    expect(run.called.at(-1)).toBe('u1');
    expect(run.frontier.openTasks).toEqual([]);
  });

  it('lets a cancel drain protected leaves of several items at once [CAN-3] [CAN-8]', async () => {
    const run = await play({
      blocks: [
        forEach('f', 'xs', [tryCatch('t', [step('a')], [], [step('last')]), step('after')], {
          concurrency: 3,
        }),
      ],
      data: { xs: xs(4) },
      on: { a: ok(null, { takesMs: 500 }), last: ok(null, { takesMs: 30 }) },
      events: [cancelAt(100)],
    });
    expect(run.state).toBe('cancelled');
    expect(run.called.filter((call) => call.startsWith('last'))).toEqual([
      'last@f:0',
      'last@f:1',
      'last@f:2',
    ]);
    expect(run.called.filter((call) => call.startsWith('after') || call.endsWith('f:3'))).toEqual([]);
  });

  it('goes on where it stood in each level after a retry of nested fan-outs [OP-3] [OP-4]', async () => {
    const run = await play({
      blocks: [
        forEach(
          'o',
          'xs',
          [
            step('a'),
            forEach('i', 'ys', [step('b'), step('c')], {
              concurrency: 2,
              item_var: 'y',
              tolerate: { count: 1 },
            }),
          ],
          { concurrency: 2, tolerate: { count: 1 } },
        ),
        step('z'),
      ],
      data: { xs: xs(4), ys: xs(4) },
      on: {
        c: (call) =>
          call.runNo === 1 && /o:[02]\/i:[13]$/.test(call.iteration) ? fails('no') : ok(call.iteration),
      },
      events: [retryAt(5000)],
    });
    expect(run.state).toBe('completed');
    for (const id of ['a', 'b', 'c']) {
      const results = run.rows.filter(({ kind, blockId }) => kind === 'result' && blockId === id);
      expect(new Set(results.map(({ iteration }) => iteration)).size).toBe(id === 'a' ? 4 : 16);
      expect(results).toHaveLength(id === 'a' ? 4 : 16);
    }
    const again = run.calls.filter(({ runNo, blockId }) => runNo > 1 && blockId === 'b');
    const before = new Set(
      run.calls.filter(({ runNo }) => runNo === 1).map(({ blockId, iteration }) => `${blockId}@${iteration}`),
    );
    expect(again.filter(({ blockId, iteration }) => before.has(`${blockId}@${iteration}`))).toEqual([]);
  });

  it('passes waits in a dry run and collects the stubs (chapter 19)', async () => {
    const run = await play({
      blocks: [forEach('f', 'xs', [task('w'), sleep('z', 5000)], { concurrency: 2, collect: true })],
      data: { xs: xs(3) },
      dryRun: true,
    });
    expect(run.state).toBe('completed');
    expect(run.frontier.openTasks).toEqual([]);
  });
});
