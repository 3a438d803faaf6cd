import type { ForEachBlock } from '../../definition/document.ts';
import { newEvaluation, readPath, rootedPath } from '../../expressions/paths.ts';
import { resolveTemplateText } from '../../expressions/template.ts';
import type { Failure } from '../../failure.ts';
import { type Json, isJsonArray } from '../../json.ts';
import { type Result, err, ok } from '../../result.ts';
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
  scopeAt,
  stopsHere,
} from '../place.ts';
import { forgetOldPass, resetCounters } from './passes.ts';

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
  if (knownFrame(draft, place, block) === undefined) {
    if (!knows(draft, block)) return 'open';
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
  const items = collection.value.slice(0, block.max_iterations);
  if (items.length === 0) {
    openFrame(draft, place, block, () => EMPTY);
    return;
  }
  const snapshotKey = `items:${draft.env.newId()}`;
  draft.push('values', { key: snapshotKey, value: items });
  draft.knowledge.setItems(snapshotKey, 0, items);
  const detail: ForEachDetail = { ...EMPTY, total: items.length, snapshotKey };
  addCounter(
    draft,
    block,
    openFrame(draft, place, block, () => detail),
    detail,
  );
}

/** [EACH-1], [EACH-2]: what is missing or no array is an empty collection; a template error fails the block. */
function resolveCollection(
  draft: Draft,
  place: Place,
  block: ForEachBlock,
): Result<readonly Json[], Failure> {
  const scope = scopeAt(draft, place);
  if (block.collection.includes('{{')) {
    const resolved = resolveTemplateText(block.collection, scope);
    if (!resolved.ok) {
      return err({ message: resolved.error.message, retryable: false, code: 'TEMPLATE_ERROR' });
    }
    return ok(isJsonArray(resolved.value) ? resolved.value : []);
  }
  const names = block.collection.trim().split('.');
  const evaluation = newEvaluation(scope);
  const underData = readPath({ root: 'data', segments: names }, evaluation);
  const rooted = rootedPath(names);
  const found = underData ?? (rooted.kind === 'path' ? readPath(rooted.path, evaluation) : undefined);
  return ok(isJsonArray(found) ? found : []);
}

/** [EACH-3], [EACH-4]. */
function addCounter(draft: Draft, block: ForEachBlock, frame: Frame, detail: ForEachDetail): void {
  draft.addRow({
    blockId: block.id,
    iteration: frame.iteration,
    kind: 'counter',
    attempt: detail.index,
    output: {
      _index: detail.index,
      _total: detail.total,
      _item_var: block.item_var,
      _snapshot_ref: detail.snapshotKey,
    },
    startedAt: null,
  });
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
