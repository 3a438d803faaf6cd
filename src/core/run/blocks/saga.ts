import type { SagaBlock } from '../../definition/document.ts';
import type { JsonObject } from '../../json.ts';
import type { Draft } from '../draft.ts';
import { errorSummary, failedLeaves, writeError } from '../failures.ts';
import type { Frame, SagaDetail } from '../frame.ts';
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

/** The block at its start. */
export const FRESH: SagaDetail = {
  kind: 'saga',
  phase: 'forward',
  step: 0,
  done: [],
  failedStep: null,
  error: null,
  failures: [],
  failedCompensations: [],
};

/**
 * 9.10: actions in order; after a failure the compensations of what was done, newest first, protected from cancel. A
 * cancel of the forward phase undoes nothing, also when a protected action fails after it ([SAGA-6]).
 */
export function runSaga(draft: Draft, place: Place, block: SagaBlock, runList: RunList): Outcome {
  const opened = openFrame(draft, place, block, () => FRESH);
  for (;;) {
    const detail = detailAt(draft, inside(place, opened));
    const rollback = detail.phase === 'rollback';
    const inner = inside(place, opened, rollback);
    if (!rollback && detail.step >= block.steps.length) {
      const cancelled = stopsHere(draft, place) && block.steps.length > 0;
      return close(draft, place, inner, cancelled ? 'cancelled' : 'drained');
    }
    if (rollback && detail.step < 0) return closeRolledBack(draft, place, inner);
    const end = runList(draft, inner);
    if (end === 'open') return 'open';
    if (rollback) finishCompensation(draft, inner, block, end === 'failed');
    else if (end === 'drained') finishAction(draft, inner, block);
    else if (end === 'failed' && !stopsHere(draft, place)) beginRollback(draft, inner, block);
    else if (end === 'failed') return closeBlock(draft, place, frameAt(draft, inner), 'failed');
    else return close(draft, place, inner, 'cancelled');
  }
}

function detailAt(draft: Draft, inner: Place): SagaDetail {
  const { detail } = frameAt(draft, inner);
  return detail.kind === 'saga' ? detail : FRESH;
}

function finishAction(draft: Draft, inner: Place, block: SagaBlock): void {
  const detail = detailAt(draft, inner);
  const action = block.steps[detail.step]?.action;
  // A skipped action is not compensated ([SAGA-3]).
  const skipped = action !== undefined && draft.wasSkipped(action.id, frameAt(draft, inner).iteration);
  const done = skipped ? detail.done : [...detail.done, detail.step];
  next(draft, frameAt(draft, inner), { ...afterAction(block, detail), done });
}

/** The steps whose actions are over, ascending; those that were skipped are among them. */
export function ranOf({ ran, step }: SagaDetail): readonly number[] {
  return ran === undefined
    ? Array.from({ length: step }, (_, index) => index)
    : ran.toSorted((left, right) => left - right);
}

/** The next action: the first one that has not run, also when it stands before others that have. */
export function afterAction(block: SagaBlock, detail: SagaDetail): SagaDetail {
  const { ran, ...plain } = detail;
  if (ran === undefined) return { ...plain, step: plain.step + 1 };
  const over = [...ran, plain.step];
  const first = block.steps.findIndex((_, index) => !over.includes(index));
  const step = first === -1 ? block.steps.length : first;
  return over.every((index) => index < step) ? { ...plain, step } : { ...plain, step, ran: over };
}

/** [SAGA-3]: the set to undo is fixed here, with the failure that caused it. */
function beginRollback(draft: Draft, inner: Place, block: SagaBlock): void {
  const frame = frameAt(draft, inner);
  const detail = detailAt(draft, inner);
  const failures = failedLeaves(draft, frame);
  const error: JsonObject = {
    failed_step: block.steps[detail.step]?.id ?? '',
    source: 'saga',
    block_id: block.id,
    errors: failures.map(errorSummary),
  };
  writeError(draft, error, failures);
  removeBelow(draft, frame);
  next(draft, frame, {
    ...detail,
    phase: 'rollback',
    failedStep: detail.step,
    step: detail.done.at(-1) ?? -1,
    error,
    failures,
  });
}

/** [SAGA-4]: a compensation that fails is noted and the rollback goes on. */
function finishCompensation(draft: Draft, inner: Place, block: SagaBlock, failed: boolean): void {
  const frame = frameAt(draft, inner);
  const detail = detailAt(draft, inner);
  const id = block.steps[detail.step]?.id ?? '';
  removeBelow(draft, frame);
  next(draft, frame, {
    ...detail,
    step: detail.done[detail.done.indexOf(detail.step) - 1] ?? -1,
    failedCompensations: failed ? [...detail.failedCompensations, id] : detail.failedCompensations,
  });
}

function next(draft: Draft, frame: Frame, detail: SagaDetail): void {
  draft.put({ ...frame, cursor: 0, leaf: null, state: 'open', detail });
}

/** [SAGA-5]: after the rollback the saga has failed, with the error of the action that caused it. */
function closeRolledBack(draft: Draft, place: Place, inner: Place): Outcome {
  const frame = frameAt(draft, inner);
  const detail = detailAt(draft, inner);
  const first = detail.failures[0]?.failure;
  const rollback = detail.failedCompensations.length === 0 ? 'rolled_back' : 'partial_rollback';
  return closeBlock(draft, place, frame, 'failed', {
    message: first?.message ?? '',
    code: first?.code ?? null,
    details: { rollback, failed_compensations: detail.failedCompensations, cause: first?.details ?? null },
  });
}

function close(draft: Draft, place: Place, inner: Place, end: 'drained' | 'cancelled'): Outcome {
  return closeBlock(draft, place, frameAt(draft, inner), end);
}
