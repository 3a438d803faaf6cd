import { PGlite } from '@electric-sql/pglite';
import { createNeonDriver } from '../../src/adapters/postgres/drivers/neon.ts';
import { createPgDriver } from '../../src/adapters/postgres/drivers/pg.ts';
import { createPGliteDriver } from '../../src/adapters/postgres/drivers/pglite.ts';
import type { SqlDriver } from '../../src/adapters/postgres/driver.ts';
import { migrate } from '../../src/adapters/postgres/migrate.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import { advanceTestClock, installTestClock } from './test-clock.ts';
import { systemClock } from '../../src/adapters/system.ts';
import type { StoreUnderTest } from '../store-contract/store-under-test.ts';
import { type DatabaseTemplate, createTestDatabase } from '../support/postgres-database.ts';

/** 2027-02-11T08:00:00Z. */
const START_AT = 1_802_332_800_000;

async function migrated(url: string, prepare: (driver: SqlDriver) => Promise<void>): Promise<void> {
  const driver = createPgDriver({ connectionString: url, poolSize: 1 });
  try {
    await migrate(driver);
    await prepare(driver);
  } finally {
    await driver.close();
  }
}

/** A migrated database on the server's own clock. */
export const MIGRATED: DatabaseTemplate = {
  name: 'migrated',
  prepare: (url) => migrated(url, () => Promise.resolve()),
};

/** A migrated database whose clock stands still until a test moves it. */
export const MIGRATED_WITH_TEST_CLOCK: DatabaseTemplate = {
  name: 'migrated_with_test_clock',
  prepare: (url) => migrated(url, (driver) => installTestClock(driver, START_AT)),
};

/** A function with one plain statement per table: their plans are kept, and an empty table costs next to nothing. */
const MAKE_RESET = `
DO $do$
DECLARE
  statements text;
BEGIN
  SELECT string_agg(format('DELETE FROM %s;', c.oid::regclass), ' ') INTO statements
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'stepwell' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relname NOT IN ('schema_migrations', 'test_clock');
  EXECUTE format('CREATE OR REPLACE FUNCTION stepwell.test_reset() RETURNS void LANGUAGE plpgsql AS %L',
    'BEGIN ' || statements || ' UPDATE stepwell.test_clock SET at = stepwell.from_ms(${START_AT}); END');
END $do$`;

/** A store over this driver, whose database has the test clock. Emptying it is cheaper than making a new one. */
export async function storeUnderTest(driver: SqlDriver): Promise<StoreUnderTest> {
  const store = createPostgresStore(driver);
  const session = await driver.openSession();
  await session.run(MAKE_RESET);
  await session.end();
  return {
    store,
    advanceClock: (ms) => advanceTestClock(driver, ms),
    async reset() {
      await driver.query('SELECT stepwell.test_reset()', []);
    },
    close: () => store.close(),
  };
}

export async function createPgStoreUnderTest(): Promise<StoreUnderTest> {
  const database = await createTestDatabase(MIGRATED_WITH_TEST_CLOCK);
  return storeUnderTest(createPgDriver({ connectionString: database.url, poolSize: 4 }));
}

export async function createPGliteStoreUnderTest(): Promise<StoreUnderTest> {
  const driver = createPGliteDriver(await PGlite.create());
  await migrate(driver);
  await installTestClock(driver, START_AT);
  return storeUnderTest(driver);
}

/** Over the stand-in for Neon, which must be running. */
export async function createNeonStoreUnderTest(): Promise<StoreUnderTest> {
  const database = await createTestDatabase(MIGRATED_WITH_TEST_CLOCK);
  return storeUnderTest(createNeonDriver({ connectionString: database.url, clock: systemClock }));
}
