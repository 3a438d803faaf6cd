import type { InstanceState } from '../../core/run/states.ts';
import type { InstanceView } from './reads.ts';

/**
 * Lists and counts over very many instances. What they read grows with the page, not with the backlog, as long as the filter
 * names a state, a sequence, a key, an id or a time, or metadata that few or very many instances have.
 */
export interface InstanceListStore {
  /** One page; order: the chosen instant descending, then id descending. */
  listInstances(query: ListInstancesQuery): Promise<readonly InstanceView[]>;
  /** As `listInstances`, but the page ends before the instance that would make it longer than `maxBytes`; one comes in any case. */
  pageInstances(query: ListInstancesQuery, maxBytes: number): Promise<InstancePage>;
  /** How many fit the filter, by state; each is counted up to `countedTo` and no further, and 0 where it is not asked for. */
  countInstances(filter: InstanceListFilter, countedTo: number): Promise<StateCounts>;
  /** Instances of these versions that have not ended, each counted up to `countedTo`, in the order of the ids. */
  countLiveRuns(sequenceIds: readonly string[], countedTo: number): Promise<readonly number[]>;
}

export interface InstancePage {
  readonly items: readonly InstanceView[];
  /** Others come behind them. */
  readonly hasMore: boolean;
}

export type StateCounts = Readonly<Record<InstanceState, number>>;

/** null, empty and absent members do not restrict. */
export interface InstanceListFilter {
  readonly tenantId: string | null;
  readonly namespace: string | null;
  readonly sequenceId: string | null;
  readonly states: readonly InstanceState[];
  /** Equality of top-level strings, all of them. */
  readonly metadata: ReadonlyArray<readonly [string, string]>;
  /** Instances of any version of this name, in any namespace. */
  readonly sequenceName?: string | null;
  readonly idempotencyKey?: string | null;
  readonly concurrencyKey?: string | null;
  /** Both ends are UUIDs in lower case and belong to the range. */
  readonly idRange?: { readonly from: string; readonly to: string } | null;
  /** Leaves out what `sub_sequence` blocks have started. */
  readonly rootOnly?: boolean;
  /** Created later than this instant. */
  readonly createdAfter?: number | null;
  /** Created earlier than this instant. */
  readonly createdBefore?: number | null;
}

export interface ListInstancesQuery extends InstanceListFilter {
  /** Default: `updated`. */
  readonly order?: InstanceOrder;
  /** The last instance of the page before, by the instant of the order; absent or null: from the newest. */
  readonly after?: InstancePlace | null;
  readonly limit: number;
  readonly offset: number;
}

export type InstanceOrder = 'updated' | 'created';

export interface InstancePlace {
  readonly at: number;
  readonly id: string;
}
