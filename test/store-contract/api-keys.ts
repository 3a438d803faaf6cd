import { expect, it } from 'vitest';
import type { NewApiKey } from '../../src/ports/store/api-keys.ts';
import type { MakeStore } from './store-under-test.ts';
import { useWorld } from './world.ts';

const key = (n: number, overrides: Partial<NewApiKey> = {}): NewApiKey => ({
  id: `ak_${n}`,
  tenantId: 'saltmarsh',
  name: `key ${n}`,
  capabilities: ['worker', 'auditor'],
  secretHash: `hash-${n}`,
  expiresAt: null,
  ...overrides,
});

/** Registers what every store must do with the keys of tenants. */
export function describeApiKeys(makeStore: MakeStore): void {
  const world = useWorld(makeStore);

  it('a key is found by the hash of its secret, and says when it was used, at most once a minute', async () => {
    const { secretHash: _secretHash, ...plain } = key(1);
    const createdAt = await world.now();
    const made = await world.store.insertApiKey(key(1));
    expect(made).toEqual({ ...plain, createdAt, lastUsedAt: null, revoked: false });
    await world.advance(1000);
    const used = { ...made, lastUsedAt: createdAt + 1000 };
    expect(await world.store.useApiKey('hash-1')).toEqual(used);
    await world.advance(59_000);
    expect(await world.store.useApiKey('hash-1')).toEqual(used);
    await world.advance(2000);
    expect(await world.store.useApiKey('hash-1')).toEqual({ ...made, lastUsedAt: createdAt + 62_000 });
    expect(await world.store.useApiKey('hash-2')).toBeNull();
  });

  it('a key that has expired or was revoked is found no more, but is listed', async () => {
    const now = await world.now();
    await world.store.insertApiKey(key(1, { expiresAt: now + 1000 }));
    await world.advance(1);
    await world.store.insertApiKey(key(2));
    expect(await world.store.useApiKey('hash-1')).not.toBeNull();
    await world.advance(999);
    expect(await world.store.useApiKey('hash-1')).toBeNull();
    expect(await world.store.revokeApiKey('ak_2')).toBe(true);
    expect(await world.store.revokeApiKey('ak_2')).toBe(false);
    expect(await world.store.revokeApiKey('ak_9')).toBe(false);
    expect(await world.store.useApiKey('hash-2')).toBeNull();
    const listed = await world.store.listApiKeys('saltmarsh');
    expect(listed.map(({ id, revoked }) => [id, revoked])).toEqual([
      ['ak_2', true],
      ['ak_1', false],
    ]);
    expect(await world.store.listApiKeys('dunes')).toEqual([]);
  });
}
