import type { TryCatchBlock } from '../../definition/document.ts';
import type { JsonObject } from '../../json.ts';
import type { Draft } from '../draft.ts';
import { errorSummary, failedLeaves } from '../failures.ts';
import type { Frame, ListEnd, TryDetail } from '../frame.ts';
import {
  type Outcome,
  type Place,
  type RunList,
  closeBlock,
  frameAt,
  inside,
  openFrame,
  removeBelow,
} from '../place.ts';
import { currentList } from '../plan.ts';

const FRESH: TryDetail = {
  kind: 'try_catch',
  phase: 'try',
  tryEnd: null,
  catchEnd: null,
  error: null,
  failures: [],
};

/** 9.4: try, then catch after a failure, then finally in every case. A finally list is protected from cancel. */
export function runTryCatch(draft: Draft, place: Place, block: TryCatchBlock, runList: RunList): Outcome {
  const opened = openFrame(draft, place, block, () => FRESH);
  for (;;) {
    const { phase } = detailOf(frameAt(draft, inside(place, opened)));
    const inner = inside(place, opened, phase === 'finally');
    const end = runList(draft, inner);
    if (end === 'open') return 'open';
    const frame = frameAt(draft, inner);
    if (phase === 'try' && end === 'failed') enterCatch(draft, block, frame);
    else if (phase === 'try') enterFinally(draft, frame, { tryEnd: end });
    else if (phase === 'catch') enterFinally(draft, frame, { catchEnd: end });
    else return closeBlock(draft, place, frame, resultOf(detailOf(frame), end));
    const entered = frameAt(draft, inner);
    const detail = detailOf(entered);
    if (detail.phase === 'finally' && block.finally_block === undefined) {
      return closeBlock(draft, place, entered, resultOf(detail, 'drained'));
    }
  }
}

function detailOf(frame: Frame): TryDetail {
  return frame.detail.kind === 'try_catch' ? frame.detail : FRESH;
}

/** [TRY-2], [TRY-4], [CERR-1]: the failed leaves are collected before their frames go. */
function enterCatch(draft: Draft, block: TryCatchBlock, frame: Frame): void {
  const failed = currentList(draft.plan, frame)[frame.cursor];
  const errors = failedLeaves(draft, frame).map(errorSummary);
  const error: JsonObject = {
    failed_blocks: failed === undefined ? [] : [failed.id],
    source: 'try_catch',
    block_id: block.id,
    errors,
  };
  removeBelow(draft, frame);
  draft.instance.setData({ _error: error });
  nextPhase(draft, frame, { ...detailOf(frame), phase: 'catch', tryEnd: 'failed', error });
}

function enterFinally(
  draft: Draft,
  frame: Frame,
  ended: { readonly tryEnd: ListEnd } | { readonly catchEnd: ListEnd },
): void {
  // The frames of a failed catch list go now, since a retry resets the block as a whole; its failures are kept.
  const failures = frame.state === 'failed' ? failedLeaves(draft, frame) : [];
  removeBelow(draft, frame);
  nextPhase(draft, frame, { ...detailOf(frame), ...ended, phase: 'finally', failures });
}

function nextPhase(draft: Draft, frame: Frame, detail: TryDetail): void {
  draft.put({ ...frame, cursor: 0, leaf: null, state: 'open', detail });
}

/** [TRY-5]. */
function resultOf(detail: TryDetail, finallyEnd: ListEnd): ListEnd {
  if (finallyEnd === 'failed') return 'failed';
  if (detail.tryEnd === 'failed' && detail.catchEnd === 'failed') return 'failed';
  return detail.tryEnd === 'cancelled' || detail.catchEnd === 'cancelled' ? 'cancelled' : 'drained';
}
