import { type Result, err, ok } from '../../result.ts';
import { foldOf, foldRun } from '../fold/fold-run.ts';
import type { Fold } from '../fold/list-frame.ts';
import { type HistoryRow, byOrder, isLive } from '../fold/history-row.ts';
import { type Frame, frameKey } from '../frame.ts';
import type { NewRow } from '../output-row.ts';
import { type Plan, descendantIds } from '../plan.ts';
import { inRunOrder } from '../run-order.ts';
import { isTerminal } from '../states.ts';
import type { InstanceState } from '../states.ts';
import { type ItemOf, framesAt } from './frames-at.ts';
import { splitRows } from './kept-rows.ts';
import { lostCounters } from './lost-rows.ts';
import { passedOverRows } from './passed-over.ts';
import { lastBegunPass, whyNotReached } from './reach.ts';
import { type Refused, refused } from './refused.ts';
import { type Target, findTarget } from './target.ts';

export interface StandInput {
  readonly plan: Plan;
  readonly state: InstanceState;
  /** All rows of the instance, oldest first. */
  readonly rows: readonly HistoryRow[];
  readonly stored: readonly Frame[];
  readonly blockId: string;
  readonly iteration: string | null;
  /** Root blocks that were injected after the run had ended. */
  readonly arrived: ReadonlySet<string>;
  readonly itemOf: ItemOf;
  readonly now: number;
  /** Number of the run that begins. */
  readonly runNo: number;
}

/** A run that stands at a block once more. */
export interface StandsAt {
  readonly target: Target;
  /** Live rows that stay, and those that go. */
  readonly kept: readonly HistoryRow[];
  readonly dropped: readonly HistoryRow[];
  /** Rows to be written with it. */
  readonly rows: readonly Omit<NewRow, 'id'>[];
  readonly frames: ReadonlyMap<string, Frame>;
  /** The target is a root block that the run has not come to: what stands before it goes on first. */
  readonly isAhead: boolean;
}

/**
 * Where a run stands when it goes back to a block in one of its passes (20.2, 20.3): what ended before the block stays,
 * all from it on is to be done again. `needs_items`: items have to be read first.
 */
export function standAt(input: StandInput): Result<StandsAt, Refused> | 'needs_items' {
  const { plan, rows, blockId, iteration, itemOf, now, runNo } = input;
  const live = rows.filter(isLive).sort(byOrder);
  const fold = foldOf(plan, live);
  const stored = new Map(input.stored.map((frame) => [frameKey(frame), frame]));
  const stand = { fold, stored, isOver: isTerminal(input.state) };
  const found = findTarget(plan, blockId, iteration, (owner, path) => lastBegunPass(stand, owner, path));
  if (!found.ok) return found;
  const target = found.value;
  const problem = whyNotReached(stand, target);
  if (problem !== null) return err(problem);
  const split = splitRows(fold, target, live);
  const left = foldOf(plan, split.kept);
  const passedOver = passedOverRows(left, target, { isOver: stand.isOver, arrived: input.arrived });
  const { kept, dropped } = withoutErrors(plan, split, passedOver);
  const added = [...passedOver, ...lostCounters(left, rows, target)];
  const told = [...kept, ...added.map((row, ordinal) => asHistory(row, ordinal))];
  const instance = { state: 'scheduled' as const, startedAt: now, cancelRequestedAt: null };
  const folded = foldRun({ plan, rows: told, instance });
  const isAhead =
    split.dropped.length === 0 && isBehind(fold, target) && isBehind(foldOf(plan, told), target);
  const frames = framesAt(target, folded, { itemOf, now, runNo });
  if (frames === null) return 'needs_items';
  const missing = missingItems(target, frames);
  if (missing !== null) return err(missing);
  return ok({ target, kept, dropped, rows: added, frames, isAhead });
}

/** Error rows say that the run failed because of a leaf ([ERR-ROW-2]): now it has only of those that are passed over. */
function withoutErrors(
  plan: Plan,
  { kept, dropped }: Pick<StandsAt, 'kept' | 'dropped'>,
  passedOver: readonly { readonly blockId: string }[],
): Pick<StandsAt, 'kept' | 'dropped'> {
  const failed = new Set(passedOver.flatMap(({ blockId }) => [blockId, ...descendantIds(plan, blockId)]));
  const isGone = (row: HistoryRow): boolean => row.kind === 'error' && !failed.has(row.blockId);
  return { kept: kept.filter((row) => !isGone(row)), dropped: [...dropped, ...kept.filter(isGone)] };
}

/** True for a root block that the run has not come to: the root list stands at another one that has not ended. */
function isBehind({ plan, list }: Fold, { levels }: Target): boolean {
  const { blocks } = plan.document;
  const { end, cursor, order } = list(blocks, '');
  const [level, inner] = levels;
  if (level === undefined || inner !== undefined || end !== null) return false;
  return inRunOrder(blocks, order ?? undefined).indexOf(level.block) > cursor;
}

/** Why the items around the target cannot go on; null when they can. */
function missingItems({ levels }: Target, frames: ReadonlyMap<string, Frame>): Refused | null {
  for (const [depth, { owner }] of levels.entries()) {
    const iteration = levels[depth - 1]?.iteration ?? '';
    if (owner?.type !== 'for_each') continue;
    const detail = frames.get(frameKey({ blockId: owner.id, branch: null, iteration }))?.detail;
    if (detail?.kind !== 'for_each' && detail?.kind !== 'fan_out') continue;
    if (detail.snapshotKey === null) {
      return refused('not_retained', `the items of ${owner.id} are not kept: go back to ${owner.id}`);
    }
    // Their failures are stored aside under the run in which they failed.
    if (detail.kind === 'fan_out' && (detail.failed > 0 || detail.again.length > 0)) {
      return refused(
        'set_aside',
        `other items of ${owner.id} failed and were tolerated: go back to ${owner.id}`,
      );
    }
  }
  return null;
}

/** A row that is still to be written, behind all that are there. */
function asHistory(row: Omit<NewRow, 'id'>, ordinal: number): HistoryRow {
  const { runNo = 0, ...rest } = row;
  const at = { rev: Number.MAX_SAFE_INTEGER, ordinal, createdAt: row.startedAt ?? 0 };
  return { ...rest, ...at, id: '', runNo, supersededBy: null };
}
