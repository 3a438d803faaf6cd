import { expect, it } from 'vitest';
import type { TurnCommit } from '../../src/ports/store/turn.ts';
import { row, turnOf } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

/** Items that run side by side: each is read by its pass, which `each:1` is and `each:10` is not. */
export function describeItems(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  async function committed(...changes: readonly Partial<TurnCommit>[]) {
    const claim = await world.claim(await world.start());
    for (const [rev, change] of changes.entries()) await world.apply(turnOf(claim, { rev, ...change }));
    return { tenantId: claim.tenantId, instanceId: claim.instanceId };
  }

  const at = (blockId: string, iteration: string, output: string) => row({ blockId, iteration, output });

  it('a pass sees its own rows and those of the passes inside it, the latest of each block', async () => {
    const key = await committed(
      { rows: [at('a', 'each:1', 'old'), at('a', 'each:10', 'ten'), at('a', 'each:2', 'two')] },
      { rows: [at('b', 'each:1/loop:0', 'b0'), at('b', 'each:1/loop:1', 'b1'), at('c', '', 'outside')] },
    );
    const wanted = ['a', 'b', 'c', 'gone'].map((blockId) => ({ pass: 'each:1', blockId }));
    const found = await world.store.readOutputsWithin(key, [...wanted, { pass: 'each:2', blockId: 'a' }]);
    expect(found).toHaveLength(3);
    expect(found).toEqual(
      expect.arrayContaining([
        { pass: 'each:1', blockId: 'a', output: 'old' },
        { pass: 'each:1', blockId: 'b', output: 'b1' },
        { pass: 'each:2', blockId: 'a', output: 'two' },
      ]),
    );
    expect(await world.store.readOutputsWithin(key, [])).toEqual([]);
  });

  it('a pass does not see hidden and superseded rows', async () => {
    const rows = [
      at('a', 'each:1', 'gone'),
      row({ blockId: 'b', iteration: 'each:1', kind: 'node', output: {} }),
    ];
    const rule = { blockIds: ['a'], kinds: ['result'], iteration: 'each:1', keepLatest: false } as const;
    const key = await committed({ rows }, { supersede: [rule] });
    const wanted = ['a', 'b'].map((blockId) => ({ pass: 'each:1', blockId }));
    expect(await world.store.readOutputsWithin(key, wanted)).toEqual([]);
    const nodes = await world.store.listNodeRowsWithin(null, key.instanceId, wanted);
    expect(nodes?.map(({ blockId, kind }) => [blockId, kind])).toEqual([['b', 'node']]);
  });

  it('superseding a pass leaves the others alone, also one whose number begins alike [LOOP-10]', async () => {
    const rows = ['each:1', 'each:1/in:0', 'each:10', 'each:11/in:0', 'each:2'].map((path) =>
      at('a', path, path),
    );
    const rule = { blockIds: ['a'], kinds: ['result'], iteration: 'each:1', keepLatest: false } as const;
    const key = await committed({ rows }, { supersede: [rule] });
    const left = (await world.store.listOutputs(null, key.instanceId, { node: true, retry: true })) ?? [];
    expect(left.map(({ iteration }) => iteration)).toEqual(['each:10', 'each:11/in:0', 'each:2']);
  });

  it('node rows are those of one pass, and null for an unknown instance', async () => {
    const key = await committed({
      rows: [at('a', 'each:0', 'x'), at('a', 'each:1', 'y'), at('a', 'each:2', 'z')],
    });
    const wanted = [{ pass: 'each:1', blockId: 'a' }];
    const rows = await world.store.listNodeRowsWithin(key.tenantId, key.instanceId, wanted);
    expect(rows).toMatchObject([{ blockId: 'a', iteration: 'each:1', kind: 'result', node: null }]);
    expect(await world.store.listNodeRowsWithin('another', key.instanceId, wanted)).toBeNull();
    expect(await world.store.listNodeRowsWithin(null, 'no-id', wanted)).toBeNull();
  });

  it('values come by the beginning of their keys, in pages, in the order of the keys', async () => {
    const keyOf = (index: number) => `items:1.failed.1:${String(index).padStart(6, '0')}`;
    const values = [10, 2, 0].map((index) => ({ key: keyOf(index), value: { index } }));
    const other = { key: 'items:1.failed.10:000001', value: {} };
    const key = await committed({
      values: [...values, other, { key: 'items:1', value: [1, 2] }],
      rows: [row({})],
    });
    const prefix = 'items:1.failed.1:';
    const page = (from: number, count: number) =>
      world.store.readValues(key, { prefix, from: keyOf(from), count });
    expect((await page(0, 2)).map(({ value }) => value)).toEqual([{ index: 0 }, { index: 2 }]);
    expect((await page(3, 2)).map(({ value }) => value)).toEqual([{ index: 10 }]);
    expect(await page(11, 2)).toEqual([]);
  });

  it('the block that stands last in the document speaks for an item, and a failure before all (RULINGS B25)', async () => {
    const key = await committed(
      { rows: [at('b', 'each:0', 'b0'), at('a', 'each:1', 'a1'), at('a', 'each:10', 'a10')] },
      { rows: [at('a', 'each:0', 'a0'), at('b', 'each:3', 'b3'), at('x', 'each:2', 'x2')] },
      {
        rows: [at('b', 'each:4/in:0', 'b40'), at('b', 'each:4/in:1', 'b41')],
        values: [{ key: 'f:000003', value: { error: { message: 'no' } } }],
      },
    );
    const query = { start: 'each:', blocks: ['a', 'b'], failed: 'f:' };
    expect(await world.store.readCollected(key, { ...query, from: 0, count: 5 })).toEqual([
      { blockId: 'b', output: 'b0' },
      { blockId: 'a', output: 'a1' },
      null,
      { error: { message: 'no' } },
      { blockId: 'b', output: 'b41' },
    ]);
    expect(await world.store.readCollected(key, { ...query, from: 10, count: 1 })).toEqual([
      { blockId: 'a', output: 'a10' },
    ]);
  });

  it('nothing of an instance is read under the name of another tenant', async () => {
    const key = { ...(await committed({ rows: [at('a', 'each:0', 'x')] })), tenantId: 'another' };
    expect(await world.store.readOutputsWithin(key, [{ pass: 'each:0', blockId: 'a' }])).toEqual([]);
    expect(await world.store.readValues(key, { prefix: '', from: '', count: 5 })).toEqual([]);
    const query = { start: 'each:', from: 0, count: 1, blocks: ['a'], failed: 'f:' };
    const collected = await world.store.readCollected(key, query);
    expect(collected.filter((item) => item !== null)).toEqual([]);
  });
}
