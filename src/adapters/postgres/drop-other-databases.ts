import type { SqlDriver } from './driver.ts';

/**
 * Drops every database of the server but the one we are connected to, PostgreSQL's own templates included. Only for the
 * template of the embedded database: its other databases are half of its files, and the files are what the first start
 * waits for.
 */
export async function dropOtherDatabases(driver: SqlDriver): Promise<void> {
  const session = await driver.openSession();
  try {
    await session.run(
      'UPDATE pg_database SET datistemplate = false, datallowconn = true WHERE datname <> current_database()',
    );
    const names = await session.run(
      'SELECT quote_ident(datname) FROM pg_database WHERE datname <> current_database()',
    );
    for (const [name] of names) await session.run(`DROP DATABASE ${String(name)}`);
    // Without a checkpoint their files would stay until the next one.
    await session.run('CHECKPOINT');
  } finally {
    await session.end();
  }
}
