import type { SagaBlock } from '../../definition/document.ts';
import { type JsonObject, isJsonObject, member } from '../../json.ts';
import { errorSummary } from '../failures.ts';
import type { SagaDetail } from '../frame.ts';
import {
  type BlockFold,
  type Entered,
  type Fold,
  type ListFold,
  UNTOUCHED,
  failuresIn,
  listFrame,
} from './list-frame.ts';
import { endWord } from './records.ts';

/** 9.10 from rows: the actions in order up to the first that is not over; after a failure, the compensations. */
export function foldSaga(fold: Fold, of: Entered<SagaBlock>): BlockFold {
  const { block, iteration, end } = of;
  const done: number[] = [];
  for (const [step, { action }] of block.steps.entries()) {
    const list = fold.list([action], iteration);
    if (list.end === 'drained') {
      if (wasDone(fold, action.id, iteration)) done.push(step);
      continue;
    }
    const forward = forwardDetail(step, done);
    // A failure after a cancel is not rolled back ([SAGA-6]); the row of the end then says nothing of a rollback.
    const rollsBack = end === undefined || isJsonObject(member(end.output, 'decision'));
    if (list.end === 'failed' && rollsBack) return foldRollback(fold, of, forward, list);
    return listFrame(fold, of, forward, list);
  }
  return listFrame(fold, of, forwardDetail(block.steps.length, done), UNTOUCHED);
}

function wasDone(fold: Fold, blockId: string, iteration: string): boolean {
  const row = fold.records.endOf(blockId, iteration);
  return row !== undefined && endWord(row) !== 'skipped';
}

function forwardDetail(step: number, done: readonly number[]): SagaDetail {
  return {
    kind: 'saga',
    phase: 'forward',
    step,
    done,
    failedStep: null,
    error: null,
    failures: [],
    failedCompensations: [],
  };
}

/** [SAGA-3], [SAGA-4]. */
function foldRollback(fold: Fold, of: Entered<SagaBlock>, forward: SagaDetail, failed: ListFold): BlockFold {
  const { block, iteration } = of;
  const failures = failuresIn(fold, of, forward, failed);
  const error: JsonObject = {
    failed_step: block.steps[forward.step]?.id ?? '',
    source: 'saga',
    block_id: block.id,
    errors: failures.map(errorSummary),
  };
  const begun: SagaDetail = { ...forward, phase: 'rollback', failedStep: forward.step, error, failures };
  const failedCompensations: string[] = [];
  for (const step of forward.done.toReversed()) {
    const undone = block.steps[step];
    const list = fold.list(undone?.compensation ? [undone.compensation] : [], iteration);
    if (list.end !== 'drained' && list.end !== 'failed') {
      return listFrame(fold, of, { ...begun, step, failedCompensations }, list);
    }
    if (list.end === 'failed') failedCompensations.push(undone?.id ?? '');
  }
  return listFrame(fold, of, { ...begun, step: -1, failedCompensations }, UNTOUCHED);
}
