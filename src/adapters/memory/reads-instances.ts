import { type Json, compareCodePoints, isJsonArray } from '../../core/json.ts';
import {
  EXTERNALIZE_BYTES,
  type NodeRow,
  type OutputRow,
  isVisibleToTemplates,
} from '../../core/run/output-row.ts';
import type {
  AuditRow,
  Frontier,
  GateItem,
  InstanceKey,
  InstanceView,
  ListGatesQuery,
  WhichRows,
} from '../../ports/store/reads.ts';
import type { Page } from '../../ports/store/page.ts';
import type { StepLogLine } from '../../ports/store/turn.ts';
import { pageOf } from './page-of.ts';
import { liveRows } from './apply-records.ts';
import { type Tx, findInstance, framesOf, openTasks } from './database.ts';
import { type InstanceRow, type StoredOutput, viewOf } from './rows.ts';
import { oldestFirst, taskView } from './tasks.ts';
import { inboxAbove } from './wake.ts';

/** Keys that begin so belong to the engine (handlers.md 1.4). */
const RESERVED_PREFIX = '__';

export function readOutputs(
  tx: Tx,
  key: InstanceKey,
  blockIds: readonly string[] | 'all',
): ReadonlyMap<string, Json> {
  const latest = new Map<string, Json>();
  if (findInstance(tx.db, key.tenantId, key.instanceId) === null) return latest;
  for (const row of liveRows(tx, key.instanceId)) {
    if (!isVisibleToTemplates(row.kind) || (blockIds !== 'all' && !blockIds.includes(row.blockId))) continue;
    latest.set(row.blockId, row.output);
  }
  return latest;
}

export function readState(
  tx: Tx,
  key: InstanceKey,
  keys: readonly string[] | 'all',
): ReadonlyMap<string, Json> {
  if (findInstance(tx.db, key.tenantId, key.instanceId) === null) return new Map();
  return new Map(
    tx.db.kv
      .of(key.instanceId)
      .entries()
      .filter(([name]) => (keys === 'all' ? !name.startsWith(RESERVED_PREFIX) : keys.includes(name))),
  );
}

export function countState(tx: Tx, key: InstanceKey): number {
  return readState(tx, key, 'all').size;
}

export function readItems(
  tx: Tx,
  key: InstanceKey,
  snapshotKey: string,
  range: { readonly from: number; readonly count: number },
): readonly Json[] {
  if (findInstance(tx.db, key.tenantId, key.instanceId) === null) return [];
  const value = tx.db.values.of(key.instanceId).get(snapshotKey);
  return isJsonArray(value) ? value.slice(range.from, range.from + range.count) : [];
}

export function getInstance(tx: Tx, tenantId: string | null, id: string): InstanceView | null {
  const row = findInstance(tx.db, tenantId, id);
  return row === null ? null : viewOf(row);
}

/** null in a filter means any. */
function matches(
  row: InstanceRow,
  filter: Pick<ListGatesQuery, 'tenantId' | 'namespace' | 'sequenceId'>,
): boolean {
  return (
    (filter.tenantId === null || row.tenantId === filter.tenantId) &&
    (filter.namespace === null || row.namespace === filter.namespace) &&
    (filter.sequenceId === null || row.sequenceId === filter.sequenceId)
  );
}

export function listOutputs(
  tx: Tx,
  tenantId: string | null,
  id: string,
  which: WhichRows,
): readonly OutputRow[] | null {
  if (findInstance(tx.db, tenantId, id) === null) return null;
  const rows = liveRows(tx, id).filter((row) => isWanted(row, which));
  const before = which.beforeId ?? null;
  if (before === null) return leaveOut(within(rows.slice(0, which.limit), which), which);
  const end = rows.findIndex((row) => row.id === before);
  const older = end < 0 ? [] : rows.slice(0, end);
  const newest = which.limit === undefined ? older : older.slice(Math.max(0, older.length - which.limit));
  return leaveOut(within(newest.reverse(), which).reverse(), which);
}

export function getOutput(tx: Tx, tenantId: string | null, id: string, rowId: string): OutputRow | null {
  if (findInstance(tx.db, tenantId, id) === null) return null;
  const row = liveRows(tx, id).find((candidate) => candidate.id === rowId);
  return row === undefined ? null : outputView(row);
}

function isWanted(
  row: StoredOutput,
  { node, retry, after = null, blockId = null, iteration = null }: WhichRows,
): boolean {
  if ((row.kind === 'node' && !node) || (row.kind === 'retry' && !retry)) return false;
  if (blockId !== null && row.blockId !== blockId) return false;
  if (iteration !== null && row.iteration !== iteration) return false;
  return after === null || row.rev > after.rev || (row.rev === after.rev && row.ordinal > after.ordinal);
}

