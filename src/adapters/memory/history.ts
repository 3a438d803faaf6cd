import { canonicalJson, utf8Bytes } from '../../core/json.ts';
import type { HistoryRow } from '../../core/run/fold/history-row.ts';
import { frameKey } from '../../core/run/frame.ts';
import { CACHE_PREFIX } from '../../core/run/leaf/result-cache.ts';
import type { RowKind } from '../../core/run/output-row.ts';
import type { ForkAnswer, ForkRequest, History, TimelineRow } from '../../ports/store/history.ts';
import type { Page } from '../../ports/store/page.ts';
import { addRow } from './apply-records.ts';
import { type Tx, findInstance, saveInstance } from './database.ts';
import { getFrontier } from './reads-instances.ts';
import { type StoredOutput, stored } from './rows.ts';
import { newInstanceRow } from './start.ts';
import { acceptSignal } from './wake.ts';

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

export function listTimeline(
  tx: Tx,
  tenantId: string | null,
  id: string,
  { offset, limit }: Page,
): readonly TimelineRow[] | null {
  if (findInstance(tx.db, tenantId, id) === null) return null;
  const told = tx.db.outputs
    .of(id)
    .values()
    .filter(({ kind }) => kind !== 'node');
  return told.slice(offset, offset + limit);
}

export function fork(tx: Tx, request: ForkRequest): ForkAnswer {
  const { db } = tx;
  const { source, instance, runNo } = request;
  const from = findInstance(db, source.tenantId, source.instanceId);
  if (from === null || !db.sequences.has(instance.sequenceId)) return 'not_found';
  if (db.instances.has(instance.id)) return 'created';
  if (request.stateAtRev !== null && request.stateAtRev !== from.rev) return 'moved';
  const { originalInput, shape } = from;
  const fresh = newInstanceRow(tx, stored({ ...instance, originalInput }));
  const rowCount = request.copied.length + request.rows.length;
  const begun = { runNo, rev: 1, epoch: 1, hasHistory: rowCount > 0, lastRowAt: tx.t };
  saveInstance(tx, { ...fresh, ...begun, ...(shape === undefined ? {} : { shape }) });
  copyRows(tx, request);
  for (const frame of request.frames) db.frames.of(instance.id).put(frameKey(frame), stored(frame));
  for (const [key, value] of db.values.of(from.id).entries()) db.values.of(instance.id).put(key, value);
  for (const [key, change] of db.shapeChanges.of(from.id).entries()) {
    db.shapeChanges.of(instance.id).put(key, change);
  }
  if (request.stateAtRev !== null) {
    for (const [key, value] of db.kv.of(from.id).entries()) {
      if (!key.startsWith(CACHE_PREFIX)) db.kv.of(instance.id).put(key, value);
    }
  }
  for (const entry of request.journal) {
    db.journal.of(instance.id).put(entry.id, stored({ ...entry, createdAt: tx.t }));
  }
  for (const signal of request.signals) {
    const row = db.instances.get(instance.id);
    if (row !== undefined) acceptSignal(tx, row, signal);
  }
  return 'created';
}

function copyRows(tx: Tx, { source, instance, runNo, copied, rows }: ForkRequest): void {
  const known = new Map(
    tx.db.outputs
      .of(source.instanceId)
      .values()
      .map((row) => [`${row.rev}.${row.ordinal}`, row]),
  );
  const of = { instanceId: instance.id, rev: 1, supersededBy: null };
  copied.forEach(({ rev, ordinal, copyId }, index) => {
    const row = known.get(`${rev}.${ordinal}`);
    if (row === undefined) throw new Error(`the row ${rev}.${ordinal} of ${source.instanceId} is gone`);
    addRow(tx, { ...row, ...of, id: copyId, ordinal: index });
  });
  rows.forEach((row, index) => {
    const outputSize = utf8Bytes(canonicalJson(row.output));
    const at = { ordinal: copied.length + index, createdAt: tx.t, outputSize };
    addRow(tx, { ...stored(row), ...of, ...at, runNo: row.runNo ?? runNo });
  });
}
