import type { Frame } from '../frame.ts';
import { rootFrame } from '../fresh-frames.ts';
import type { Plan } from '../plan.ts';
import type { InstanceState } from '../states.ts';
import { foldList } from './fold-list.ts';
import { type HistoryRow, isLive } from './history-row.ts';
import type { Fold } from './list-frame.ts';
import { readRecords } from './records.ts';

export interface FoldInput {
  readonly plan: Plan;
  /** All rows of the instance, or at least the live ones. */
  readonly rows: readonly HistoryRow[];
  readonly instance: {
    readonly state: InstanceState;
    readonly startedAt: number | null;
    readonly cancelRequestedAt: number | null;
  };
}

export function foldOf(plan: Plan, rows: readonly HistoryRow[]): Fold {
  const fold: Fold = {
    plan,
    records: readRecords(plan, rows),
    list: (blocks, iteration) => foldList(fold, blocks, iteration),
  };
  return fold;
}

/**
 * Rebuilds the frontier from the live rows alone (RULINGS B2). Known is what has ended, what was chosen and how far each
 * list is; a leaf that is in flight leaves no row before it ends, so it is pending here. Frames of a run that completed or
 * was cancelled are gone but for the root list's.
 */
export function foldRun({ plan, rows, instance }: FoldInput): readonly Frame[] {
  const fold = foldOf(plan, rows.filter(isLive));
  const list = fold.list(plan.document.blocks, '');
  const { state } = instance;
  const root: Frame = {
    ...rootFrame(instance.startedAt ?? 0),
    cursor: list.cursor,
    ...(list.order === null ? {} : { order: list.order }),
    leaf: list.leaf,
    state: state === 'cancelled' ? 'cancelled' : list.end === 'failed' ? 'failed' : 'open',
  };
  const isClosed = state === 'completed' || state === 'cancelled';
  return isClosed ? [{ ...root, leaf: null }] : [root, ...list.below];
}
