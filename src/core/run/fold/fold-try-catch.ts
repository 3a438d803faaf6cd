import type { TryCatchBlock } from '../../definition/document.ts';
import { type Json, type JsonObject, member } from '../../json.ts';
import { errorSummary } from '../failures.ts';
import type { FailedLeaf, ListEnd, TryDetail } from '../frame.ts';
import {
  type BlockFold,
  type Entered,
  type Fold,
  type ListFold,
  failuresIn,
  listFrame,
} from './list-frame.ts';

/** 9.4 from rows: each list says how it ended, and the row of the block how far it came before it was cut short. */
export function foldTryCatch(fold: Fold, of: Entered<TryCatchBlock>): BlockFold {
  const { block, iteration, end } = of;
  const decided = end === undefined ? undefined : (member(end.output, 'decision') ?? null);
  const tried = fold.list(block.try_block, iteration);
  const tryEnd = endWith(decided, 'try', tried.end);
  if (tryEnd === null) return listFrame(fold, of, FRESH, tried);
  const after = afterTry(fold, of, tried, tryEnd);
  const caught = fold.list(block.catch_block, iteration);
  const catchEnd = tryEnd === 'failed' ? endWith(decided, 'catch', caught.end) : null;
  if (tryEnd === 'failed' && catchEnd === null) return listFrame(fold, of, after, caught);
  const detail: TryDetail = {
    ...after,
    phase: 'finally',
    catchEnd,
    failures: failuresAfterCatch(fold, of, after, caught, catchEnd),
  };
  return listFrame(fold, of, detail, fold.list(block.finally_block ?? [], iteration));
}

const FRESH: TryDetail = {
  kind: 'try_catch',
  phase: 'try',
  tryEnd: null,
  catchEnd: null,
  error: null,
  failures: [],
};

function endWith(decided: Json | undefined, phase: 'try' | 'catch', byRows: ListEnd | null): ListEnd | null {
  if (decided === undefined) return byRows;
  const end = member(decided, phase);
  return end === 'drained' || end === 'failed' || end === 'cancelled' ? end : null;
}

function afterTry(fold: Fold, of: Entered<TryCatchBlock>, tried: ListFold, tryEnd: ListEnd): TryDetail {
  if (tryEnd !== 'failed') return { ...FRESH, phase: 'catch', tryEnd };
  const { block } = of;
  const failed = block.try_block[tried.cursor];
  const failures = failuresIn(fold, of, FRESH, tried);
  const error: JsonObject = {
    failed_blocks: failed === undefined ? [] : [failed.id],
    source: 'try_catch',
    block_id: block.id,
    errors: failures.map(errorSummary),
  };
  return { ...FRESH, phase: 'catch', tryEnd, error, failures };
}

function failuresAfterCatch(
  fold: Fold,
  of: Entered<TryCatchBlock>,
  after: TryDetail,
  caught: ListFold,
  catchEnd: ListEnd | null,
): readonly FailedLeaf[] {
  if (catchEnd === 'drained') return [];
  if (catchEnd !== 'failed') return after.failures;
  return [...after.failures, ...failuresIn(fold, of, { ...after, failures: [] }, caught)];
}
