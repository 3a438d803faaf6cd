import { and, asc, eq, lt, sql } from 'drizzle-orm';
import type { ChangesQuery } from '../../ports/store/changes.ts';
import type { AuditRow } from '../../ports/store/reads.ts';
import { call } from './call.ts';
import { askTables } from './database.ts';
import type { SqlDriver } from './driver.ts';
import { auditLog } from './schema.ts';
import { readAuditRow } from './tables/rows.ts';

/** Two statements: the horizon has to be older than the snapshot under which the rows are read (RULINGS A34). */
export async function listChanges(
  driver: SqlDriver,
  { tenantId, after, limit }: ChangesQuery,
): Promise<readonly AuditRow[]> {
  const [row] = await call(driver, 'SELECT stepwell.to_ms(stepwell.change_horizon())', []);
  const horizon = Number(row?.[0]);
  const behind =
    after === null
      ? undefined
      : sql`(${auditLog.createdAt}, ${auditLog.id}) > (stepwell.from_ms(${after.createdAt}::bigint), ${after.id}::uuid)`;
  const rows = await askTables(driver, tenantId, (tables) =>
    tables
      .select()
      .from(auditLog)
      .where(and(eq(auditLog.tenantId, tenantId), behind, lt(auditLog.createdAt, horizon)))
      .orderBy(asc(auditLog.createdAt), asc(auditLog.id))
      .limit(limit),
  );
  return rows.map(readAuditRow);
}
