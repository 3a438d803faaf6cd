import { afterAll, beforeAll } from 'vitest';
import {
  createNeonStoreUnderTest,
  createPGliteStoreUnderTest,
  createPgStoreUnderTest,
} from '../../postgres/store-database.ts';
import type { StoreUnderTest } from '../../store-contract/store-under-test.ts';
import { type NeonLocal, startNeonLocal } from '../../support/neon-local.ts';
import { promiseStore } from './promise-store.ts';
import type { TestEngineOptions } from './test-engine.ts';

export const DATABASES = ['PostgreSQL', 'PGlite', 'Neon over HTTP'] as const;
export type DatabaseName = (typeof DATABASES)[number];

/** An empty database of this kind for each world, whose clock the world moves. */
export function useDatabase(name: DatabaseName): () => Promise<NonNullable<TestEngineOptions['store']>> {
  let neon: NeonLocal | null = null;
  let underTest: StoreUnderTest | null = null;
  beforeAll(async () => {
    if (name === 'Neon over HTTP') neon = await startNeonLocal();
    underTest = await make[name]();
  });
  afterAll(async () => {
    await underTest?.close();
    await neon?.close();
  });
  return async () => {
    if (underTest === null) throw new Error('the database is not there yet');
    await underTest.reset?.();
    const { store, advanceClock } = underTest;
    return { store: promiseStore(store), advance: (ms) => advanceClock(ms) };
  };
}

const make: Readonly<Record<DatabaseName, () => Promise<StoreUnderTest>>> = {
  PostgreSQL: createPgStoreUnderTest,
  PGlite: createPGliteStoreUnderTest,
  'Neon over HTTP': createNeonStoreUnderTest,
};
