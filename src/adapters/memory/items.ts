import { type Json, compareCodePoints, member } from '../../core/json.ts';
import { type NodeRow, isVisibleToTemplates } from '../../core/run/output-row.ts';
import type {
  CollectedItem,
  CollectedQuery,
  ItemStore,
  OutputWithin,
  WithinPass,
} from '../../ports/store/items.ts';
import type { InstanceKey } from '../../ports/store/reads.ts';
import { liveRows } from './apply-records.ts';
import { type Run, type Tx, findInstance } from './database.ts';
import type { StoredOutput } from './rows.ts';

export function itemPart(run: Run): ItemStore {
  return {
    readOutputsWithin: (key, wanted) => run((tx) => readOutputsWithin(tx, key, wanted)),
    readValues: (key, range) => run((tx) => readValues(tx, key, range)),
    readCollected: (key, query) => run((tx) => readCollected(tx, key, query)),
    listNodeRowsWithin: (tenantId, id, wanted) => run((tx) => listNodeRowsWithin(tx, tenantId, id, wanted)),
  };
}

function readOutputsWithin(tx: Tx, key: InstanceKey, wanted: readonly WithinPass[]): readonly OutputWithin[] {
  if (findInstance(tx.db, key.tenantId, key.instanceId) === null) return [];
  const rows = liveRows(tx, key.instanceId).filter(({ kind }) => isVisibleToTemplates(kind));
  return wanted.flatMap((one) => {
    const row = latestWithin(rows, one);
    return row === undefined ? [] : [{ ...one, output: row.output }];
  });
}

/** Live rows come oldest first. */
function latestWithin(
  rows: readonly StoredOutput[],
  { pass, blockId }: WithinPass,
): StoredOutput | undefined {
  return rows.findLast((row) => row.blockId === blockId && isWithin(row.iteration, pass));
}

function isWithin(iteration: string, pass: string): boolean {
  return iteration === pass || iteration.startsWith(`${pass}/`);
}

function readValues(
  tx: Tx,
  key: InstanceKey,
  range: { readonly prefix: string; readonly from: string; readonly count: number },
): readonly { readonly key: string; readonly value: Json }[] {
  if (findInstance(tx.db, key.tenantId, key.instanceId) === null) return [];
  return tx.db.values
    .of(key.instanceId)
    .entries()
    .filter(([name]) => name.startsWith(range.prefix) && compareCodePoints(name, range.from) >= 0)
    .sort(([left], [right]) => compareCodePoints(left, right))
    .slice(0, range.count)
    .map(([name, value]) => ({ key: name, value }));
}

function readCollected(tx: Tx, key: InstanceKey, query: CollectedQuery): readonly CollectedItem[] {
  if (findInstance(tx.db, key.tenantId, key.instanceId) === null) return [];
  const rows = liveRows(tx, key.instanceId).filter(({ kind }) => kind === 'result' || kind === 'escalation');
  const values = tx.db.values.of(key.instanceId);
  return Array.from({ length: query.count }, (_, offset) => {
    const index = query.from + offset;
    const failed = values.get(`${query.failed}${String(index).padStart(6, '0')}`);
    if (failed !== undefined) return { error: member(failed, 'error') ?? null };
    const speaker = query.blocks
      .map((blockId) => latestWithin(rows, { blockId, pass: `${query.start}${index}` }))
      .findLast((row) => row !== undefined);
    return speaker === undefined ? null : { blockId: speaker.blockId, output: speaker.output };
  });
}

function listNodeRowsWithin(
  tx: Tx,
  tenantId: string | null,
  id: string,
  wanted: readonly WithinPass[],
): readonly NodeRow[] | null {
  if (findInstance(tx.db, tenantId, id) === null) return null;
  const rows = liveRows(tx, id).filter(({ kind }) => kind === 'result' || kind === 'node');
  return wanted.flatMap((one) => {
    const row = latestWithin(rows, one);
    return row === undefined ? [] : [nodeRowOf(row)];
  });
}

function nodeRowOf({
  blockId,
  iteration,
  kind,
  attempt,
  startedAt,
  createdAt,
  output,
}: StoredOutput): NodeRow {
  const isNode = kind === 'node';
  return {
    blockId,
    iteration,
    kind: isNode ? 'node' : 'result',
    attempt,
    startedAt,
    createdAt,
    node: isNode ? output : null,
  };
}
