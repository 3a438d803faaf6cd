import { describe, expect, it } from 'vitest';
import { forEach, pure, step, task } from './support/blocks.ts';
import { play } from './support/play.ts';
import { ok } from './support/script.ts';

describe('context_access', () => {
  const data = { a: 1, b: 2, 'c.d': 3 };
  const full = { data, config: { k: 1 }, audit: [{ e: 1 }] };
  const table: readonly (readonly [string, object | null, object])[] = [
    ['nothing is named', null, full],
    ['an empty object', {}, { data, config: { k: 1 }, audit: [], runtime: {} }],
    ['data true', { data: true }, { data }],
    ['data "all"', { data: 'all' }, { data }],
    ['data false', { data: false }, { data: {} }],
    ['data "none"', { data: 'none' }, { data: {} }],
    ['fields', { data: { fields: ['b', 'c.d', 'zz'] } }, { data: { b: 2, 'c.d': 3 } }],
    ['no fields', { data: { fields: [] } }, { data: {} }],
    ['config false', { config: false }, { config: {} }],
    ['audit true', { audit: true }, { audit: [{ e: 1 }] }],
  ];
  for (const [name, access, expected] of table) {
    it(`shows what it leaves when it says ${name} [ACC-1] [ACC-2] [ACC-3]`, async () => {
      const run = await play({
        blocks: [pure('a', access === null ? {} : { context_access: access as never })],
        data,
        config: { k: 1 },
        audit: [{ e: 1 }],
      });
      const { context } = run.calls[0] ?? {};
      expect(context).toMatchObject(expected);
      expect(context?.data).toEqual('data' in expected ? expected.data : data);
    });
  }

  it('shows data that is no object whole for a field list and as {} for an empty one [ACC-2]', async () => {
    for (const [fields, shown] of [[['x'], 'text'] as const, [[], {}] as const]) {
      const run = await play({
        blocks: [pure('a', { context_access: { data: { fields } } })],
        data: 'text',
      });
      expect(run.calls[0]?.context.data).toEqual(shown);
    }
  });

  it('limits templates too, but not outputs, state and instance_id [TPL-2]', async () => {
    const run = await play({
      blocks: [
        step('x'),
        step('a', {
          context_access: { data: { fields: ['b'] }, config: false },
          params: {
            a: '{{data.a}}',
            b: '{{data.b}}',
            k: '{{config.k}}',
            x: '{{outputs.x.from}}',
            i: '{{instance_id}}',
            r: '{{runtime.run_id}}',
          },
        }),
      ],
      data,
      config: { k: 1 },
    });
    expect(run.calls.at(-1)?.params).toEqual({ a: null, b: 2, k: null, x: 'x', i: run.instance.id, r: null });
  });

  it('the item of a for_each that is not listed is null, by its own name too [ACC-4] [TPL-2]', async () => {
    const params = { root: '{{item}}', key: '{{data.item}}', inner: '{{item.x}}' };
    const run = await play({
      blocks: [
        forEach('f', 'list', [
          pure('hidden', { context_access: { data: { fields: ['list'] } }, params }),
          pure('listed', { context_access: { data: { fields: ['item'] } }, params }),
        ]),
      ],
      data: { list: [{ x: 1 }], item: 'stored' },
    });
    expect(run.state).toBe('completed');
    expect(run.calls.map((call) => call.params)).toEqual([
      { root: null, key: null, inner: null },
      { root: { x: 1 }, key: { x: 1 }, inner: 1 },
    ]);
    expect(run.calls[0]?.context.data).toEqual({ list: [{ x: 1 }] });
  });

  it('gives worker tasks the same view [ACC-4]', async () => {
    const run = await play({
      blocks: [task('w', { context_access: { data: { fields: ['a'] } } })],
      data,
      on: { w: ok() },
    });
    expect(run.calls[0]?.context).toMatchObject({ data: { a: 1 }, config: {}, audit: [], runtime: {} });
  });
});
