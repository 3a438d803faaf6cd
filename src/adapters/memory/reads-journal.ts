import type { JournalRow } from '../../ports/store/reads.ts';
import { type Tx, findInstance } from './database.ts';

/** Newest first. */
export function listJournal(
  { db }: Tx,
  tenantId: string | null,
  id: string,
  limit: number,
): readonly JournalRow[] | null {
  const row = findInstance(db, tenantId, id);
  if (row === null) return null;
  return db.journal
    .of(id)
    .values()
    .toReversed()
    .slice(0, limit)
    .map((entry) => ({ ...entry, instanceId: id, tenantId: row.tenantId, actor: null }));
}
