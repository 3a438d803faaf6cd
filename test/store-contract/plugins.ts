import { expect, it } from 'vitest';
import type { NewPlugin } from '../../src/ports/store/plugins.ts';
import { TENANT } from '../support/turn-builder.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

const plugin = (overrides: Partial<NewPlugin> = {}): NewPlugin => ({
  name: 'resize',
  tenantId: TENANT,
  pluginType: 'wasm',
  source: 'file:///resize.wasm',
  enabled: true,
  config: { limit: 1, deep: [null, 'é'] },
  description: null,
  ...overrides,
});

export function describePlugins(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  it('a plugin is kept under its name in its tenant, also under the empty one', async () => {
    for (const tenantId of [TENANT, '', 'other']) {
      expect(await world.store.insertPlugin(plugin({ tenantId, source: tenantId || 'none' }))).toBe(true);
      expect(await world.store.insertPlugin(plugin({ tenantId }))).toBe(false);
    }
    const now = await world.now();
    expect(await world.store.getPlugin(TENANT, 'resize')).toEqual({
      ...plugin({ source: TENANT }),
      createdAt: now,
      updatedAt: now,
    });
    expect((await world.store.getPlugin(null, 'resize'))?.source).toBe('none');
    expect(await world.store.getPlugin('nobody', 'resize')).toBeNull();
  });

  it('plugins are listed by name, of one type when asked', async () => {
    await world.store.insertPlugin(plugin({ name: 'b' }));
    await world.store.insertPlugin(plugin({ name: 'a', pluginType: 'grpc' }));
    await world.store.insertPlugin(plugin({ name: 'c', tenantId: 'other' }));
    const names = async (tenantId: string | null, pluginType: NewPlugin['pluginType'] | null, limit = 10) =>
      (await world.store.listPlugins({ tenantId, pluginType, limit })).map(({ name }) => name);
    expect(await names(null, null)).toEqual(['a', 'b', 'c']);
    expect(await names(TENANT, null)).toEqual(['a', 'b']);
    expect(await names(TENANT, 'grpc')).toEqual(['a']);
    expect(await names(null, null, 1)).toEqual(['a']);
  });

  it('a change replaces what it names, and a plugin is deleted once', async () => {
    for (const tenantId of [TENANT, '']) {
      await world.store.insertPlugin(plugin({ tenantId, description: 'old' }));
      await world.advance(5);
      const patch = { config: null, enabled: false, description: null };
      const changed = await world.store.updatePlugin(tenantId, 'resize', patch);
      expect(changed).toMatchObject({
        ...patch,
        source: 'file:///resize.wasm',
        updatedAt: await world.now(),
      });
      expect(await world.store.getPlugin(tenantId, 'resize')).toEqual(changed);
      expect(await world.store.updatePlugin('nobody', 'resize', patch)).toBeNull();
      expect(await world.store.deletePlugin('nobody', 'resize')).toBe(false);
      expect(await world.store.deletePlugin(tenantId, 'resize')).toBe(true);
      expect(await world.store.deletePlugin(tenantId, 'resize')).toBe(false);
    }
  });
}
