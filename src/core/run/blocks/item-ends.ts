import type { ForEachBlock } from '../../definition/document.ts';
import type { Draft } from '../draft.ts';
import { pinKey } from '../fan-out-knowledge.ts';
import { type Frame, frameKey } from '../frame.ts';
import { indexOf } from '../item-frames.ts';
import { type Place, frameAt, removeSubtree } from '../place.ts';
import { innerIteration } from '../plan.ts';
import { fanOutAt, setDetail } from './fan-out-detail.ts';
import { mayFail } from './items.ts';
import { addItemCounter, forgetPass } from './passes.ts';
import { keysOfFailed, storeFailed } from './set-aside.ts';

/** The body of an item has drained: its frames go, the counter rises. */
export function completeItem(draft: Draft, owner: Place, block: ForEachBlock, item: Frame): void {
  endItem(draft, owner, block, item, 0);
}

/** The body of an item has failed and the block goes on: where it stood is kept aside for a retry of the instance. */
export function setAside(draft: Draft, owner: Place, block: ForEachBlock, item: Frame): void {
  storeFailed(draft, fanOutAt(draft, owner).failedKey, item);
  endItem(draft, owner, block, item, 1);
}

function endItem(draft: Draft, owner: Place, block: ForEachBlock, item: Frame, failed: 0 | 1): void {
  const before = fanOutAt(draft, owner);
  removeSubtree(draft, item);
  draft.knowledge.fanOut.closeItem(innerIteration(item), pinKey(before.snapshotKey ?? '', indexOf(item)));
  const aside = failed === 1 ? { setAside: indexOf(item) } : {};
  const detail = { ...before, ...aside, ended: before.ended + 1, failed: before.failed + failed };
  const frame = frameAt(draft, owner);
  addItemCounter(draft, block, frame, {
    count: detail.ended,
    total: detail.total,
    snapshotKey: detail.snapshotKey,
    item: indexOf(item),
    itemFailed: failed === 1,
    failed: detail.failed,
  });
  forgetItems(draft, owner, block, indexOf(item));
  setDetail(draft, owner, detail);
}

/**
 * [EACH-7]: the rows of an item go once it and the item `retain_iterations` behind it have both ended, whichever ends
 * last. So each end costs the same, and at the end of the block the newest items are left.
 */
function forgetItems(draft: Draft, owner: Place, block: ForEachBlock, ended: number): void {
  const keep = block.retain_iterations ?? 0;
  if (keep === 0) return;
  const { iteration } = frameAt(draft, owner);
  const { next } = fanOutAt(draft, owner);
  const hasEnded = (index: number): boolean =>
    index >= 0 &&
    index < next &&
    !draft.frames.has(frameKey({ blockId: block.id, branch: index, iteration }));
  if (hasEnded(ended - keep)) forgetItem(draft, owner, block, ended - keep);
  if (hasEnded(ended + keep)) forgetItem(draft, owner, block, ended);
}

/** A failed item keeps its rows: a retry goes on behind what has completed in it. */
function forgetItem(draft: Draft, owner: Place, block: ForEachBlock, index: number): void {
  const frame = frameAt(draft, owner);
  if (draft.knowledge.fanOut.failuresOf(frameKey(frame)).has(index)) return;
  const unlessStored = mayFail(block) ? keysOfFailed(fanOutAt(draft, owner), index) : [];
  forgetPass(draft, block, frame.iteration, index, unlessStored);
}
