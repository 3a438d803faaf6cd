import { type PgRemoteDatabase, drizzle } from 'drizzle-orm/pg-proxy';
import { asUnavailable } from './driver.ts';
import type { SqlDriver, SqlParam } from './driver.ts';

export type TenantDatabase = PgRemoteDatabase;

/**
 * drizzle over our driver: every statement is one round trip under row-level security, as this tenant, or with null as
 * the engine role, which sees all of them.
 */
export function tenantDatabase(driver: SqlDriver, tenantId: string | null): TenantDatabase {
  return drizzle(async (text, params: SqlParam[]) => {
    try {
      const rows = await driver.tenantQuery(tenantId, text, params);
      return { rows: rows.map((row) => [...row]) };
    } catch (error) {
      throw asUnavailable(error);
    }
  });
}
