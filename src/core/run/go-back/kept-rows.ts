import type { HistoryRow } from '../fold/history-row.ts';
import type { Fold } from '../fold/list-frame.ts';
import type { Plan, PlanNode } from '../plan.ts';
import { isOfBefore, sideOf } from './sides.ts';
import type { Level, Target } from './target.ts';

/**
 * Splits the live rows of a run at a target: what has ended before it stays, what comes after it or is part of it goes.
 * Finished work beside it stays, but for what would decide a block around the target at once: a race that has its winner,
 * or a parallel that has enough successes, could never get to the target again.
 */
export function splitRows(
  fold: Fold,
  target: Target,
  live: readonly HistoryRow[],
): { readonly kept: readonly HistoryRow[]; readonly dropped: readonly HistoryRow[] } {
  const stays = createStays(fold, target);
  return { kept: live.filter(stays), dropped: live.filter((row) => !stays(row)) };
}

function createStays(fold: Fold, target: Target): (row: HistoryRow) => boolean {
  const { plan } = fold;
  const decided = new Map<Level, ReadonlySet<number>>();
  const decides = (level: Level, listIndex: number): boolean => {
    const known = decided.get(level) ?? decidingLists(fold, level);
    decided.set(level, known);
    return known.has(listIndex);
  };
  return (row) => {
    const node = nodeOf(plan, row);
    if (node === 'run') return row.blockId === '_interceptor:on_signal';
    const side = sideOf(plan, target, node, row.iteration);
    if (typeof side === 'object') return !decides(side.beside, side.listIndex);
    return side === 'around' ? aroundStays(plan, target, node, row) : side === 'before';
  };
}

function aroundStays(plan: Plan, target: Target, node: PlanNode, row: HistoryRow): boolean {
  const inner = target.levels.find(({ owner }) => owner?.id === node.block.id);
  // A row of the trace of a block, such as an alert, has no say in how far it is.
  const isOwn = plan.nodes.has(row.blockId);
  return isOwn && inner !== undefined && isOfBefore(row, inner);
}

const TRACE = /^_(?:interceptor:(?:before|after)|sla:step):/;

/** The block that a row is about; `run` for one about the run as a whole, or about the cleanup after it. */
function nodeOf(plan: Plan, row: HistoryRow): PlanNode | 'run' {
  if (row.kind === 'hook' || row.kind === 'hook_error') return 'run';
  return plan.nodes.get(row.blockId) ?? plan.nodes.get(row.blockId.replace(TRACE, '')) ?? 'run';
}

/** The finished branches beside the target that decide their block. */
function decidingLists(fold: Fold, level: Level): ReadonlySet<number> {
  const { owner } = level;
  if (owner?.type !== 'parallel' && owner?.type !== 'race') return new Set();
  const drained = owner.branches.flatMap((branch, index) =>
    index !== level.listIndex && fold.list(branch, level.iteration).end === 'drained' ? [index] : [],
  );
  if (owner.type === 'race') return new Set(drained);
  const enough = owner.min_successful !== undefined && drained.length >= owner.min_successful;
  return new Set(enough ? drained : []);
}
