import { expect, it } from 'vitest';
import { EXTERNALIZE_BYTES } from '../../src/core/run/output-row.ts';
import type { WhichRows } from '../../src/ports/store/reads.ts';
import { TENANT, nextId, row, turnOf } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

const LARGE = 'x'.repeat(EXTERNALIZE_BYTES);
/** Just below the size from which an output may be left out: the quotes count. */
const SMALLER = 'x'.repeat(EXTERNALIZE_BYTES - 3);

/** Registers how lists of rows are cut, over any store. */
export function describeOutputLists(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  /** An instance with these outputs, one row each, in two commits. */
  const withOutputs = async (...outputs: readonly string[]): Promise<string> => {
    const claim = await world.claim(await world.start());
    const rows = outputs.map((output, n) =>
      row({ blockId: `b${n}`, iteration: n % 2 === 0 ? '' : 'l:1', output }),
    );
    const half = Math.ceil(rows.length / 2);
    await world.apply(turnOf(claim, { rows: rows.slice(0, half) }));
    await world.apply(turnOf(claim, { rev: claim.instance.rev + 1, rows: rows.slice(half) }));
    return claim.instanceId;
  };
  const list = async (id: string, which: Partial<WhichRows> = {}) =>
    (await world.store.listOutputs(TENANT, id, { node: false, retry: false, ...which })) ?? [];
  const blocks = async (id: string, which: Partial<WhichRows> = {}) =>
    (await list(id, which)).map(({ blockId }) => blockId);

  it('a large output behind the budget is left out, whatever is smaller is not [EXT-1]', async () => {
    const id = await withOutputs(LARGE, LARGE, SMALLER, 'small');
    const rows = await list(id, { inlineBytes: EXTERNALIZE_BYTES + 2 });
    expect(rows.map(({ output, isLeftOut }) => [output, isLeftOut ?? false])).toEqual([
      [LARGE, false],
      [null, true],
      [SMALLER, false],
      ['small', false],
    ]);
    expect(rows[1]?.outputSize).toBe(EXTERNALIZE_BYTES + 2);
  });

  it('without a budget every output is read, and so it is by id and by name [EXT-2]', async () => {
    const id = await withOutputs(LARGE, LARGE);
    const [, second] = await list(id);
    expect(second).toMatchObject({ blockId: 'b1', output: LARGE });
    expect(await world.store.getOutput(TENANT, id, second?.id ?? '')).toEqual(second);
    const read = await world.store.readOutputs({ tenantId: TENANT, instanceId: id }, ['b1']);
    expect(read.get('b1')).toBe(LARGE);
  });

  it('a row by id is found in its instance and its tenant only', async () => {
    const id = await withOutputs('a');
    const other = await withOutputs('b');
    const [mine] = await list(id);
    const rowId = mine?.id ?? '';
    expect(await world.store.getOutput(null, id, rowId)).toEqual(mine);
    expect(await world.store.getOutput('dunes', id, rowId)).toBeNull();
    expect(await world.store.getOutput(TENANT, other, rowId)).toBeNull();
    expect(await world.store.getOutput(TENANT, id, nextId())).toBeNull();
  });

  it('pages lead from any place forwards and backwards, in the order of the rows', async () => {
    const id = await withOutputs('a', 'b', 'c', 'd', 'e');
    const all = await list(id);
    expect(await blocks(id, { limit: 2 })).toEqual(['b0', 'b1']);
    expect(await blocks(id, { after: all[1] ?? null, limit: 2 })).toEqual(['b2', 'b3']);
    expect(await blocks(id, { beforeId: all[3]?.id ?? '', limit: 2 })).toEqual(['b1', 'b2']);
    expect(await blocks(id, { beforeId: all[3]?.id ?? '' })).toEqual(['b0', 'b1', 'b2']);
    expect(await blocks(id, { beforeId: nextId() })).toEqual([]);
  });

  it('rows of one block or one pass are found by it', async () => {
    const id = await withOutputs('a', 'b', 'c', 'd');
    expect(await blocks(id, { blockId: 'b2' })).toEqual(['b2']);
    expect(await blocks(id, { iteration: 'l:1' })).toEqual(['b1', 'b3']);
    expect(await blocks(id, { iteration: '' })).toEqual(['b0', 'b2']);
  });
}
