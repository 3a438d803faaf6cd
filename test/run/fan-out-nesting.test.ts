import { describe, expect, it } from 'vitest';
import {
  type BlockJson,
  child,
  forEach,
  gate,
  loop,
  parallel,
  pure,
  race,
  router,
  saga,
  scope,
  sleep,
  split,
  step,
  task,
  tries,
  tryCatch,
} from './support/blocks.ts';
import { play } from './support/play.ts';
import { type Call, fails, ok, retryably } from './support/script.ts';

const xs = (count: number): number[] => Array.from({ length: count }, (_, item) => item);
const index = ({ iteration }: Call): number => Number(/(\d+)$/.exec(iteration)?.[1] ?? -1);

/** Every kind of leaf that may wait, one after the other. */
const everything: readonly BlockJson[] = [
  step('s', { delay: { duration: 30 }, ...tries(3, 20) }),
  task('w', tries(2, 20)),
  gate('g'),
  child('c', 'kid', { input: { of: '{{item}}' } }),
  sleep('z', 40),
];

const sequences = { kid: { blocks: [step('k'), sleep('ks', 25)] } };
const on = {
  s: (call: Call) =>
    call.attempt < 2 ? retryably('busy', { takesMs: 5 }) : ok(call.iteration, { takesMs: 5 }),
  w: (call: Call) =>
    call.attempt === 0 ? retryably('jam', { takesMs: 7 }) : ok({ [`w${index(call)}`]: true }),
};
const answers = { g: { payload: { value: 'yes' }, afterMs: 15 } };

