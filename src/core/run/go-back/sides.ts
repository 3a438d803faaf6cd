import { member } from '../../json.ts';
import type { HistoryRow } from '../fold/history-row.ts';
import { numberIn } from '../fold/records.ts';
import { type Plan, type PlanNode, lastPass, outerIteration } from '../plan.ts';
import type { Level, Target } from './target.ts';
import { wayTo } from './target.ts';

/**
 * Where something stands as seen from a target: it has ended before the target's turn; it comes after it, or is part of
 * it; it runs beside it in another branch or item; or it is a block around it.
 */
export type Side = 'before' | 'after' | 'around' | { readonly beside: Level; readonly listIndex: number };

/** The side of a block in a pass. `item` levels are those of a `for_each` whose items run side by side. */
export function sideOf(plan: Plan, target: Target, node: PlanNode, iteration: string): Side {
  const way = wayTo(plan, node);
  const paths = pathsOf(plan, way, iteration);
  for (const [depth, level] of target.levels.entries()) {
    const at = way[depth];
    const path = paths[depth];
    if (at === undefined || path === undefined) return 'around';
    const side = inOtherList(level, at, path);
    if (side !== null) return side;
    if (at.index !== level.index) return at.index < level.index ? 'before' : 'after';
  }
  return 'after';
}

/** The pass in which each block on a way stands, outermost first. */
function pathsOf(plan: Plan, way: readonly PlanNode[], iteration: string): readonly string[] {
  const paths: string[] = [];
  let path = iteration;
  for (const at of way.toReversed()) {
    paths.unshift(path);
    const owner = at.parentId === null ? undefined : plan.nodes.get(at.parentId)?.block;
    if (owner?.type === 'loop' || owner?.type === 'for_each') path = outerIteration(path, owner.id);
  }
  return paths;
}

/** The side by another list or pass of the same composite; null when they are the target's. */
function inOtherList(level: Level, { listIndex }: PlanNode, path: string): Side | null {
  const { owner } = level;
  switch (owner?.type) {
    case 'loop':
    case 'for_each': {
      const pass = lastPass(path);
      if (pass === level.pass) return null;
      if (level.isConcurrent) return { beside: level, listIndex: pass };
      return pass < (level.pass ?? 0) ? 'before' : 'after';
    }
    case 'parallel':
    case 'race':
      return listIndex === level.listIndex ? null : { beside: level, listIndex };
    case 'try_catch':
      return listIndex === level.listIndex ? null : listIndex < level.listIndex ? 'before' : 'after';
    case 'saga':
      return listIndex === level.listIndex ? null : inSaga(level.listIndex, listIndex);
    case 'a_b_split':
    case 'cancellation_scope':
    case 'router':
    case 'step':
    case 'sub_sequence':
    case undefined:
      return listIndex === level.listIndex ? null : 'after';
  }
}

/** Actions run forward, then compensations run backward. An action has an even index, its compensation the odd one. */
function inSaga(target: number, other: number): 'before' | 'after' {
  const isRollback = target % 2 === 1;
  if (other % 2 === 1) return isRollback && other > target ? 'before' : 'after';
  return isRollback || other < target ? 'before' : 'after';
}

/** True for a row of a block around the target that says what is so before the target's turn, too. */
export function isOfBefore(row: HistoryRow, level: Level): boolean {
  if (row.kind === 'variant') return true;
  if (row.kind === 'node') return member(row.output, 'state') === undefined;
  if (row.kind !== 'counter') return false;
  const item = member(row.output, '_item');
  if (typeof item === 'number') return level.isConcurrent ? item !== level.pass : item < (level.pass ?? 0);
  return numberIn(row.output, '_iterations', numberIn(row.output, '_index', 0)) <= (level.pass ?? 0);
}
