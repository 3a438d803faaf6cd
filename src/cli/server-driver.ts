import type { SqlDriver } from '../adapters/postgres/driver.ts';
import { createPgDriver } from '../adapters/postgres/drivers/pg.ts';
import type { Settings } from '../settings/schema.ts';

/** The way to a PostgreSQL server, as the settings have it. Nothing is connected before the first call. */
export function openServerDriver(
  connectionString: string,
  { databasePooler: pooler, databaseCa: ca }: Settings,
  poolSize: number,
): SqlDriver {
  return createPgDriver({ connectionString, pooler, ...(ca === undefined ? {} : { ca }), poolSize });
}