describe('fan-out in other blocks', () => {
  const around: Readonly<Record<string, (inner: BlockJson) => readonly BlockJson[]>> = {
    'a loop': (inner) => [loop('l', [inner])],
    'a try list': (inner) => [tryCatch('t', [inner], [step('caught')], [step('last')])],
    'a catch list': (inner) => [tryCatch('t', [step('no')], [inner])],
    'a finally list': (inner) => [tryCatch('t', [step('a')], [], [inner])],
    'a race': (inner) => [race('r', [[inner], [sleep('limit', 900_000)]])],
    'a saga action': (inner) => [saga('sg', [[inner, step('undo')], [step('a2')]])],
    'a scope': (inner) => [scope('k', [inner])],
    'a parallel': (inner) => [parallel('p', [[inner], [step('beside')]])],
    'a route': (inner) => [router('ro', [['true', [inner]]])],
    'a variant': (inner) => [
      split('sp', [
        [1, [inner]],
        [0, []],
      ]),
    ],
    'a for_each': (inner) => [forEach('outer', 'ys', [inner], { item_var: 'y' })],
    'a fan-out': (inner) => [forEach('outer', 'ys', [inner], { item_var: 'y', concurrency: 2 })],
  };
  for (const [where, wrap] of Object.entries(around)) {
    it(`runs in ${where}, whatever its items wait for, and wherever the process dies`, async () => {
      const run = await play({
        blocks: [...wrap(forEach('f', 'xs', everything, { concurrency: 2, collect: true })), pure('end')],
        data: { xs: xs(3), ys: [1, 2] },
        sequences,
        answers,
        on: { ...on, no: fails('no') },
      });
      expect(run.state).toBe('completed');
      const passes = where === 'a loop' || where.includes('for_each') || where === 'a fan-out' ? 2 : 1;
      const results = run.rows.filter(({ kind, blockId }) => kind === 'result' && blockId === 'z');
      expect(new Set(results.map(({ iteration }) => iteration)).size).toBe(3 * passes);
      expect(run.rows.filter(({ kind, blockId }) => kind === 'result' && blockId === 'f')).toHaveLength(
        passes,
      );
    });
  }

  it('names its passes by the path that leads to them', async () => {
    const run = await play({
      blocks: [
        forEach('each', 'xs', [forEach('inner', 'ys', [step('a')], { concurrency: 2, item_var: 'y' })], {
          concurrency: 2,
        }),
      ],
      data: { xs: xs(2), ys: xs(2) },
    });
    expect([...run.called].sort()).toEqual([
      'a@each:0/inner:0',
      'a@each:0/inner:1',
      'a@each:1/inner:0',
      'a@each:1/inner:1',
    ]);
    expect(new Set(run.calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(4);
  });

  it('shows both items inside a nested one; an inner name hides an outer one [ITEM-1] [ITEM-2] (chapter 10)', async () => {
    const params = { params: { x: '{{x}}', y: '{{data.y}}' } };
    const run = await play({
      blocks: [
        forEach(
          'o',
          'xs',
          [
            forEach('i', 'ys', [step('a', params)], { concurrency: 2, item_var: 'y' }),
            forEach('h', 'ys', [step('b', params)], { concurrency: 2, item_var: 'x' }),
            step('c', params),
          ],
          { concurrency: 2, item_var: 'x' },
        ),
        step('d', { params: { y: '{{data.y}}' } }),
      ],
      data: { xs: ['p'], ys: ['q', 'r'], y: 'stored' },
    });
    expect(run.calls.map(({ blockId, params: shown }) => [blockId, shown])).toEqual([
      ['a', { x: 'p', y: 'q' }],
      ['a', { x: 'p', y: 'r' }],
      ['b', { x: 'q', y: 'stored' }],
      ['b', { x: 'r', y: 'stored' }],
      ['c', { x: 'p', y: 'stored' }],
      ['d', { y: 'stored' }],
    ]);
    expect(run.instance.data).toEqual({ xs: ['p'], ys: ['q', 'r'], y: 'stored' });
  });

  it('hands its own items to workers and children, and never writes one to the context [ITEM-4]', async () => {
    const run = await play({
      blocks: [
        forEach(
          'f',
          'xs',
          [task('w', { params: { v: '{{item}}' } }), child('c', 'kid', { input: { v: '{{item}}' } })],
          {
            concurrency: 3,
          },
        ),
      ],
      data: { xs: xs(3) },
      sequences,
      on: { w: (call) => ok({ item: `w${index(call)}` }, { takesMs: 10 * (index(call) + 1) }) },
    });
    const tasks = run.calls.filter(({ blockId }) => blockId === 'w');
    expect(tasks.map(({ params, context }) => [params, (context.data as { item: unknown }).item])).toEqual([
      [{ v: 0 }, 0],
      [{ v: 1 }, 1],
      [{ v: 2 }, 2],
    ]);
    const children = (await run.world.store.listChildren(null, run.instance.id)) ?? [];
    expect(children.map(({ data }) => data)).toEqual([{ v: 0 }, { v: 1 }, { v: 2 }]);
    expect(run.instance.data).toEqual({ xs: xs(3), item: 'w2' });
  });

  it('reads outputs of its own item, also those of earlier turns and of inner loops (RULINGS B25)', async () => {
    const run = await play({
      blocks: [
        step('before'),
        forEach(
          'f',
          'xs',
          [
            step('a'),
            loop('l', [step('b', { params: { of: '{{outputs.a}}', counts: '{{outputs.l._iterations}}' } })]),
            sleep('z', 100),
            step('c', { params: { a: '{{outputs.a}}', b: '{{outputs.b}}', before: '{{outputs.before}}' } }),
            step('d', { params: { all: '{{json(outputs)}}' } }),
          ],
          { concurrency: 3 },
        ),
      ],
      data: { xs: xs(3) },
      on: {
        before: ok('first'),
        a: (call) => ok(`a${index(call)}`, { takesMs: 30 - 10 * index(call) }),
        b: (call) => ok(`b@${call.iteration}`),
      },
    });
    const of = (id: string) => run.calls.filter(({ blockId }) => blockId === id).map(({ params }) => params);
    expect(of('c')).toHaveLength(3);
    expect(of('c')).toEqual(
      expect.arrayContaining(xs(3).map((n) => ({ a: `a${n}`, b: `b@f:${n}/l:1`, before: 'first' }))),
    );
    const all = of('d').map(
      (params) => JSON.parse((params as { all: string }).all) as { a: string; c: unknown },
    );
    expect(all.map(({ a }) => a).sort()).toEqual(['a0', 'a1', 'a2']);
    const counts = of('b').map((params) => (params as { counts: unknown }).counts);
    expect(counts.filter((count) => count === 1)).toHaveLength(3);
  });

  it('keeps large items out of its frames and reads them when they are needed', async () => {
    const large = (n: number): { readonly n: number; readonly text: string } => ({
      n,
      text: 'x'.repeat(5000),
    });
    const run = await play({
      blocks: [
        forEach(
          'f',
          'xs',
          [
            step('a', { params: { n: '{{item.n}}' } }),
            sleep('z', 50),
            task('b', { params: { n: '{{item.n}}' } }),
          ],
          {
            concurrency: 2,
          },
        ),
      ],
      data: { xs: [large(1), large(2), large(3)] },
      on: { b: 'silent' },
      untilMs: 60,
    });
    expect(run.frontier.frames.filter(({ detail }) => detail.kind === 'item')).toHaveLength(2);
    expect(JSON.stringify(run.frontier.frames).length).toBeLessThan(5000);
    const shown = run.calls.filter(({ blockId }) => blockId === 'b').map(({ params }) => params);
    expect(shown).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('takes one long collection in pieces, and no more open items than it may', async () => {
    const run = await play({
      blocks: [
        forEach('f', 'xs', [pure('a', { params: { v: '{{item}}' } })], { concurrency: 50, collect: true }),
      ],
      data: { xs: xs(400) },
      on: { a: ({ params }) => ok(params) },
    });
    expect(run.state).toBe('completed');
    expect(run.rows.find(({ kind, blockId }) => kind === 'result' && blockId === 'f')?.output).toEqual(
      xs(400).map((v) => ({ v })),
    );
  });

  it('forgets items with retain_iterations in whatever order they end [EACH-7]', async () => {
    const run = await play({
      blocks: [forEach('f', 'xs', [step('a')], { concurrency: 3, retain_iterations: 2 }), step('z')],
      data: { xs: xs(7) },
      on: { a: (call) => ok(call.iteration, { takesMs: (index(call) * 37) % 50 }) },
    });
    const kept = run.rows.filter(({ kind, blockId }) => kind === 'result' && blockId === 'a');
    const paths = kept.map(({ iteration }) => iteration);
    expect(paths).toEqual(expect.arrayContaining(['f:5', 'f:6']));
    expect(paths.length).toBeLessThanOrEqual(3);
  });
});
