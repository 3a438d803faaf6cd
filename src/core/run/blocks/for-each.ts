import type { ForEachBlock } from '../../definition/document.ts';
import type { Draft } from '../draft.ts';
import type { ForEachDetail, Frame, ListEnd } from '../frame.ts';
import { errorObject } from '../failures.ts';
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
  removeBelow,
  stopsHere,
} from '../place.ts';
import { resolveCollection, takeSnapshot } from './collection.ts';
import { runFanOut } from './fan-out.ts';
import { fansOut } from './items.ts';
import { addItemCounter, forgetOldPass, resetCounters } from './passes.ts';

const EMPTY: ForEachDetail = {
  kind: 'for_each',
  index: 0,
  total: 0,
  snapshotKey: null,
  inPass: false,
  error: null,
};

/** 9.6: the collection is read once and kept aside; the body runs once per item, in order. */
export function runForEach(draft: Draft, place: Place, block: ForEachBlock, runList: RunList): Outcome {
  const known = knownFrame(draft, place, block);
  if (known?.detail.kind === 'fan_out' || (known === undefined && fansOut(block))) {
    return runFanOut(draft, place, block, runList);
  }
  if (known === undefined) {
    if (!knows(draft, place, block)) return 'open';
    enter(draft, place, block);
  }
  const inner = inside(
    place,
    openFrame(draft, place, block, () => EMPTY),
  );
  for (;;) {
    const step = detailAt(draft, inner).inPass
      ? finishItem(draft, place, inner, block, runList)
      : beginItem(draft, place, inner, block);
    if (step !== 'again') return step;
  }
}

function detailAt(draft: Draft, inner: Place): ForEachDetail {
  const { detail } = frameAt(draft, inner);
  return detail.kind === 'for_each' ? detail : EMPTY;
}

function enter(draft: Draft, place: Place, block: ForEachBlock): void {
  const collection = resolveCollection(draft, place, block);
  if (!collection.ok) {
    openFrame(draft, place, block, () => ({ ...EMPTY, error: collection.error }));
    return;
  }
  const { items, snapshotKey } = takeSnapshot(draft, block, collection.value);
  if (snapshotKey === null) {
    openFrame(draft, place, block, () => EMPTY);
    return;
  }
  const detail: ForEachDetail = { ...EMPTY, total: items.length, snapshotKey };
  addCounter(
    draft,
    block,
    openFrame(draft, place, block, () => detail),
    detail,
  );
}

function addCounter(draft: Draft, block: ForEachBlock, frame: Frame, detail: ForEachDetail): void {
  const { index, total, snapshotKey } = detail;
  addItemCounter(draft, block, frame, { count: index, total, snapshotKey });
}

function beginItem(draft: Draft, place: Place, inner: Place, block: ForEachBlock): Outcome | 'again' {
  const detail = detailAt(draft, inner);
  if (detail.error !== null) return end(draft, place, inner, 'failed');
  if (stopsHere(draft, place)) return end(draft, place, inner, 'cancelled');
  if (detail.index >= detail.total || detail.snapshotKey === null) return end(draft, place, inner, 'drained');
  const item = draft.knowledge.item(detail.snapshotKey, detail.index);
  if (item === undefined) return 'open';
  const frame = frameAt(draft, inner);
  if (detail.index > 0) resetCounters(draft, block.id, frame.iteration, detail.index - 1);
  draft.put({ ...frame, cursor: 0, leaf: null, detail: { ...detail, item, inPass: true } });
  return 'again';
}

function finishItem(
  draft: Draft,
  place: Place,
  inner: Place,
  block: ForEachBlock,
  runList: RunList,
): Outcome | 'again' {
  const ended = runList(draft, inner);
  if (ended === 'open') return 'open';
  if (ended !== 'drained') return end(draft, place, inner, ended);
  const frame = frameAt(draft, inner);
  removeBelow(draft, frame);
  const { item: _, ...rest } = detailAt(draft, inner);
  const detail: ForEachDetail = { ...rest, index: rest.index + 1, inPass: false };
  addCounter(draft, block, frame, detail);
  forgetOldPass(draft, block, frame.iteration, detail.index);
  draft.put({ ...frame, cursor: 0, leaf: null, detail });
  return 'again';
}

function end(draft: Draft, place: Place, inner: Place, ended: ListEnd): Outcome {
  const { error } = detailAt(draft, inner);
  const shown = error === null ? null : { ...errorObject(error), retryable: error.retryable };
  return closeBlock(draft, place, frameAt(draft, inner), ended, shown);
}
