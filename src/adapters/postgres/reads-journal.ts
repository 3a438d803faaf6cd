import { and, desc, eq } from 'drizzle-orm';
import type { JournalRow } from '../../ports/store/reads.ts';
import { isUuid } from './call.ts';
import { askTables } from './database.ts';
import type { SqlDriver } from './driver.ts';
import { journal, taskInstances } from './schema.ts';
import { readJournalRow } from './tables/rows.ts';

/** Newest first. One statement that begins at the instance: an unknown one gives no row, an empty journal a row of nulls. */
export async function listJournal(
  driver: SqlDriver,
  tenantId: string | null,
  id: string,
  limit: number,
): Promise<readonly JournalRow[] | null> {
  if (!isUuid(id)) return null;
  const ofTenant = tenantId === null ? undefined : eq(taskInstances.tenantId, tenantId);
  const rows = await askTables(driver, tenantId, (tables) =>
    tables
      .select({ row: journal })
      .from(taskInstances)
      .leftJoin(
        journal,
        and(eq(journal.instanceId, taskInstances.id), eq(journal.tenantId, taskInstances.tenantId)),
      )
      .where(and(eq(taskInstances.id, id), ofTenant))
      .orderBy(desc(journal.ordinal))
      .limit(limit),
  );
  return rows.length === 0 ? null : rows.flatMap(({ row }) => (row === null ? [] : [readJournalRow(row)]));
}
