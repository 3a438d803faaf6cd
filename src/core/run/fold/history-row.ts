import type { Json } from '../../json.ts';
import type { NewRow } from '../output-row.ts';

/**
 * A row as verifying and going back see it: all kinds, superseded ones too. The value is there for kinds that say how far
 * the run is (`node`, `counter`, `variant`); for all others it stays in the store.
 */
export interface HistoryRow extends Omit<NewRow, 'output' | 'runNo'> {
  /** null where the value was not read. */
  readonly output: Json;
  readonly runNo: number;
  readonly rev: number;
  readonly ordinal: number;
  readonly createdAt: number;
  /** Number of the run that took the row out of the lists; null while it is live. */
  readonly supersededBy: number | null;
}

/** Where a row stands in the history of its instance; unique within it (RULINGS A35). */
export interface RowRef {
  readonly rev: number;
  readonly ordinal: number;
}

export function isLive(row: HistoryRow): boolean {
  return row.supersededBy === null;
}

/** Oldest first. */
export function byOrder(left: RowRef, right: RowRef): number {
  return left.rev - right.rev || left.ordinal - right.ordinal;
}