/** The first of these rows that are not too long together. */
function within(rows: readonly StoredOutput[], { maxBytes }: WhichRows): StoredOutput[] {
  let bytes = 0;
  const end = rows.findIndex((row, index) => {
    bytes += row.outputSize;
    return index > 0 && maxBytes !== undefined && bytes > maxBytes;
  });
  return rows.slice(0, end < 0 ? rows.length : end);
}

function leaveOut(
  rows: readonly StoredOutput[],
  { inlineBytes = Number.POSITIVE_INFINITY }: WhichRows,
): OutputRow[] {
  let bytes = 0;
  return rows.map((row) => {
    bytes += row.outputSize;
    const isLeftOut = row.outputSize >= EXTERNALIZE_BYTES && bytes > inlineBytes;
    return isLeftOut ? { ...outputView(row), output: null, isLeftOut } : outputView(row);
  });
}

function outputView({ supersededBy: _by, ...row }: StoredOutput): OutputRow {
  return row;
}

export function listNodeRows(tx: Tx, tenantId: string | null, id: string): readonly NodeRow[] | null {
  if (findInstance(tx.db, tenantId, id) === null) return null;
  const latest = new Map<string, NodeRow>();
  for (const { blockId, iteration, kind, attempt, startedAt, createdAt, output } of liveRows(tx, id)) {
    if (kind !== 'result' && kind !== 'node') continue;
    const node = kind === 'node' ? output : null;
    latest.set(blockId, { blockId, iteration, kind, attempt, startedAt, createdAt, node });
  }
  return [...latest.values()];
}

export function getFrontier(tx: Tx, tenantId: string | null, id: string): Frontier | null {
  const row = findInstance(tx.db, tenantId, id);
  if (row === null) return null;
  return {
    instance: viewOf(row),
    frames: framesOf(tx.db, id),
    inbox: inboxAbove(tx, id, 0),
    openTasks: openTasks(tx.db, id).sort(oldestFirst).map(taskView),
    now: tx.t,
  };
}

/** Oldest first. */
export function listChildren(
  tx: Tx,
  tenantId: string | null,
  id: string,
  page?: Page,
): readonly InstanceView[] | null {
  if (findInstance(tx.db, tenantId, id) === null) return null;
  const children = tx.db.children
    .of(id)
    .values()
    .flatMap((childId) => tx.db.instances.get(childId) ?? [])
    .sort((a, b) => a.createdAt - b.createdAt || compareCodePoints(a.id, b.id));
  return pageOf(children, page).map(viewOf);
}

/** Newest first (http-api.md 5.4). */
export function listAudit(
  tx: Tx,
  tenantId: string | null,
  id: string,
  limit: number,
): readonly AuditRow[] | null {
  if (findInstance(tx.db, tenantId, id) === null) return null;
  return tx.db.audit.of(id).values().reverse().slice(0, limit);
}

/** Ordered by their instants, then as they were written. */
export function listLogs(
  tx: Tx,
  tenantId: string | null,
  id: string,
  limit: number,
): readonly StepLogLine[] | null {
  if (findInstance(tx.db, tenantId, id) === null) return null;
  return tx.db.logs
    .of(id)
    .values()
    .sort((a, b) => a.at - b.at)
    .slice(0, limit);
}

export function listOpenGates(
  tx: Tx,
  query: ListGatesQuery,
): { readonly items: readonly GateItem[]; readonly total: number } {
  const gates = tx.db.instances
    .values()
    .filter((row) => matches(row, query) && (query.instanceId === null || row.id === query.instanceId))
    .filter((row) => row.state === 'waiting' || row.state === 'scheduled')
    .sort((a, b) => b.createdAt - a.createdAt || compareCodePoints(b.id, a.id))
    .flatMap((row) => gatesOf(tx, row));
  if (query.order === 'deadline') gates.sort((a, b) => deadlineOf(a) - deadlineOf(b));
  return { items: gates.slice(query.offset, query.offset + query.limit), total: gates.length };
}

/** Gates without a time-out come last. */
function deadlineOf({ frame }: GateItem): number {
  const gate = frame.leaf?.gate ?? null;
  // No difference of infinities, which is no number.
  if (gate === null || gate.timeoutMs === null) return Number.MAX_SAFE_INTEGER;
  return gate.openedAt + gate.timeoutMs;
}

function gatesOf(tx: Tx, row: InstanceRow): GateItem[] {
  const sequenceName = tx.db.sequences.get(row.sequenceId)?.name ?? '';
  return tx.db.frames
    .of(row.id)
    .values()
    .filter(({ leaf }) => leaf?.state === 'waiting' && leaf.gate !== null)
    .map((frame) => ({ instance: viewOf(row), sequenceName, frame }));
}
