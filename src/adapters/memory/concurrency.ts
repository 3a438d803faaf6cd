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

export function postponeForSlot(tx: Tx, row: InstanceRow, waitMs = SLOT_RETRY_MS): InstanceRow {
  const again = tx.t + waitMs;
  return saveInstance(tx, { ...row, nextFireAt: again, dueAt: again, waitsForSlot: true });
}

/** The others of a full key are put off for longer (30 to 60 s), since a slot that gets free makes the best of all due. */
const OTHERS_RETRY_MS = 45_000;

/** Keys that were found full in one claim, by the lowest limit that was refused. */
export type FullKeys = Map<string, number>;

const keyOf = (row: InstanceRow): string => JSON.stringify([row.tenantId, row.concurrencyKey]);

export function noteFull(full: FullKeys, row: InstanceRow): void {
  const slots = row.maxConcurrency ?? 0;
  full.set(keyOf(row), Math.min(slots, full.get(keyOf(row)) ?? slots));
}

/** True when the row was put off with others of its key, which it need not be claimed for. */
export function putOffWithOthers(tx: Tx, full: FullKeys, row: InstanceRow): boolean {
  if (row.concurrencyKey === null || row.maxConcurrency === null || row.state !== 'scheduled') return false;
  const slots = full.get(keyOf(row));
  const held = row.wakeSeq > row.seenSeq || (row.nextFireAt !== null && row.nextFireAt > tx.t);
  if (slots === undefined || row.maxConcurrency > slots || held) return false;
  postponeForSlot(tx, row, OTHERS_RETRY_MS);
  return true;
}

/** After an instance left `running`: the best of those that wait for a slot is due at once. Answers its id. */
export function releaseSlot(tx: Tx, row: InstanceRow): string | null {
  if (row.concurrencyKey === null) return null;
  const [best] = sameKey(tx, row)
    .filter((other) => other.waitsForSlot && other.state === 'scheduled' && other.leaseToken === null)
    .sort(byPriorityAndDue);
  if (best === undefined) return null;
  saveInstance(tx, { ...best, nextFireAt: tx.t, dueAt: tx.t, waitsForSlot: false });
  return best.id;
}

function sameKey(tx: Tx, row: InstanceRow): InstanceRow[] {
  return tx.db.instances
    .values()
    .filter((other) => other.tenantId === row.tenantId && other.concurrencyKey === row.concurrencyKey);
}
