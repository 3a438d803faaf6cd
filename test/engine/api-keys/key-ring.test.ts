import { describe, expect, it } from 'vitest';
import { createKeyRing } from '../../../src/engine/api-keys/key-ring.ts';
import { newKeySecret } from '../../../src/engine/api-keys/key-secret.ts';
import type { ApiKey } from '../../../src/ports/store/api-keys.ts';

const SECRET = newKeySecret({ bytes: (length) => new Uint8Array(length).fill(7) });
const KEY: ApiKey = {
  id: 'ak_1',
  tenantId: 'saltmarsh',
  name: 'ci',
  capabilities: ['operator'],
  createdAt: 0,
  expiresAt: null,
  lastUsedAt: null,
  revoked: false,
};
const anyRoom = () => () => undefined;

/** A ring whose look-ups are answered by hand. */
function ringByHand() {
  const lookUps: ((key: ApiKey | null) => void)[] = [];
  const useApiKey = () => new Promise<ApiKey | null>((answer) => lookUps.push(answer));
  const ring = createKeyRing({ useApiKey }, { monotonicMs: () => 0, nowMs: () => 0 });
  return { ring, lookUps };
}

describe('a ring of keys', () => {
  it('remembers no answer that is older than a revocation', async () => {
    const { ring, lookUps } = ringByHand();
    const found = ring.find(SECRET, anyRoom);
    ring.forget();
    lookUps[0]?.(KEY);
    expect(await found).toBe(KEY);
    const after = ring.find(SECRET, anyRoom);
    expect(lookUps).toHaveLength(2);
    lookUps[1]?.(null);
    expect(await after).toBe('wrong');
  });

  it('looks all keys up anew after a revocation, without places for those that were right', async () => {
    const { ring, lookUps } = ringByHand();
    const found = ring.find(SECRET, anyRoom);
    lookUps[0]?.(KEY);
    await found;
    ring.forget();
    const noRoom = () => null;
    const after = ring.find(SECRET, noRoom);
    lookUps[1]?.(null);
    expect(await after).toBe('wrong');
    expect(await ring.find(SECRET, noRoom)).toBe('no_room');
  });

  it('takes a place before it looks, and gives it back to a key that is right', async () => {
    const { ring, lookUps } = ringByHand();
    let places = 1;
    const take = () => {
      if (places === 0) return null;
      places -= 1;
      return () => void (places += 1);
    };
    const found = ring.find(SECRET, take);
    expect(await ring.find(SECRET, take)).toBe('no_room');
    lookUps[0]?.(KEY);
    expect(await found).toBe(KEY);
    expect(places).toBe(1);
  });
});
