import type { ForEachBlock } from '../../definition/document.ts';
import { type Json, canonicalJson, utf8Bytes } from '../../json.ts';
import type { Draft } from '../draft.ts';
import type { FanOutDetail, Frame, ItemDetail } from '../frame.ts';
import { frameKey } from '../frame.ts';
import { itemFrame } from '../fresh-frames.ts';
import { type Place, frameAt } from '../place.ts';
import { passPath } from '../plan.ts';
import { fanOutAt, setDetail } from './fan-out-detail.ts';
import { isConcurrent, mayFail } from './items.ts';
import { resetCounters } from './passes.ts';
import { keysOfFailed, takeBackFailed } from './set-aside.ts';

/** A larger item is not written with each of its steps but read from the stored collection when somebody needs it. */
const ITEM_BYTES_IN_FRAME = 4_096;

/** Opens the next item; null when something has to be read first, or when there is none after all. */
export function openNextItem(draft: Draft, owner: Place, block: ForEachBlock): Frame | null {
  const detail = fanOutAt(draft, owner);
  const [first, ...later] = detail.again;
  if (first === undefined) return openNew(draft, owner, block, detail);
  const failed = draft.knowledge.fanOut.failedItem(first.key, first.from);
  if (failed === undefined) return null;
  if (failed === null) {
    setDetail(draft, owner, { again: later });
    return openNextItem(draft, owner, block);
  }
  setDetail(draft, owner, { again: [{ ...first, from: failed.index + 1 }, ...later] });
  return takeBackFailed(draft, frameAt(draft, owner), failed);
}

function openNew(draft: Draft, owner: Place, block: ForEachBlock, detail: FanOutDetail): Frame | null {
  const { next, total, snapshotKey } = detail;
  if (next >= total || snapshotKey === null) return null;
  const value = draft.knowledge.item(snapshotKey, next);
  if (value === undefined) return null;
  const frame = frameAt(draft, owner);
  resetLast(draft, block, frame, detail);
  setDetail(draft, owner, { next: next + 1 });
  const item = itemFrame(frame, next, detailOf(draft, snapshotKey, next, value), draft.env.now);
  draft.put(item);
  draft.lostCalls.fresh(frameKey(item));
  draft.knowledge.fanOut.openFresh(passPath(frame.iteration, block.id, next));
  return item;
}

/**
 * One item at a time: the counters of the pass before must not be taken for those of this one ([LOOP-9]). Those of an item
 * that was set aside stay with its other rows: a retry goes on in it, and they say where.
 */
function resetLast(draft: Draft, block: ForEachBlock, frame: Frame, detail: FanOutDetail): void {
  const last = detail.next - 1;
  if (last < 0 || isConcurrent(block) || detail.setAside === last) return;
  const unlessStored = mayFail(block) ? keysOfFailed(detail, last) : [];
  resetCounters(draft, block.id, frame.iteration, last, unlessStored);
}

function detailOf(draft: Draft, snapshotKey: string, index: number, item: Json): ItemDetail {
  if (utf8Bytes(canonicalJson(item)) <= ITEM_BYTES_IN_FRAME) return { kind: 'item', item };
  draft.knowledge.fanOut.pin(snapshotKey, index, item);
  return { kind: 'item' };
}
