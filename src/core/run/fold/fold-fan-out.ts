import type { ForEachBlock } from '../../definition/document.ts';
import { member } from '../../json.ts';
import type { FanOutDetail, Frame } from '../frame.ts';
import { passPath } from '../plan.ts';
import { inRunOrder } from '../run-order.ts';
import { type HistoryRow, byOrder } from './history-row.ts';
import {
  type BlockFold,
  type Entered,
  type Fold,
  type ListFold,
  UNTOUCHED,
  failureIn,
  frameOf,
  stateOf,
} from './list-frame.ts';
import { numberIn, snapshotOf } from './records.ts';

interface FoldedItem {
  readonly index: number;
  readonly list: ListFold;
  /** The counter of its last end; undefined while it is open. */
  readonly counter: HistoryRow | undefined;
}

/**
 * A `for_each` whose items have frames of their own (RULINGS B25). Each counter says which item has ended; an item that
 * failed and was opened again by a retry has lost the rows of its failure.
 */
export function foldFanOut(fold: Fold, of: Entered<ForEachBlock>): BlockFold {
  const { block, iteration, end } = of;
  const counters = fold.records.countersOf(block.id, iteration);
  const snapshotKey = snapshotOf(counters[0]?.output, end);
  // The counters of a block that is over may be gone: a later pass around it has reset them.
  const total = numberIn(
    counters[0]?.output,
    '_total',
    numberIn(member(end?.output, 'decision'), 'total', 0),
  );
  const items = itemsOf(fold, block, iteration, counters, total);
  const runNo = Math.max(1, ...counters.map((row) => row.runNo));
  const state = stateOf(end, null);
  const detail: FanOutDetail = {
    kind: 'fan_out',
    next: items.length,
    total,
    snapshotKey,
    ended: items.filter(hasEnded).length,
    failed: items.filter((item) => isSetAside(item) && item.counter?.runNo === runNo).length,
    failedKey: `${snapshotKey ?? ''}.failed.${runNo}`,
    again: againOf(items, snapshotKey, runNo),
    decidedBy: null,
    error: end === undefined ? null : failureIn(end.output),
  };
  const owner = frameOf(fold, of, detail, { list: UNTOUCHED, state });
  const frames = items.flatMap((item) => (hasEnded(item) ? [] : framesOf(owner, item)));
  return { state, leaf: null, frames: [owner, ...frames] };
}

/** All items up to the last one that has left a row. */
function itemsOf(
  fold: Fold,
  block: ForEachBlock,
  iteration: string,
  counters: readonly HistoryRow[],
  total: number,
): readonly FoldedItem[] {
  const last = new Map(counters.map((row) => [numberIn(row.output, '_item', -1), row]));
  const items = Array.from({ length: total }, (_, index): FoldedItem & { readonly touched: boolean } => {
    const path = passPath(iteration, block.id, index);
    const touched = block.body.some((inner) => fold.records.isTouched(inner.id, path));
    const list = touched ? fold.list(block.body, path) : UNTOUCHED;
    const counter = last.get(index);
    const isOver = counter !== undefined && !hasFailedSince(fold, block, path, list, counter);
    return { index, list, counter: isOver ? counter : undefined, touched: touched || counter !== undefined };
  });
  return items.slice(0, items.findLastIndex(({ touched }) => touched) + 1);
}

/** True for an item that was opened again after its end and has failed once more: its counter tells of a run before. */
function hasFailedSince(
  fold: Fold,
  block: ForEachBlock,
  path: string,
  { end, order, cursor }: ListFold,
  counter: HistoryRow,
): boolean {
  const failed = inRunOrder(block.body, order ?? undefined)[cursor];
  const row = end === 'failed' && failed !== undefined ? fold.records.endOf(failed.id, path) : undefined;
  return row !== undefined && byOrder(counter, row) < 0;
}

function hasEnded(item: FoldedItem): boolean {
  if (item.counter === undefined) return false;
  return member(item.counter.output, '_item_failed') !== true || item.list.end === 'failed';
}

function isSetAside(item: FoldedItem): boolean {
  return hasEnded(item) && item.list.end === 'failed';
}

/** Items that failed in earlier runs and have not been opened again. */
function againOf(
  items: readonly FoldedItem[],
  snapshotKey: string | null,
  runNo: number,
): FanOutDetail['again'] {
  const from = new Map<number, number>();
  for (const item of items) {
    const ofRun = item.counter?.runNo ?? runNo;
    if (isSetAside(item) && ofRun < runNo && !from.has(ofRun)) from.set(ofRun, item.index);
  }
  return [...from].map(([ofRun, index]) => ({ key: `${snapshotKey ?? ''}.failed.${ofRun}`, from: index }));
}

function framesOf(owner: Frame, { index, list }: FoldedItem): readonly Frame[] {
  const state = list.end === 'failed' || list.end === 'cancelled' ? list.end : 'open';
  const own: Frame = {
    ...owner,
    branch: index,
    cursor: list.cursor,
    leaf: list.leaf,
    detail: { kind: 'item' },
    // What had not ended when its block did was cancelled with it.
    state: owner.state !== 'open' && state === 'open' ? 'cancelled' : state,
  };
  return [own, ...list.below];
}
