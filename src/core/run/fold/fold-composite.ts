import type { Block, ParallelBlock, RaceBlock } from '../../definition/document.ts';
import { member } from '../../json.ts';
import type { Frame, FrameDetail } from '../frame.ts';
import { fansOut } from '../blocks/items.ts';
import { passPath } from '../plan.ts';
import { inRunOrder } from '../run-order.ts';
import { foldFanOut } from './fold-fan-out.ts';
import { foldSaga } from './fold-saga.ts';
import { foldTryCatch } from './fold-try-catch.ts';
import type { HistoryRow } from './history-row.ts';
import {
  type BlockFold,
  type Entered,
  type Fold,
  type ListFold,
  UNTOUCHED,
  failureIn,
  frameOf,
  listFrame,
  stateOf,
} from './list-frame.ts';
import { numberIn, snapshotOf } from './records.ts';

type Composite = Exclude<Block, { type: 'step' | 'sub_sequence' }>;

/** A composite that was entered and has not completed. One that failed or was cancelled keeps its frames, as in a run. */
export function foldComposite(
  fold: Fold,
  block: Composite,
  iteration: string,
  end: HistoryRow | undefined,
): BlockFold {
  switch (block.type) {
    case 'parallel':
    case 'race':
      return foldJoin(fold, { block, iteration, end });
    case 'router': {
      const route = routeOf(fold, block.id, iteration, end);
      const list = block.routes[route]?.blocks ?? block.default ?? [];
      return single(fold, { block, iteration, end }, { kind: 'router', route }, list, iteration);
    }
    case 'a_b_split': {
      const row = fold.records.variantOf(block.id, iteration);
      const variant = numberIn(
        row?.output,
        'variant_index',
        numberIn(member(end?.output, 'decision'), 'variant', 0),
      );
      const list = block.variants[variant]?.blocks ?? [];
      return single(fold, { block, iteration, end }, { kind: 'a_b_split', variant }, list, iteration);
    }
    case 'cancellation_scope':
      return single(fold, { block, iteration, end }, { kind: 'cancellation_scope' }, block.blocks, iteration);
    case 'for_each':
      if (fansOut(block)) return foldFanOut(fold, { block, iteration, end });
      return foldPasses(fold, { block, iteration, end });
    case 'loop':
      return foldPasses(fold, { block, iteration, end });
    case 'try_catch':
      return foldTryCatch(fold, { block, iteration, end });
    case 'saga':
      return foldSaga(fold, { block, iteration, end });
  }
}

/** The route that was chosen: by the row of the entry, else by the one of the end. */
function routeOf(fold: Fold, blockId: string, iteration: string, end: HistoryRow | undefined): number {
  const chosen = fold.records.choiceOf(blockId, iteration)?.output;
  return numberIn(member(chosen ?? end?.output, 'decision'), 'route', 0);
}

function single(
  fold: Fold,
  of: Entered,
  detail: FrameDetail,
  blocks: readonly Block[],
  iteration: string,
): BlockFold {
  return listFrame(fold, of, detail, fold.list(blocks, iteration));
}

function foldJoin(fold: Fold, of: Entered<ParallelBlock | RaceBlock>): BlockFold {
  const { block, iteration } = of;
  const state = stateOf(of.end, null);
  const lists = block.branches.map((branch) => fold.list(branch, iteration));
  // A branch that did not come to an end of its own was cancelled with the block.
  const ends = lists.map((list, branch) => {
    if (state === 'open') return list.end;
    return list.end === null || isUnseen(fold, of, branch, list) ? 'cancelled' : list.end;
  });
  const join = frameOf(fold, of, { kind: block.type, ends }, { list: UNTOUCHED, state });
  const branches = lists.flatMap((list, branch): readonly Frame[] => {
    const end = ends[branch] ?? null;
    if (end === 'drained') return [];
    const own = frameOf(fold, of, { kind: 'branch' }, { list, state: end ?? 'open' });
    return [{ ...own, branch }, ...list.below];
  });
  return { state, leaf: null, frames: [join, ...branches] };
}

/**
 * Something in the branch had just failed when another one decided about the block: the composite around it did not come
 * to say that it had failed, so it was cancelled.
 */
function isUnseen(
  fold: Fold,
  of: Entered<ParallelBlock | RaceBlock>,
  branch: number,
  list: ListFold,
): boolean {
  const block = inRunOrder(of.block.branches[branch] ?? [], list.order ?? undefined)[list.cursor];
  return (
    list.end === 'failed' && block !== undefined && fold.records.endOf(block.id, of.iteration) === undefined
  );
}

/** A loop or a plain for_each: the counter says how many passes are over, the rows of the next one that it was begun. */
function foldPasses(fold: Fold, of: Entered<Extract<Block, { type: 'loop' | 'for_each' }>>): BlockFold {
  const { block, iteration, end } = of;
  const counter = fold.records.counterOf(block.id, iteration)?.output;
  const decision = member(end?.output, 'decision');
  // The counters of a block that is over may be gone: a later pass around it has reset them.
  const counted = numberIn(counter, block.type === 'loop' ? '_iterations' : '_index', 0);
  const pass = numberIn(decision, 'passes', counted);
  const path = passPath(iteration, block.id, pass);
  const inPass =
    decision === undefined
      ? block.body.some((inner) => fold.records.isTouched(inner.id, path))
      : numberIn(decision, 'last_pass', -1) === pass;
  const list = fold.list(block.body, path);
  const shown = inPass ? list : UNTOUCHED;
  if (block.type === 'loop') {
    return listFrame(fold, of, { kind: 'loop', passes: pass, inPass, pollUntil: null }, shown);
  }
  const total = numberIn(counter, '_total', numberIn(decision, 'total', 0));
  const snapshotKey = snapshotOf(counter, end);
  const error = end === undefined || snapshotKey !== null ? null : failureIn(end.output);
  return listFrame(fold, of, { kind: 'for_each', index: pass, total, snapshotKey, inPass, error }, shown);
}
