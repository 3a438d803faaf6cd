import { expect } from 'vitest';
import type { World } from './world.ts';

/** Removes what has expired; the look before must have told whether there is any. */
export async function removeExpired({ store }: Pick<World, 'store'>, limit: number): Promise<number> {
  const { hasExpired } = await store.lookForWork({});
  const removed = await store.removeExpired(limit);
  expect(hasExpired).toBe(removed > 0);
  return removed;
}
