import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createPgDriver } from '../../src/adapters/postgres/drivers/pg.ts';
import { SCHEMA_VERSION, migrate } from '../../src/adapters/postgres/migrate.ts';
import { MIGRATIONS } from '../../src/adapters/postgres/migrations.generated.ts';
import { createPostgresStore } from '../../src/adapters/postgres/store.ts';
import { createTestDatabase } from '../support/postgres-database.ts';
import { startNeonLocal } from '../support/neon-local.ts';
import { createNeonDriver } from '../../src/adapters/postgres/drivers/neon.ts';
import { systemClock } from '../../src/adapters/system.ts';

const PROCESSES = 10;

/** A process of its own that migrates and answers with the names of what it applied. */
const MIGRATE_AND_PRINT = `
import { createPgDriver } from './src/adapters/postgres/drivers/pg.ts';
import { migrate } from './src/adapters/postgres/migrate.ts';
const driver = createPgDriver({ connectionString: process.env.DATABASE_URL, poolSize: 1 });
migrate(driver)
  .then((names) => process.stdout.write(JSON.stringify(names)))
  .then(() => driver.close());
`;

function migrateInProcess(url: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn('node_modules/.bin/tsx', ['--input-type=module', '-e', MIGRATE_AND_PRINT], {
      env: { ...process.env, DATABASE_URL: url },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    child.once('exit', (code) => {
      if (code === 0) resolve(JSON.parse(printed));
      else reject(new Error(`a migrating process ended with ${code}`));
    });
  });
}

describe('migrations', () => {
  it('are carried in a module that is as new as the files', () => {
    const names = readdirSync('migrations').toSorted();
    const files = names.map((name) => ({
      version: Number(name.slice(0, 4)),
      name: name.replace('.sql', ''),
      sql: readFileSync(`migrations/${name}`, 'utf8'),
    }));
    expect(MIGRATIONS, 'run node scripts/build-migrations.mjs').toEqual(files);
    expect(SCHEMA_VERSION).toBe(files.length);
  });

  it('make the schema once, however many processes begin on an empty database', async () => {
    const database = await createTestDatabase();
    const applied = await Promise.all(
      Array.from({ length: PROCESSES }, () => migrateInProcess(database.url)),
    );
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
    expect(applied.flat()).toHaveLength(SCHEMA_VERSION);
    const store = createPostgresStore(createPgDriver({ connectionString: database.url, poolSize: 1 }));
    expect((await store.ping()).schemaVersion).toBe(SCHEMA_VERSION);
    await store.close();
    await database.drop();
  });

  it('leave a database alone that is ahead of this build', async () => {
    const database = await createTestDatabase();
    const driver = createPgDriver({ connectionString: database.url, poolSize: 1 });
    await migrate(driver);
    await driver.query(
      "INSERT INTO stepwell.schema_migrations (version, name) VALUES (9999, 'of_a_later_build')",
      [],
    );
    expect(await migrate(driver)).toEqual([]);
    expect((await createPostgresStore(driver).ping()).schemaVersion).toBe(9999);
    await driver.close();
    await database.drop();
  });

  it('leave nothing behind when one of them fails', async () => {
    const database = await createTestDatabase();
    const driver = createPgDriver({ connectionString: database.url, poolSize: 1 });
    await driver.query('CREATE SCHEMA stepwell', []);
    await driver.query('CREATE TABLE stepwell.kv (stranger text)', []);
    await expect(migrate(driver)).rejects.toThrow('migration 0001_tables failed');
    const rows = await driver.query(
      "SELECT count(*)::int FROM pg_class WHERE relnamespace = 'stepwell'::regnamespace",
      [],
    );
    expect(rows).toEqual([[1]]);
    await driver.close();
    await database.drop();
  });

  it('run over a WebSocket where there is no other way to a session', async () => {
    const neonLocal = await startNeonLocal();
    const database = await createTestDatabase();
    const driver = createNeonDriver({ connectionString: database.url, clock: systemClock });
    expect(await migrate(driver)).toHaveLength(SCHEMA_VERSION);
    expect(neonLocal.requestCount()).toBe(0);
    expect(neonLocal.frameCount()).toBeGreaterThan(SCHEMA_VERSION);
    expect((await createPostgresStore(driver).ping()).schemaVersion).toBe(SCHEMA_VERSION);
    expect(neonLocal.requestCount()).toBe(1);
    await driver.close();
    await neonLocal.close();
  });
});
