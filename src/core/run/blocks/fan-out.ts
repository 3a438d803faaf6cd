import type { ForEachBlock } from '../../definition/document.ts';
import { cancelBelow } from '../cancel-subtree.ts';
import type { Draft } from '../draft.ts';
import { errorObject } from '../failures.ts';
import type { FanOutDetail, Frame, ListEnd } from '../frame.ts';
import { indexOf, itemFrames } from '../item-frames.ts';
import { knows } from '../knows.ts';
import {
  type Outcome,
  type Place,
  type RunList,
  closeBlock,
  frameAt,
  inside,
  knownFrame,
  openFrame,
  stopsHere,
} from '../place.ts';
import { collectOutputs } from './collect.ts';
import { resolveCollection, takeSnapshot } from './collection.ts';
import { EMPTY, fanOutAt, setDetail } from './fan-out-detail.ts';
import { completeItem, setAside } from './item-ends.ts';
import { toleratedFailures } from './items.ts';
import { openNextItem } from './open-item.ts';
import { addItemCounter } from './passes.ts';

/** Items that one walk opens at most: they have to be stored before anything of them is called. */
const OPENED_PER_WALK = 100;
/** Leaves to be called at once, and rows to be committed, above which no further item is opened. */
const READY_MAX = 64;
const ROWS_MAX = 256;
/** Frames of an instance above which a block opens an item only when it has none open: a claim reads all of them. */
const FRAMES_MAX = 4_000;

/**
 * RULINGS B25: a `for_each` whose items have frames of their own. Up to `concurrency` of them are open at once; the next
 * one is opened when another has ended and there is room to call something. What the block stores of itself does not
 * grow with the number of its items.
 */
export function runFanOut(draft: Draft, place: Place, block: ForEachBlock, runList: RunList): Outcome {
  if (knownFrame(draft, place, block) === undefined) {
    if (!knows(draft, place, block)) return 'open';
    enter(draft, place, block);
  }
  const owner = inside(
    place,
    openFrame(draft, place, block, () => EMPTY),
  );
  if (fanOutAt(draft, owner).error !== null) return close(draft, place, owner, 'failed');
  for (const item of itemFrames(draft.frames.values(), frameAt(draft, owner))) {
    runItem(draft, owner, block, item, runList);
  }
  openItems(draft, place, owner, block, runList);
  return endOf(draft, place, owner, block);
}

/** [EACH-1] to [EACH-3], as without fan-out. */
function enter(draft: Draft, place: Place, block: ForEachBlock): void {
  const collection = resolveCollection(draft, place, block);
  if (!collection.ok) {
    openFrame(draft, place, block, () => ({ ...EMPTY, error: collection.error }));
    return;
  }
  const { items, snapshotKey } = takeSnapshot(draft, block, collection.value);
  const failedKey = `${snapshotKey ?? ''}.failed.${draft.record.runNo}`;
  const detail: FanOutDetail = { ...EMPTY, total: items.length, snapshotKey, failedKey };
  const frame = openFrame(draft, place, block, () => detail);
  if (snapshotKey !== null)
    addItemCounter(draft, block, frame, { count: 0, total: items.length, snapshotKey });
}

/** Takes one open item as far as it goes. A failure that is not tolerated leaves the frame of the item as failed. */
function runItem(draft: Draft, owner: Place, block: ForEachBlock, item: Frame, runList: RunList): void {
  const inner = inside(owner, item);
  const end = runList(draft, inner);
  if (end === 'drained') completeItem(draft, owner, block, frameAt(draft, inner));
  if (end !== 'failed') return;
  const { failed, total } = fanOutAt(draft, owner);
  const tolerated = failed < toleratedFailures(block, total);
  if (tolerated) setAside(draft, owner, block, frameAt(draft, inner));
}

function openItems(draft: Draft, place: Place, owner: Place, block: ForEachBlock, runList: RunList): void {
  for (let opened = 0; mayOpen(draft, place, owner, block, opened); opened += 1) {
    const item = openNextItem(draft, owner, block);
    if (item === null) return;
    runItem(draft, owner, block, item, runList);
  }
}

/** What does not fit into this round waits for the next one; what must be read, or ended, first is not waited for here. */
function mayOpen(draft: Draft, place: Place, owner: Place, block: ForEachBlock, opened: number): boolean {
  if (!hasMore(fanOutAt(draft, owner)) || stopsHere(draft, place) || draft.knowledge.hasNeeds) return false;
  const items = itemFrames(draft.frames.values(), frameAt(draft, owner));
  if (items.length >= (block.concurrency ?? 1) || items.some(({ state }) => state !== 'open')) return false;
  const crowded = draft.frames.size > FRAMES_MAX && items.length > 0;
  const full = opened >= OPENED_PER_WALK || draft.ready.length >= READY_MAX;
  if (draft.room > 0 && !full && !crowded && draft.pendingRows.length <= ROWS_MAX) return true;
  if (!crowded) draft.runnableLeft = true;
  return false;
}

function hasMore({ next, total, again }: FanOutDetail): boolean {
  return next < total || again.length > 0;
}

/**
 * The block fails with the first failure that is not tolerated; the items that are open then are cancelled, protected or
 * not, as the losers of a race are.
 */
function endOf(draft: Draft, place: Place, owner: Place, block: ForEachBlock): Outcome {
  const items = itemFrames(draft.frames.values(), frameAt(draft, owner));
  const decider = items.find(({ state }) => state === 'failed');
  if (decider !== undefined) {
    // An item that has to read first may end before the others are cancelled.
    if (draft.knowledge.hasNeeds) return 'open';
    for (const item of items) if (item.state === 'open') cancelBelow(draft, item);
    setDetail(draft, owner, { decidedBy: indexOf(decider) });
    return close(draft, place, owner, 'failed');
  }
  if (items.some(({ state }) => state === 'open')) return 'open';
  if (items.length > 0 || stopsHere(draft, place)) return close(draft, place, owner, 'cancelled');
  if (hasMore(fanOutAt(draft, owner))) return 'open';
  return block.collect === true
    ? collectAndClose(draft, place, owner, block)
    : close(draft, place, owner, 'drained');
}

function collectAndClose(draft: Draft, place: Place, owner: Place, block: ForEachBlock): Outcome {
  const collected = collectOutputs(draft, owner, block);
  if (collected === null) return 'open';
  if (collected.ok) return close(draft, place, owner, 'drained');
  setDetail(draft, owner, { error: collected.error });
  return close(draft, place, owner, 'failed');
}

function close(draft: Draft, place: Place, owner: Place, ended: ListEnd): Outcome {
  const { error } = fanOutAt(draft, owner);
  const shown = error === null ? null : { ...errorObject(error), retryable: error.retryable };
  return closeBlock(draft, place, frameAt(draft, owner), ended, shown);
}
