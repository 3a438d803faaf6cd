import { compareCodePoints, member } from '../../core/json.ts';
import { type InstanceState, isTerminal } from '../../core/run/states.ts';
import type {
  InstanceListFilter,
  InstanceListStore,
  InstancePage,
  ListInstancesQuery,
  StateCounts,
} from '../../ports/store/instance-lists.ts';
import type { InstanceView } from '../../ports/store/reads.ts';
import { bytesOf } from './bounded-run.ts';
import type { Run, Tx } from './database.ts';
import { type InstanceRow, viewOf } from './rows.ts';

export function instanceListPart(run: Run): InstanceListStore {
  return {
    listInstances: (query) => run((tx) => listInstances(tx, query)),
    pageInstances: (query, maxBytes) => run((tx) => pageInstances(tx, query, maxBytes)),
    countInstances: (filter, countedTo) => run((tx) => countInstances(tx, filter, countedTo)),
    countLiveRuns: (sequenceIds, countedTo) => run((tx) => countLiveRuns(tx, sequenceIds, countedTo)),
  };
}

function listInstances(tx: Tx, query: ListInstancesQuery): readonly InstanceView[] {
  const { after = null } = query;
  const placeOf = (row: InstanceRow) => ({
    at: query.order === 'created' ? row.createdAt : row.updatedAt,
    id: row.id,
  });
  const newestFirst = (a: ReturnType<typeof placeOf>, b: ReturnType<typeof placeOf>): number =>
    b.at - a.at || compareCodePoints(b.id, a.id);
  return fitting(tx, query)
    .filter((row) => after === null || newestFirst(after, placeOf(row)) < 0)
    .sort((a, b) => newestFirst(placeOf(a), placeOf(b)))
    .slice(query.offset, query.offset + query.limit)
    .map(viewOf);
}

function pageInstances(tx: Tx, query: ListInstancesQuery, maxBytes: number): InstancePage {
  const found = listInstances(tx, { ...query, limit: query.limit + 1 });
  const asked = found.slice(0, query.limit);
  let bytes = 0;
  const end = asked.findIndex((view, index) => {
    bytes += bytesOf(view);
    return index > 0 && bytes > maxBytes;
  });
  const items = end < 0 ? asked : asked.slice(0, end);
  return { items, hasMore: items.length < found.length };
}

function countInstances(tx: Tx, filter: InstanceListFilter, countedTo: number): StateCounts {
  const rows = fitting(tx, filter);
  const count = (name: InstanceState): number =>
    Math.min(countedTo, rows.filter(({ state }) => state === name).length);
  return {
    scheduled: count('scheduled'),
    running: count('running'),
    waiting: count('waiting'),
    paused: count('paused'),
    completed: count('completed'),
    failed: count('failed'),
    cancelled: count('cancelled'),
  };
}

function countLiveRuns(tx: Tx, sequenceIds: readonly string[], countedTo: number): readonly number[] {
  const live = tx.db.instances.values().filter(({ state }) => !isTerminal(state));
  return sequenceIds.map((id) =>
    Math.min(countedTo, live.filter(({ sequenceId }) => sequenceId === id).length),
  );
}

function fitting(tx: Tx, filter: InstanceListFilter): InstanceRow[] {
  const { sequenceName = null } = filter;
  const isNamed = ({ sequenceId, tenantId }: InstanceRow): boolean => {
    const sequence = tx.db.sequences.get(sequenceId);
    return sequence?.name === sequenceName && (filter.tenantId === null || sequence.tenantId === tenantId);
  };
  return tx.db.instances
    .values()
    .filter((row) => hasNames(row, filter) && isInBounds(row, filter))
    .filter((row) => sequenceName === null || isNamed(row))
    .filter((row) => filter.states.length === 0 || filter.states.includes(row.state))
    .filter((row) => filter.metadata.every(([key, value]) => member(row.metadata, key) === value));
}

/** null in a filter means any. */
function hasNames(row: InstanceRow, filter: InstanceListFilter): boolean {
  const { idempotencyKey = null, concurrencyKey = null } = filter;
  const pairs = [
    [filter.tenantId, row.tenantId],
    [filter.namespace, row.namespace],
    [filter.sequenceId, row.sequenceId],
    [idempotencyKey, row.idempotencyKey],
    [concurrencyKey, row.concurrencyKey],
  ] as const;
  return pairs.every(([wanted, present]) => wanted === null || wanted === present);
}

function isInBounds(row: InstanceRow, filter: InstanceListFilter): boolean {
  const { idRange = null, createdAfter = null, createdBefore = null, rootOnly = false } = filter;
  return (
    (idRange === null || (row.id >= idRange.from && row.id <= idRange.to)) &&
    (createdAfter === null || row.createdAt > createdAfter) &&
    (createdBefore === null || row.createdAt < createdBefore) &&
    (!rootOnly || row.parent === null)
  );
}
