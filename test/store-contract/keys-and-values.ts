import { expect, it } from 'vitest';
import type { TurnCommit } from '../../src/ports/store/turn.ts';
import { row, turnOf } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { expectRejected, useWorld } from './world.ts';

export function describeKeysAndValues(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  /** Commits these changes one after the other in one turn; answers the instance's key. */
  async function committed(...changes: readonly Partial<TurnCommit>[]) {
    const claim = await world.claim(await world.start());
    for (const [rev, change] of changes.entries()) await world.apply(turnOf(claim, { rev, ...change }));
    return { tenantId: claim.tenantId, instanceId: claim.instanceId, claim };
  }
  it('history begins with the first row or key', async () => {
    const without = await committed({ stepsDelta: 1, values: [{ key: 'v', value: [] }] });
    const withRow = await committed({ rows: [row()] });
    const withKey = await committed({ kv: [{ key: 'k', value: 1 }] });
    expect((await world.view(without.instanceId)).hasHistory).toBe(false);
    expect((await world.view(withRow.instanceId)).hasHistory).toBe(true);
    expect((await world.view(withKey.instanceId)).hasHistory).toBe(true);
  });

  it('keys are set, replaced and deleted, null is a value', async () => {
    const key = await committed(
      {
        kv: [
          { key: 'a', value: 1 },
          { key: 'b', value: { x: [1] } },
          { key: 'c', value: 3 },
        ],
      },
      {
        kv: [
          { key: 'a', value: null },
          { key: 'c', deleted: true },
          { key: 'never', deleted: true },
        ],
      },
    );
    expect(await world.store.readState(key, 'all')).toEqual(
      new Map<string, unknown>([
        ['a', null],
        ['b', { x: [1] }],
      ]),
    );
    expect(await world.store.readState(key, ['b', 'c', 'unknown'])).toEqual(new Map([['b', { x: [1] }]]));
    expect(await world.store.countState(key)).toBe(2);
  });

  it('reserved keys are read by name only and do not count (handlers.md 1.4)', async () => {
    const key = await committed({
      kv: [
        { key: '__cache__:a', value: 1 },
        { key: '_one', value: 2 },
        { key: '__proto__', value: 3 },
      ],
    });
    expect(await world.store.readState(key, 'all')).toEqual(new Map([['_one', 2]]));
    expect(await world.store.readState(key, ['__cache__:a', '__proto__'])).toEqual(
      new Map([
        ['__cache__:a', 1],
        ['__proto__', 3],
      ]),
    );
    expect(await world.store.countState(key)).toBe(1);
  });

  it('within one commit the last write of a key wins', async () => {
    const key = await committed({
      kv: [
        { key: 'a', value: 1 },
        { key: 'a', value: 2 },
        { key: 'b', value: 1 },
        { key: 'b', deleted: true },
      ],
    });
    expect(await world.store.readState(key, 'all')).toEqual(new Map([['a', 2]]));
  });

  it('elements of a stored collection are read by range [EACH-3]', async () => {
    const items = [0, { one: 1 }, [2], null, 'four'];
    const key = await committed({ values: [{ key: 'each', value: items }] });
    expect(await world.store.readItems(key, 'each', 0, 2)).toEqual([0, { one: 1 }]);
    expect(await world.store.readItems(key, 'each', 2, 100)).toEqual([[2], null, 'four']);
    expect(await world.store.readItems(key, 'each', 5, 1)).toEqual([]);
    expect(await world.store.readItems(key, 'unknown', 0, 1)).toEqual([]);
  });

  it('a stored value never changes', async () => {
    const key = await committed({ values: [{ key: 'each', value: [1] }] });
    const again = turnOf(key.claim, { rev: 1, values: [{ key: 'each', value: [2] }] });
    await expectRejected(world.store.commit([again]));
    expect(await world.store.readItems(key, 'each', 0, 9)).toEqual([1]);
  });

  it('rows, keys and values belong to their instance and tenant', async () => {
    const key = await committed({
      rows: [row()],
      kv: [{ key: 'k', value: 1 }],
      values: [{ key: 'v', value: [1] }],
    });
    const strangers = [
      { ...key, tenantId: 'other' },
      { ...key, instanceId: await world.start() },
    ];
    for (const stranger of strangers) {
      expect(await world.store.readOutputs(stranger, 'all')).toEqual(new Map());
      expect(await world.store.readState(stranger, 'all')).toEqual(new Map());
      expect(await world.store.countState(stranger)).toBe(0);
      expect(await world.store.readItems(stranger, 'v', 0, 1)).toEqual([]);
    }
    expect(await world.store.listOutputs('other', key.instanceId, { node: true, retry: true })).toBeNull();
    expect(await world.store.listNodeRows('other', key.instanceId)).toBeNull();
  });
}
