import type { Block } from '../../definition/document.ts';
import { foldComposite } from '../fold/fold-composite.ts';
import type { Fold } from '../fold/list-frame.ts';
import { type Frame, type FrameDetail, type SagaDetail, type TryDetail, frameKey } from '../frame.ts';
import { listsOf } from '../plan.ts';
import { inRunOrder } from '../run-order.ts';
import { type Refused, refused } from './refused.ts';
import { type Level, type Target, levelOf } from './target.ts';

/** Where a run stands, from its rows and from what is stored. */
export interface Stand {
  readonly fold: Fold;
  readonly stored: ReadonlyMap<string, Frame>;
  /** The run has ended: what had not begun by then is over. */
  readonly isOver: boolean;
}

/** The last pass of a loop or for_each that was begun; null when there is none. */
export function lastBegunPass({ fold, stored }: Stand, owner: Block, iteration: string): number | null {
  const kept = stored.get(frameKey({ blockId: owner.id, branch: null, iteration }))?.detail;
  const folded = detailOf(fold, owner, iteration);
  const last = Math.max(
    folded === null ? -1 : lastPassOf(folded),
    kept === undefined ? -1 : lastPassOf(kept),
  );
  return last < 0 ? null : last;
}

function lastPassOf(detail: FrameDetail): number {
  if (detail.kind === 'loop') return detail.inPass ? detail.passes : detail.passes - 1;
  if (detail.kind === 'for_each') return detail.inPass ? detail.index : detail.index - 1;
  return detail.kind === 'fan_out' ? detail.next - 1 : -1;
}

/** What a composite has decided in a pass, also when it is over; null when it was not entered. */
function detailOf(fold: Fold, block: Block, iteration: string): FrameDetail | null {
  if (block.type === 'step' || block.type === 'sub_sequence') return null;
  const end = fold.records.endOf(block.id, iteration);
  if (end === undefined && !fold.records.isTouched(block.id, iteration)) return null;
  return foldComposite(fold, block, iteration, end).frames[0]?.detail ?? null;
}

/** Why the run has never stood at the target; null when it has, or when its turn is next. */
export function whyNotReached(stand: Stand, target: Target): Refused | null {
  for (const level of target.levels) {
    const problem =
      (level.owner === null ? null : inOwner(stand, target, level)) ?? inList(stand, target, level);
    if (problem !== null) return problem;
  }
  return null;
}

/**
 * The composites on the way must have been entered: by their rows, or by a frame that has left none yet. Inside one, a run
 * that goes on has to have come to the block.
 */
function inList({ fold, stored, isOver }: Stand, target: Target, level: Level): Refused | null {
  if (level === levelOf(target)) return isOver ? null : behindCursor(fold, target, level);
  const { block, iteration } = level;
  const isEntered =
    fold.records.endOf(block.id, iteration) !== undefined ||
    fold.records.isTouched(block.id, iteration) ||
    stored.has(frameKey({ blockId: block.id, branch: null, iteration }));
  return isEntered ? null : notReached(target, `${block.id} around it was not entered`);
}

function behindCursor(
  fold: Fold,
  target: Target,
  { owner, listIndex, iteration, index }: Level,
): Refused | null {
  if (owner === null) return null;
  const list = listsOf(owner)[listIndex] ?? [];
  const { end, cursor, order } = fold.list(list, iteration);
  const current = inRunOrder(list, order ?? undefined)[cursor];
  const at = current === undefined ? list.length : list.indexOf(current);
  return end !== null || index <= at ? null : notReached(target, `${current?.id ?? ''} has not ended`);
}

function inOwner(stand: Stand, target: Target, level: Level): Refused | null {
  const { owner, listIndex } = level;
  if (owner === null) return null;
  const outer = target.levels[target.levels.indexOf(level) - 1];
  const iteration = outer?.iteration ?? '';
  const key = frameKey({ blockId: owner.id, branch: null, iteration });
  const detail = detailOf(stand.fold, owner, iteration) ?? stand.stored.get(key)?.detail ?? null;
  switch (detail?.kind) {
    case 'router':
      return detail.route === listIndex ? null : notReached(target, `${owner.id} took another route`);
    case 'a_b_split':
      return detail.variant === listIndex ? null : notReached(target, `${owner.id} chose another variant`);
    case 'try_catch':
      return inTry(target, detail, listIndex);
    case 'saga':
      return inSaga(stand, target, { detail, owner, iteration }, listIndex);
    case 'loop':
    case 'for_each':
    case 'fan_out':
      return inPass(stand, target, level, { detail, iteration });
    case 'branch':
    case 'cancellation_scope':
    case 'item':
    case 'parallel':
    case 'race':
    case 'root':
    case undefined:
      return null;
  }
}

const TRY_LISTS = ['try', 'catch', 'finally'] as const;

function inTry(target: Target, { phase, tryEnd }: TryDetail, listIndex: number): Refused | null {
  const begun = listIndex <= TRY_LISTS.indexOf(phase);
  const taken = listIndex !== 1 || tryEnd === 'failed';
  return begun && taken ? null : notReached(target, `its ${TRY_LISTS[listIndex] ?? ''} list was not begun`);
}

/** What a rollback has undone is gone: an action cannot go on from effects that are not there any more. */
function inSaga(
  { fold }: Stand,
  target: Target,
  of: { readonly detail: SagaDetail; readonly owner: Block; readonly iteration: string },
  listIndex: number,
): Refused | null {
  const { detail, owner, iteration } = of;
  const step = Math.floor(listIndex / 2);
  if (listIndex % 2 === 1) {
    const isBegun = detail.phase === 'rollback' && detail.done.includes(step) && step >= detail.step;
    return isBegun ? null : notReached(target, 'its step was not rolled back');
  }
  if (step > (detail.failedStep ?? detail.step))
    return notReached(target, 'an action before it has not ended');
  if (detail.phase === 'forward' || owner.type !== 'saga') return null;
  const undone = owner.steps.slice(0, step).find(({ compensation }) => {
    const end = compensation === undefined ? undefined : fold.records.endOf(compensation.id, iteration);
    return end !== undefined;
  });
  if (undone === undefined) return null;
  return refused(
    'rolled_back',
    `${owner.id} was rolled back, which undid ${undone.id}: go back to ${owner.id}`,
  );
}

function inPass(
  stand: Stand,
  target: Target,
  { owner, pass }: Level,
  of: { readonly detail: FrameDetail; readonly iteration: string },
): Refused | null {
  if (owner === null || pass === null) return null;
  const last = lastBegunPass(stand, owner, of.iteration);
  if (last === null || pass > last) return notReached(target, `pass ${pass} of ${owner.id} was not begun`);
  const keep = owner.type === 'loop' || owner.type === 'for_each' ? (owner.retain_iterations ?? 0) : 0;
  const over = endedPasses(of.detail);
  if (keep === 0 || pass >= over - keep) return null;
  return refused('not_retained', `pass ${pass} of ${owner.id} is not kept: retain_iterations is ${keep}`);
}

function endedPasses(detail: FrameDetail): number {
  if (detail.kind === 'loop') return detail.passes;
  if (detail.kind === 'for_each') return detail.index;
  return detail.kind === 'fan_out' ? detail.ended : 0;
}

function notReached(target: Target, why: string): Refused {
  const { block, iteration } = levelOf(target);
  const pass = iteration === '' ? '' : ` in pass ${iteration}`;
  return refused('not_reached', `the run has not reached ${block.id}${pass}: ${why}`);
}
