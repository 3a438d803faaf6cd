import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPgDriver } from '../../src/adapters/postgres/drivers/pg.ts';
import { migrate, SCHEMA_VERSION } from '../../src/adapters/postgres/migrate.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import { describeStoreContract } from '../store-contract/describe-store-contract.ts';
import { type PgBouncer, PGBOUNCER_PROGRAM, startPgBouncer } from '../support/pgbouncer.ts';
import { createTestDatabase } from '../support/postgres-database.ts';
import { startClaimed } from './acts.ts';
import { MIGRATED, MIGRATED_WITH_TEST_CLOCK, storeUnderTest } from './store-database.ts';

/** Everything once more through the real thing, where it is installed; `poolers.test.ts` looks at the wire everywhere. */
describe.runIf(PGBOUNCER_PROGRAM !== '')('behind PgBouncer in transaction mode', () => {
  const opened: PgBouncer[] = [];
  const bouncerBefore = async (url: string, settings: readonly string[] = []): Promise<PgBouncer> => {
    const bouncer = await startPgBouncer(url, settings);
    opened.push(bouncer);
    return bouncer;
  };
  let shared: Promise<PgBouncer> | null = null;
  afterAll(() => Promise.all(opened.map((bouncer) => bouncer.stop())));

  describeStoreContract('PostgreSQL', async () => {
    const { url } = await createTestDatabase(MIGRATED_WITH_TEST_CLOCK);
    shared ??= bouncerBefore(url);
    const connectionString = (await shared).urlOf(url);
    return storeUnderTest(createPgDriver({ connectionString, poolSize: 4, pooler: 'transaction' }));
  });

  describe('that nobody has told of', () => {
    let databaseUrl = '';
    beforeAll(async () => {
      databaseUrl = (await createTestDatabase(MIGRATED)).url;
    });

    it('is noticed by what it refuses at start-up', async () => {
      const bouncer = await bouncerBefore(databaseUrl);
      await runSideBySide(bouncer.urlOf(databaseUrl));
    });

    it('is noticed by its prepared statements when it swallows what it would refuse', async () => {
      const bouncer = await bouncerBefore(databaseUrl, [
        'ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout,options',
      ]);
      await runSideBySide(bouncer.urlOf(databaseUrl));
    });

    it('lets migrations through', async () => {
      const { url } = await createTestDatabase();
      const bouncer = await bouncerBefore(url);
      const driver = createPgDriver({ connectionString: bouncer.urlOf(url), poolSize: 1 });
      expect(await migrate(driver)).toHaveLength(SCHEMA_VERSION);
      await driver.close();
    });
  });
});

/** More clients than it has connections, two processes that know nothing of each other. */
async function runSideBySide(connectionString: string): Promise<void> {
  const stores = [1, 2].map(() =>
    createPostgresStore(createPgDriver({ connectionString, poolSize: 4, idleSessionMs: 60_000 })),
  );
  for (let round = 0; round < 5; round += 1) {
    const claims = await Promise.all(stores.flatMap((store) => [1, 2, 3, 4].map(() => startClaimed(store))));
    const seen = await Promise.all(
      claims.flatMap(({ instanceId }) => stores.map((store) => store.getInstance(null, instanceId))),
    );
    expect(seen.map((instance) => instance?.state)).toEqual(seen.map(() => 'running'));
  }
  await Promise.all(stores.map((store) => store.close()));
}
