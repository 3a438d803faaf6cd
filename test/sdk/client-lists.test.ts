import { describe, expect, it } from 'vitest';
import { sequence } from '../../src/sdk/index.ts';
import { createWorld } from './support/world.ts';

const named = (name: string) =>
  sequence({ name, blocks: [{ type: 'step', id: 'keep', handler: 'blob_put', params: { text: 'kept' } }] });

describe('lists of the client', () => {
  it('go through all pages, count by state, and show effects and artifacts of a run', async () => {
    const { client, run } = createWorld();
    const { instances, sequences } = client;
    const { id } = await run(named('first'), {});
    await sequences.publish(named('second'));
    for (let count = 0; count < 3; count += 1) await instances.start({ sequence_name: 'second' });
    const seen: string[] = [];
    const query = { order: 'created', limit: 2, root_only: true } as const;
    for await (const instance of instances.listAll(query)) seen.push(instance.id);
    expect(seen).toHaveLength(4);
    expect(seen.at(-1)).toBe(id);
    expect((await instances.list({ sequence_name: 'first', id_prefix: id })).items).toMatchObject([{ id }]);
    const { counts } = await instances.summary({ sequence_name: 'first' });
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(1);
    expect(await instances.effects(id)).toMatchObject([{ block_id: 'keep', kind: 'storage' }]);
    expect((await instances.artifacts(id)).items).toMatchObject([{ size: 4 }]);
  });

  it('name sequences, and their newest version can be promoted and taken back', async () => {
    const { sequences } = createWorld().client;
    await sequences.publish(named('other'));
    const { id } = await sequences.publish({ ...named('parcel'), status: 'staging' });
    expect((await sequences.list({ name: 'parcel' })).items).toMatchObject([{ id, status: 'staging' }]);
    expect(await sequences.promote('parcel')).toEqual({ id, version: 1 });
    await sequences.unpublish('parcel');
    expect(await sequences.get(id)).toMatchObject({ status: 'unpublished', deprecated: true });
    await sequences.unpublish('parcel', { delete: true });
    expect((await sequences.list({ name: 'parcel' })).items).toEqual([]);
  });
});
