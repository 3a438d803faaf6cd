import type { SqlDriver, SqlSession } from './driver.ts';
import { MIGRATIONS } from './migrations.generated.ts';

export { SCHEMA_VERSION } from './schema-version.generated.ts';

/** Any number; the same in every process that migrates. */
const ADVISORY_LOCK = 7_283_194_506;

// Waiting for another process that migrates is no reason to give up, whatever the role's time-outs are.
const BEGIN = `
BEGIN;
SET LOCAL lock_timeout = 0;
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0;
SELECT pg_advisory_xact_lock(${ADVISORY_LOCK});`;

const PREPARE = `
CREATE SCHEMA IF NOT EXISTS stepwell;
CREATE TABLE IF NOT EXISTS stepwell.schema_migrations (
  version integer PRIMARY KEY,
  name text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
);`;

/**
 * Brings the schema up to this build, forward only, in one transaction: a database is at one version or at the next.
 * Any number of processes may call it at the same time: the advisory lock lets one work and the others find nothing
 * left to do. A database that is ahead of this build is left alone; its functions keep working for older builds.
 *
 * @returns Names of the migrations that this call applied.
 */
export async function migrate(driver: SqlDriver): Promise<readonly string[]> {
  const session = await driver.openSession();
  try {
    await session.run(BEGIN);
    try {
      const names = await applyMissing(session);
      await session.run('COMMIT');
      return names;
    } catch (error) {
      await session.run('ROLLBACK');
      throw error;
    }
  } finally {
    await session.end();
  }
}

async function applyMissing(session: SqlSession): Promise<readonly string[]> {
  await session.run(PREPARE);
  const [row] = await session.run('SELECT coalesce(max(version), 0) FROM stepwell.schema_migrations');
  const present = Number(row?.[0] ?? 0);
  const missing = MIGRATIONS.filter(({ version }) => version > present);
  for (const { version, name, sql } of missing) {
    try {
      await session.run(sql);
    } catch (error) {
      const told = error instanceof Error ? error.message : String(error);
      throw new Error(`migration ${name} failed: ${told}`, { cause: error });
    }
    await session.run(
      `INSERT INTO stepwell.schema_migrations (version, name) VALUES (${version}, '${name}')`,
    );
  }
  return missing.map(({ name }) => name);
}
