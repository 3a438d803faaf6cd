import { describe, expect, it } from 'vitest';
import { forEach, gate, parallel, pure, sleep, step, task, tryCatch } from './support/blocks.ts';
import { play } from './support/play.ts';
import { answerAt, byPass, cancelAt, fails, ok } from './support/script.ts';

const paramsOf = (
  run: { readonly calls: readonly { blockId: string; params: unknown }[] },
  id: string,
): unknown[] => run.calls.filter((call) => call.blockId === id).map((call) => call.params);

describe('for_each', () => {
  const collections: readonly (readonly [string, object, readonly unknown[]])[] = [
    ['people', { people: [1, 2] }, [1, 2]],
    ['orders.open', { orders: { open: ['x'] } }, ['x']],
    ['data.people', { people: [1] }, [1]],
    ['context.data.people', { people: [1] }, [1]],
    ['outputs.make.list', {}, ['o']],
    ['config.rooms', {}, ['r1', 'r2']],
    ['{{ data.people }}', { people: [3] }, [3]],
    ['{{ outputs.make.list }}', {}, ['o']],
    ['data.list', { data: { list: ['under data first'] }, list: ['rooted'] }, ['under data first']],
  ];
  for (const [collection, data, items] of collections) {
    it(`takes its items from ${collection} ${JSON.stringify(data)} [EACH-1]`, async () => {
      const run = await play({
        blocks: [step('make'), forEach('f', collection, [step('a', { params: { v: '{{item}}' } })])],
        data: data as never,
        config: { rooms: ['r1', 'r2'] },
        on: { make: ok({ list: ['o'] }) },
      });
      expect(run.state).toBe('completed');
      expect(paramsOf(run, 'a')).toEqual(items.map((v) => ({ v })));
    });
  }

  it('fails when its template is wrong, permanently and catchably [EACH-1]', async () => {
    const run = await play({ blocks: [tryCatch('t', [forEach('f', '{{ nope.x }}', [step('a')])])] });
    expect(run.state).toBe('completed');
    expect(run.instance.data).toMatchObject({
      _error: { failed_blocks: ['f'], errors: [{ block_id: 'f', code: 'TEMPLATE_ERROR' }] },
    });
    expect(run.tree).toEqual({ t: 'completed', f: 'failed', a: 'skipped' });
  });

  for (const people of [[], null, 'text', { a: 1 }, 7]) {
    it(`completes without a row when the collection is ${JSON.stringify(people)} [EACH-2]`, async () => {
      const run = await play({ blocks: [forEach('f', 'people', [step('a')])], data: { people } });
      expect(run.state).toBe('completed');
      expect(run.outputs).toEqual([]);
      expect(run.tree).toEqual({ f: 'completed', a: 'skipped' });
    });
  }

  it('completes without a row when the collection is missing [EACH-2]', async () => {
    const run = await play({ blocks: [forEach('f', 'people', [step('a')])] });
    expect([run.state, run.outputs]).toEqual(['completed', []]);
  });

  it('cuts the array and never reads it again [EACH-3] [EACH-4]', async () => {
    const run = await play({
      blocks: [
        forEach('f', 'xs', [task('a', { params: { v: '{{item}}' } })], {
          max_iterations: 3,
          item_var: 'item',
        }),
      ],
      data: { xs: [1, 2, 3, 4, 5] },
      on: { a: ok({ xs: ['changed'] }, { takesMs: 10 }) },
    });
    expect(paramsOf(run, 'a')).toEqual([{ v: 1 }, { v: 2 }, { v: 3 }]);
    const rows = run.rows.filter((row) => row.kind === 'counter');
    expect(rows.map((row) => [row.attempt, row.output])).toEqual(
      [0, 1, 2, 3].map((index) => [
        index,
        { _index: index, _total: 3, _item_var: 'item', _snapshot_ref: expect.any(String) },
      ]),
    );
  });

  it('fails at once when a pass fails; no row for that item [EACH-5]', async () => {
    const run = await play({
      blocks: [forEach('f', 'xs', [step('a'), step('b')])],
      data: { xs: [1, 2, 3] },
      on: { a: byPass(ok(), fails('no')) },
    });
    expect(run.state).toBe('failed');
    expect(run.called).toEqual(['a@f:0', 'b@f:0', 'a@f:1']);
    expect(run.rows.filter((row) => row.kind === 'counter').map((row) => row.attempt)).toEqual([0, 1]);
    expect(run.tree).toEqual({ f: 'failed', a: 'failed', b: 'skipped' });
  });

  it('is cancelled with its pass [EACH-5]', async () => {
    const run = await play({
      blocks: [forEach('f', 'xs', [step('a'), sleep('s', 900)])],
      data: { xs: [1, 2] },
      events: [cancelAt(10)],
    });
    expect(run.tree).toEqual({ f: 'cancelled', a: 'completed', s: 'cancelled' });
  });

  it('binds the item inside the body only, over a stored key that stays [ITEM-1] [EACH-6]', async () => {
    const params = { params: { v: '{{data.person}}' } };
    const run = await play({
      blocks: [
        step('x', params),
        forEach('f', 'xs', [step('a', params)], { item_var: 'person' }),
        step('z', params),
      ],
      data: { xs: ['i'], person: 'stored' },
    });
    expect(run.calls.map((call) => [call.blockId, call.params])).toEqual([
      ['x', { v: 'stored' }],
      ['a', { v: 'i' }],
      ['z', { v: 'stored' }],
    ]);
    expect(run.instance.data).toEqual({ xs: ['i'], person: 'stored' });
  });

  it('makes the item a root of its own in templates and expressions [ITEM-2]', async () => {
    const run = await play({
      blocks: [
        forEach(
          'f',
          'xs',
          [
            step('a', {
              when: 'person.ok',
              params: { to: '{{person.email}}', same: '{{data.person.email}}' },
            }),
          ],
          { item_var: 'person' },
        ),
      ],
      data: {
        xs: [
          { email: 'a@x', ok: true },
          { email: 'b@x', ok: false },
        ],
      },
    });
    expect(paramsOf(run, 'a')).toEqual([{ to: 'a@x', same: 'a@x' }]);
  });

  it('writes the stored key, not the binding, when a worker or a signal names it [ITEM-4]', async () => {
    const run = await play({
      blocks: [forEach('f', 'xs', [task('w'), step('a', { params: { v: '{{data.item}}' } })])],
      data: { xs: ['i'] },
      on: { w: ok({ item: 'written' }) },
    });
    expect(paramsOf(run, 'a')).toEqual([{ v: 'i' }]);
    expect(run.instance.data).toEqual({ xs: ['i'], item: 'written' });
  });

  it('shows both items inside a nested one; the inner name hides the outer (chapter 10)', async () => {
    const run = await play({
      blocks: [
        forEach(
          'o',
          'xs',
          [
            forEach('i', '{{data.x.ys}}', [step('a', { params: { x: '{{x.n}}', y: '{{y}}' } })], {
              item_var: 'y',
            }),
            forEach('h', '{{data.x.ys}}', [step('b', { params: { x: '{{x}}' } })], { item_var: 'x' }),
            step('c', { params: { x: '{{x.n}}' } }),
          ],
          { item_var: 'x' },
        ),
      ],
      data: { xs: [{ n: 1, ys: ['p', 'q'] }] },
    });
    expect(run.calls.map((call) => call.params)).toEqual([
      { x: 1, y: 'p' },
      { x: 1, y: 'q' },
      { x: 'p' },
      { x: 'q' },
      { x: 1 },
    ]);
  });

  it('keeps equal names in parallel branches apart (chapter 10) (D7)', async () => {
    const body = (id: string): ReturnType<typeof step>[] => [
      sleep(`s${id}`, 10),
      step(id, { params: { v: '{{item}}' } }),
    ];
    const run = await play({
      blocks: [parallel('p', [[forEach('f', 'xs', body('a'))], [forEach('g', 'ys', body('b'))]])],
      data: { xs: [1, 2], ys: ['u', 'v'] },
    });
    expect(paramsOf(run, 'a')).toEqual([{ v: 1 }, { v: 2 }]);
    expect(paramsOf(run, 'b')).toEqual([{ v: 'u' }, { v: 'v' }]);
  });

  it('asks a gate afresh for each item (chapter 10) [HI-7]', async () => {
    const run = await play({
      blocks: [forEach('f', 'xs', [gate('g')])],
      data: { xs: [1, 2] },
      events: [answerAt(10, 'g', { value: 'yes' }), answerAt(30, 'g', { value: 'no' })],
    });
    expect(run.state).toBe('completed');
    expect(run.outputs.filter((text) => text.includes('_human_gate'))).toEqual([
      'g@f:0={"value":"yes","_human_gate":true}',
      'g@f:1={"value":"no","_human_gate":true}',
    ]);
  });

  it('reads items of a long collection in pieces', async () => {
    const xs = Array.from({ length: 250 }, (_, index) => index);
    const run = await play({
      blocks: [forEach('f', 'xs', [pure('a', { params: { v: '{{item}}' } })], { retain_iterations: 1 })],
      data: { xs },
    });
    expect(run.state).toBe('completed');
    expect(run.rows.filter((row) => row.kind === 'result').map((row) => row.iteration)).toEqual(['f:249']);
    expect(new Set(run.calls.map((call) => JSON.stringify(call.params))).size).toBe(250);
  });

  it('keeps rows with retain_iterations whether its passes are committed one by one or together [EACH-7]', async () => {
    for (const make of [step, pure]) {
      const run = await play({
        blocks: [forEach('f', 'xs', [make('a')], { retain_iterations: 2 })],
        data: { xs: [1, 2, 3, 4] },
      });
      expect(run.rows.filter((row) => row.kind === 'result').map((row) => row.iteration)).toEqual([
        'f:2',
        'f:3',
      ]);
    }
  });

  it('reads a collection with items that look like templates as they are', async () => {
    const run = await play({
      blocks: [forEach('f', 'xs', [step('a', { params: { v: '{{item}}' } })])],
      data: { xs: ['{{data.secret}}'], secret: 's' },
    });
    expect(paramsOf(run, 'a')).toEqual([{ v: '{{data.secret}}' }]);
  });
});
