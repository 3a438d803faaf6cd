import { createMemoryStore } from '../../src/adapters/memory/store.ts';
import { describeStoreContract } from './describe-store-contract.ts';

/** 2027-02-11T08:00:00Z. */
const START_AT = 1_802_332_800_000;

describeStoreContract('memory', () => {
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
});
