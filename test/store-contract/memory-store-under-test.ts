import { createMemoryStore } from '../../src/adapters/memory/store.ts';
import type { StoreUnderTest } from './store-under-test.ts';

/** 2027-02-11T08:00:00Z. */
const START_AT = 1_802_332_800_000;

export function createMemoryStoreUnderTest(): Promise<StoreUnderTest> {
  let now = START_AT;
  const store = createMemoryStore({ now: () => now });
  return Promise.resolve({
    store,
    advanceClock(ms: number): Promise<void> {
      now += ms;
      return Promise.resolve();
    },
    close: () => store.close(),
  });
}
