import type { TryCatchBlock } from '../../definition/document.ts';
import type { JsonObject } from '../../json.ts';
import type { Draft } from '../draft.ts';
import { errorSummary, failedLeaves, writeError } from '../failures.ts';
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
  stopsHere,
} from '../place.ts';
import { currentList } from '../plan.ts';

/** The block at its start. */
export const FRESH: TryDetail = {
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
    else return close(draft, place, frame, end);
    const entered = frameAt(draft, inner);
    const detail = detailOf(entered);
    if (detail.phase === 'finally' && block.finally_block === undefined) {
      return close(draft, place, entered, 'drained');
    }
  }
}

function detailOf(frame: Frame): TryDetail {
  return frame.detail.kind === 'try_catch' ? frame.detail : FRESH;
}

/** [TRY-2], [TRY-4], [CERR-1]: the failed leaves are collected before their frames go. */
function enterCatch(draft: Draft, block: TryCatchBlock, frame: Frame): void {
  const failed = currentList(draft.plan, frame)[frame.cursor];
  const failures = failedLeaves(draft, frame);
  const error: JsonObject = {
    failed_blocks: failed === undefined ? [] : [failed.id],
    source: 'try_catch',
    block_id: block.id,
    errors: failures.map(errorSummary),
  };
  removeBelow(draft, frame);
  writeError(draft, error, failures);
  nextPhase(draft, frame, {
    ...detailOf(frame),
    phase: 'catch',
    tryEnd: 'failed',
    error,
    failures,
  });
}

function enterFinally(
  draft: Draft,
  frame: Frame,
  ended: { readonly tryEnd: ListEnd } | { readonly catchEnd: ListEnd },
): void {
  const detail = detailOf(frame);
  // A catch list that drained has absorbed the failure. The frames of one that failed go now, its failures are kept.
  const absorbed = 'catchEnd' in ended && ended.catchEnd === 'drained';
  const caught = frame.state === 'failed' ? failedLeaves(draft, frame) : [];
  const failures = absorbed ? [] : [...detail.failures, ...caught];
  removeBelow(draft, frame);
  nextPhase(draft, frame, { ...detail, ...ended, phase: 'finally', failures });
}

function nextPhase(draft: Draft, frame: Frame, detail: TryDetail): void {
  draft.put({ ...frame, cursor: 0, leaf: null, state: 'open', detail });
}

function close(draft: Draft, place: Place, frame: Frame, finallyEnd: ListEnd): Outcome {
  const result = resultOf(detailOf(frame), finallyEnd);
  // What surrounds a protected list is cancelled once that has ended (17.3).
  const end = result === 'drained' && stopsHere(draft, place) ? 'cancelled' : result;
  return closeBlock(draft, place, frame, end);
}

/** [TRY-5]. */
function resultOf(detail: TryDetail, finallyEnd: ListEnd): ListEnd {
  if (finallyEnd === 'failed') return 'failed';
  if (detail.tryEnd === 'failed' && detail.catchEnd === 'failed') return 'failed';
  return detail.tryEnd === 'cancelled' || detail.catchEnd === 'cancelled' ? 'cancelled' : 'drained';
}
