import { compareCodePoints } from '../../core/json.ts';
import type { ChangesQuery } from '../../ports/store/changes.ts';
import type { AuditRow } from '../../ports/store/reads.ts';
import type { Tx } from './database.ts';

/** Nothing is ever half written here, so only what may still be stamped with the present instant is held back. */
export function listChanges(tx: Tx, { tenantId, after, limit }: ChangesQuery): readonly AuditRow[] {
  return tx.db.instances
    .values()
    .flatMap(({ id }) => tx.db.audit.of(id).values())
    .filter((row) => row.tenantId === tenantId && row.createdAt < tx.t)
    .sort(byPlace)
    .filter((row) => after === null || byPlace(row, after) > 0)
    .slice(0, limit);
}

interface HasPlace {
  readonly createdAt: number;
  readonly id: string;
}

function byPlace(left: HasPlace, right: HasPlace): number {
  return left.createdAt - right.createdAt || compareCodePoints(left.id, right.id);
}
