import type { SagaBlock } from '../../definition/document.ts';
import { type JsonObject, isJsonObject, member } from '../../json.ts';
import { FRESH } from '../blocks/saga.ts';
import { errorSummary } from '../failures.ts';
import type { SagaDetail } from '../frame.ts';
import { byOrder } from './history-row.ts';
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

/** 9.10 from rows: which actions are over and which one is worked on; after a failure, the compensations. */
export function foldSaga(fold: Fold, of: Entered<SagaBlock>): BlockFold {
  const { block, iteration, end } = of;
  const actions = block.steps.map(({ action }) => fold.list([action], iteration));
  const forward = forwardDetail(fold, of, actions);
  const list = actions[forward.step];
  if (list === undefined) return listFrame(fold, of, forward, UNTOUCHED);
  // A failure after a cancel is not rolled back ([SAGA-6]); the row of the end then says nothing of a rollback.
  const rollsBack = end === undefined || isJsonObject(member(end.output, 'decision'));
  if (list.end === 'failed' && rollsBack) return foldRollback(fold, of, forward, list);
  return listFrame(fold, of, forward, list);
}

/** A migration may have put new steps before those that have run, or that were begun: they come next ([OP-14]). */
function forwardDetail(fold: Fold, of: Entered<SagaBlock>, actions: readonly ListFold[]): SagaDetail {
  const ran = actions.flatMap(({ end }, step) => (end === 'drained' ? [step] : []));
  const begun = actions.findIndex(
    ({ end, below }) => end !== 'drained' && (end !== null || below.length > 0),
  );
  const next = actions.findIndex(({ end }) => end !== 'drained');
  const step = begun !== -1 ? begun : next !== -1 ? next : actions.length;
  const isInOrder = ran.length === step && ran.every((index) => index < step);
  return { ...FRESH, step, done: doneOf(fold, of, ran), ...(isInOrder ? {} : { ran }) };
}

/** The actions that completed, in the order of their ends; a skipped one is not compensated ([SAGA-3]). */
function doneOf(
  fold: Fold,
  { block, iteration }: Entered<SagaBlock>,
  ran: readonly number[],
): readonly number[] {
  return ran
    .flatMap((step) => {
      const row = fold.records.endOf(block.steps[step]?.action.id ?? '', iteration);
      return row === undefined || endWord(row) === 'skipped' ? [] : [{ step, row }];
    })
    .sort((left, right) => byOrder(left.row, right.row))
    .map(({ step }) => step);
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
