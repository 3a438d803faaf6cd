import { type SQL, and, asc, eq, ne } from 'drizzle-orm';
import type { TimelineRow } from '../../ports/store/history.ts';
import type { Page } from '../../ports/store/page.ts';
import { isUuid } from './call.ts';
import { askTables } from './database.ts';
import type { SqlDriver } from './driver.ts';
import { blockOutputs, taskInstances } from './schema.ts';
import { readOutputRow } from './tables/rows.ts';

/** One row of nulls where an instance has no rows: it is known all the same. */
export async function listTimeline(
  driver: SqlDriver,
  tenantId: string | null,
  id: string,
  { offset, limit }: Page,
): Promise<readonly TimelineRow[] | null> {
  if (!isUuid(id)) return null;
  const known = and(
    eq(taskInstances.id, id),
    tenantId === null ? undefined : eq(taskInstances.tenantId, tenantId),
  );
  const ofInstance = and(
    eq(blockOutputs.instanceId, taskInstances.id),
    eq(blockOutputs.tenantId, taskInstances.tenantId),
    ne(blockOutputs.kind, 'node'),
  );
  const rows = await askTables(driver, tenantId, (tables) =>
    tables
      .select({ row: blockOutputs })
      .from(taskInstances)
      .leftJoin(blockOutputs, ofInstance)
      .where(known)
      .orderBy(asc(blockOutputs.rev), asc(blockOutputs.ordinal))
      .offset(offset)
      .limit(limit),
  );
  if (rows.length === 0 && offset > 0) return (await isKnown(driver, tenantId, known)) ? [] : null;
  if (rows.length === 0) return null;
  return rows.flatMap(({ row }) =>
    row === null ? [] : [{ ...readOutputRow(row), supersededBy: row.supersededBy }],
  );
}

async function isKnown(driver: SqlDriver, tenantId: string | null, known: SQL | undefined): Promise<boolean> {
  const found = await askTables(driver, tenantId, (tables) =>
    tables.select({ id: taskInstances.id }).from(taskInstances).where(known),
  );
  return found.length > 0;
}
