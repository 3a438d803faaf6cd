import { DrizzleQueryError } from 'drizzle-orm/errors';
import { type PgRemoteDatabase, drizzle } from 'drizzle-orm/pg-proxy';
import { asUnavailable } from './driver.ts';
import type { SqlDriver, SqlParam } from './driver.ts';

/**
 * One statement that drizzle composes, over our driver: one round trip under row-level security, as this tenant, or with null
 * as the engine role, which sees all of them. It fails as `tenantCall` does: drizzle's own error would hide that the database
 * was lost, and shows the values of the statement.
 */
export async function askTables<T>(
  driver: SqlDriver,
  tenantId: string | null,
  compose: (tables: PgRemoteDatabase) => PromiseLike<T>,
): Promise<T> {
  try {
    return await compose(tablesOf(driver, tenantId));
  } catch (error) {
    const isWrapped = error instanceof DrizzleQueryError && error.cause !== undefined;
    throw asUnavailable(isWrapped ? error.cause : error);
  }
}

function tablesOf(driver: SqlDriver, tenantId: string | null): PgRemoteDatabase {
  return drizzle(async (text, params: SqlParam[]) => {
    const rows = await driver.tenantQuery(tenantId, text, params);
    return { rows: rows.map((row) => [...row]) };
  });
}
