import type { Json } from '../../core/json.ts';
import type { HistoryRow, RowRef } from '../../core/run/fold/history-row.ts';
import type { Frame } from '../../core/run/frame.ts';
import type { NewRow, OutputRow } from '../../core/run/output-row.ts';
import type { NewInstance } from './accept.ts';
import type { Frontier, InstanceKey } from './reads.ts';
import type { Page } from './page.ts';
import type { JournalEntry } from './turn.ts';

/** What going back in a run, forks and checks read, and how a fork comes into being. */
export interface HistoryStore {
  /**
   * An instance with its frontier and all its rows, hidden and superseded ones too, as they were at one instant; rows are
   * oldest first. Reads as many rows as the instance has, without the values of results. null: no such instance.
   */
  getHistory(tenantId: string | null, id: string): Promise<History | null>;
  /**
   * What happened in all runs of an instance, oldest first: rows with their values, superseded ones too, without the hidden
   * `node` rows. null: no such instance.
   */
  listTimeline(tenantId: string | null, id: string, page: Page): Promise<readonly TimelineRow[] | null>;
  /**
   * Creates an instance that begins in the middle, in one transaction: the rows are copied with their values, and so are
   * values stored aside and injected blocks. The source is not changed. The same id once more answers as the first time.
   */
  fork(request: ForkRequest): Promise<ForkAnswer>;
}

export interface History extends Frontier {
  readonly rows: readonly HistoryRow[];
}

export interface TimelineRow extends OutputRow {
  /** Number of the run that took the row out of the lists; null while it is in them. */
  readonly supersededBy: number | null;
}

export interface ForkRequest {
  readonly source: InstanceKey;
  /** Scheduled at now; its start input is the source's, whatever this says. */
  readonly instance: NewInstance;
  /** Number of its run: above those of all copied rows. */
  readonly runNo: number;
  /** Rows of the source, oldest first, each with the id that its copy gets. */
  readonly copied: readonly CopiedRow[];
  readonly rows: readonly NewRow[];
  readonly frames: readonly Frame[];
  /** Copies the key/value store as well, provided that the source is still at this rev; null: it is not copied. */
  readonly stateAtRev: number | null;
  /** The first facts of the fork, in order. */
  readonly signals: readonly { readonly id: string; readonly signalType: string; readonly payload: Json }[];
  readonly journal: readonly JournalEntry[];
}

export interface CopiedRow extends RowRef {
  readonly blockId: string;
  readonly copyId: string;
}

/** `moved`: the source has gone on, so its key/value store is not the one that was read. */
export type ForkAnswer = 'created' | 'moved' | 'not_found';
