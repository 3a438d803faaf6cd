import { byPriorityAndDue } from './claim-order.ts';
import { type Tx, saveInstance } from './database.ts';
import type { InstanceRow } from './rows.ts';

/** A refused instance looks again after this long, should nobody release a slot before ([CONC-2]: 1 to 2 s). */
const SLOT_RETRY_MS = 1500;

/** [CONC-1], RULINGS A31: slots are the other `running` rows of the key, counted anew each time; never a counter. */
export function hasFreeSlot(tx: Tx, row: InstanceRow): boolean {
  if (row.concurrencyKey === null || row.maxConcurrency === null) return true;
  return sameKey(tx, row).filter((other) => other.state === 'running').length < row.maxConcurrency;
}

export function postponeForSlot(tx: Tx, row: InstanceRow): InstanceRow {
  const again = tx.t + SLOT_RETRY_MS;
  return saveInstance(tx, { ...row, nextFireAt: again, dueAt: again, waitsForSlot: true });
}

/** After an instance left `running`: the best of those that wait for a slot is due at once. */
export function releaseSlot(tx: Tx, row: InstanceRow): void {
  if (row.concurrencyKey === null) return;
  const [best] = sameKey(tx, row)
    .filter((other) => other.waitsForSlot && other.state === 'scheduled' && other.leaseToken === null)
    .sort(byPriorityAndDue);
  if (best === undefined) return;
  saveInstance(tx, { ...best, nextFireAt: tx.t, dueAt: tx.t, waitsForSlot: false });
}

function sameKey(tx: Tx, row: InstanceRow): InstanceRow[] {
  return tx.db.instances
    .values()
    .filter((other) => other.tenantId === row.tenantId && other.concurrencyKey === row.concurrencyKey);
}
