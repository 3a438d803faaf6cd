import { type Json, member } from '../../json.ts';
import { type Plan, type PlanNode, outerIteration } from '../plan.ts';
import { type HistoryRow, byOrder } from './history-row.ts';

/** Rows of a run by block and pass. */
export interface Records {
  /** The row that says how the block ended in this pass; undefined while it has not. */
  endOf(blockId: string, iteration: string): HistoryRow | undefined;
  /** The row that says what the block chose when it was entered ([ROUTE-2]). */
  choiceOf(blockId: string, iteration: string): HistoryRow | undefined;
  /** The newest counter of a loop or for_each. */
  counterOf(blockId: string, iteration: string): HistoryRow | undefined;
  /** All counters of a for_each whose items have frames of their own, oldest first. */
  countersOf(blockId: string, iteration: string): readonly HistoryRow[];
  variantOf(blockId: string, iteration: string): HistoryRow | undefined;
  /** True when the block, or anything inside it, has left a row in this pass. */
  isTouched(blockId: string, iteration: string): boolean;
  /** When the block was entered in this pass, as far as rows tell. */
  startOf(blockId: string, iteration: string): number | null;
}

export type EndWord = 'completed' | 'failed' | 'cancelled' | 'skipped';

/** How a block ended, by its row; null for a row that does not say so. */
export function endWord(row: HistoryRow): EndWord | null {
  if (row.kind === 'result') return 'completed';
  if (row.kind !== 'node') return null;
  const state = member(row.output, 'state');
  return state === 'completed' || state === 'failed' || state === 'cancelled' || state === 'skipped'
    ? state
    : null;
}

/** A block that failed or was cancelled, and that a person passed over when the run went on behind it ([OP-6]). */
export function isPassedOver(row: HistoryRow): boolean {
  return row.kind === 'node' && member(row.output, 'passed_over') === true;
}

export function recordKey(blockId: string, iteration: string): string {
  return `${blockId}\u0000${iteration}`;
}

/** Sorts rows by block and pass. What is not about a block of the plan (interceptors, alerts, cleanup) is left out. */
export function readRecords(plan: Plan, rows: readonly HistoryRow[]): Records {
  const ends = new Map<string, HistoryRow>();
  const choices = new Map<string, HistoryRow>();
  const counters = new Map<string, HistoryRow[]>();
  const variants = new Map<string, HistoryRow>();
  const starts = new Map<string, number>();
  const touched = new Set<string>();
  for (const row of [...rows].sort(byOrder)) {
    const node = plan.nodes.get(row.blockId);
    if (node === undefined || row.kind === 'hook' || row.kind === 'hook_error') continue;
    const key = recordKey(row.blockId, row.iteration);
    if (endWord(row) !== null) ends.set(key, row);
    else if (row.kind === 'node') choices.set(key, row);
    if (row.kind === 'counter') append(counters, key, row);
    if (row.kind === 'variant') variants.set(key, row);
    touch(plan, node, row, { touched, starts });
  }
  const lookUp =
    <T>(map: ReadonlyMap<string, T>) =>
    (blockId: string, iteration: string): T | undefined =>
      map.get(recordKey(blockId, iteration));
  return {
    endOf: lookUp(ends),
    choiceOf: lookUp(choices),
    counterOf: (blockId, iteration) => counters.get(recordKey(blockId, iteration))?.at(-1),
    countersOf: (blockId, iteration) => counters.get(recordKey(blockId, iteration)) ?? [],
    variantOf: lookUp(variants),
    isTouched: (blockId, iteration) => touched.has(recordKey(blockId, iteration)),
    startOf: (blockId, iteration) => starts.get(recordKey(blockId, iteration)) ?? null,
  };
}

function append(map: Map<string, HistoryRow[]>, key: string, row: HistoryRow): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [row]);
  else known.push(row);
}

/** Marks the block of a row and all around it, each with the pass in which it then stood. */
function touch(
  plan: Plan,
  node: PlanNode,
  row: HistoryRow,
  marks: { readonly touched: Set<string>; readonly starts: Map<string, number> },
): void {
  const startedAt = row.startedAt ?? row.createdAt;
  let { iteration } = row;
  for (let at: PlanNode | undefined = node; at !== undefined; ) {
    const key = recordKey(at.block.id, iteration);
    marks.touched.add(key);
    marks.starts.set(key, Math.min(marks.starts.get(key) ?? startedAt, startedAt));
    const parent: PlanNode | undefined = at.parentId === null ? undefined : plan.nodes.get(at.parentId);
    const kind = parent?.block.type;
    if (parent !== undefined && (kind === 'loop' || kind === 'for_each')) {
      iteration = outerIteration(iteration, parent.block.id);
    }
    at = parent;
  }
}

/** Where the items of a for_each are stored: its first counter says it, or how it ended; null when neither does. */
export function snapshotOf(counter: Json | undefined, end: HistoryRow | undefined): string | null {
  const key = member(counter, '_snapshot_ref') ?? member(end?.output, 'items');
  return typeof key === 'string' ? key : null;
}

/** A whole number in a row's value; `otherwise` when it is not there. */
export function numberIn(value: Json | undefined, name: string, otherwise: number): number {
  const found = member(value, name);
  return typeof found === 'number' ? found : otherwise;
}
