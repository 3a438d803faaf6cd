import type { HistoryRow } from '../../core/run/fold/history-row.ts';
import type { Frontier } from './reads.ts';

/** What going back in a run, forks and checks read. */
export interface HistoryStore {
  /**
   * An instance with its frontier and all its rows, hidden and superseded ones too, as they were at one instant; rows are
   * oldest first. Reads as many rows as the instance has, without the values of results. null: no such instance.
   */
  getHistory(tenantId: string | null, id: string): Promise<History | null>;
}

export interface History extends Frontier {
  readonly rows: readonly HistoryRow[];
}
