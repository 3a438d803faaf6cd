import type { HistoryRow } from '../../core/run/fold/history-row.ts';
import type { RowKind } from '../../core/run/output-row.ts';
import type { History } from '../../ports/store/history.ts';
import type { Tx } from './database.ts';
import { getFrontier } from './reads-instances.ts';
import type { StoredOutput } from './rows.ts';

/** Kinds whose values say how far a run is; the others may be large. */
const TOLD: ReadonlySet<RowKind> = new Set(['node', 'counter', 'variant']);

export function getHistory(tx: Tx, tenantId: string | null, id: string): History | null {
  const frontier = getFrontier(tx, tenantId, id);
  if (frontier === null) return null;
  return { ...frontier, rows: tx.db.outputs.of(id).values().map(historyRow) };
}

function historyRow(row: StoredOutput): HistoryRow {
  const { outputSize: _size, instanceId: _instance, output, ...rest } = row;
  return { ...rest, output: TOLD.has(row.kind) ? output : null };
}
