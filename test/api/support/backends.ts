import { afterAll } from 'vitest';
import { createMemoryStore } from '../../../src/adapters/memory/store.ts';
import { createPGliteStoreUnderTest, createPgStoreUnderTest } from '../../postgres/store-database.ts';
import type { StoreUnderTest } from '../../store-contract/store-under-test.ts';
import { START_MS } from './api-fixture.ts';

export type BackendName = 'memory' | 'PGlite' | 'PostgreSQL';

/** A kind of store that the tests of a file run over. */
export interface Backend {
  /** An empty store whose clock stands at START_MS; the one before it may be used no more. */
  fresh(): Promise<StoreUnderTest>;
}

export function useBackend(name: BackendName): Backend {
  let database: StoreUnderTest | undefined;
  afterAll(() => database?.close());
  return {
    fresh: async () => {
      if (name === 'memory') return memoryStore();
      await database?.reset?.();
      database ??= await (name === 'PGlite' ? createPGliteStoreUnderTest() : createPgStoreUnderTest());
      return database;
    },
  };
}

function memoryStore(): StoreUnderTest {
  let now = START_MS;
  const store = createMemoryStore({ now: () => now });
  return {
    store,
    advanceClock: (ms) => {
      now += ms;
      return Promise.resolve();
    },
    close: () => store.close(),
  };
}
