import type { SagaBlock } from '../../definition/document.ts';
import type { Frame, SagaDetail } from '../frame.ts';
import { currentListIndex, listsOf } from '../plan.ts';
import { statusesOf } from './list-status.ts';
import { type Mapping, framed, keptOnly, placeList, refuse } from './mapping.ts';

type SagaStep = SagaBlock['steps'][number];

/**
 * Saga steps are found again by their ids. What has completed must be there still, or its compensation would be lost;
 * a new step before completed ones is the next to run.
 */
export function mapSaga(mapping: Mapping, block: SagaBlock, own: Frame): Frame {
  const old = mapping.draft.plan.nodes.get(own.blockId)?.block;
  if (own.detail.kind !== 'saga' || old?.type !== 'saga') return own;
  const { detail } = own;
  checkDone(mapping, old, block, own, detail);
  const indexOf = (index: number): number => indexIn(block, old.steps[index]);
  const done = detail.done.map(indexOf).filter((index) => index !== -1);
  const moved: SagaDetail = {
    ...detail,
    done,
    failedStep: detail.failedStep === null ? null : orNull(indexOf(detail.failedStep)),
  };
  if (detail.phase === 'rollback')
    return mapRollback(mapping, block, own, { ...moved, step: indexOf(detail.step) });
  return mapForward(mapping, block, own, { ...moved, ...forwardPlace(block, old, detail) });
}

const orNull = (index: number): number | null => (index === -1 ? null : index);

function indexIn(block: SagaBlock, step: SagaStep | undefined): number {
  return step === undefined ? -1 : block.steps.findIndex(({ id }) => id === step.id);
}

/** Actions that have completed, or that are being undone, need their step in the target. */
function checkDone(mapping: Mapping, old: SagaBlock, block: SagaBlock, own: Frame, detail: SagaDetail): void {
  const begun = hasBegun(mapping, own);
  const { done, step, phase } = detail;
  const rollback = phase === 'rollback' ? done.slice(0, done.indexOf(step) + 1) : null;
  // An action may have completed without the walk having looked at it since.
  const forward = begun === 'over' ? [...done, step] : done;
  for (const index of rollback ?? forward) {
    const before = old.steps[index];
    const after = block.steps[indexIn(block, before)];
    if (before === undefined) continue;
    const isSame = after?.action.id === before.action.id && mapping.same.has(before.action.id);
    if (!isSame) refuse(mapping, block.id, `step ${before.id} has completed and is not in the target`);
    else if (before.compensation !== undefined && after.compensation === undefined) {
      refuse(mapping, block.id, `step ${before.id} has completed and the target cannot undo it`);
    } else if (rollback !== null && index === step && begun !== null) {
      const undoing = before.compensation?.id ?? '';
      const isKept = after.compensation?.id === undoing && mapping.same.has(undoing);
      if (!isKept) refuse(mapping, block.id, `step ${before.id} is being undone in another way`);
    }
  }
  checkActions(mapping, old, block, detail);
}

/** Whether the list of the present step has begun, or is over; null for neither. */
function hasBegun(mapping: Mapping, own: Frame): 'begun' | 'over' | null {
  const kinds = [...statusesOf(mapping.draft, own, false).values()].map(({ kind }) => kind);
  if (kinds.includes('current')) return 'begun';
  return kinds.includes('done') ? 'over' : null;
}

/** An action that has run, skipped ones included, must not stand where it would run once more. */
function checkActions(mapping: Mapping, old: SagaBlock, block: SagaBlock, detail: SagaDetail): void {
  const ran = old.steps.filter((_, index) => isPassed(detail, index) || index === detail.step);
  for (const { id, action, compensation } of ran) {
    const inner = [action.id, ...(compensation === undefined ? [] : [compensation.id])];
    for (const step of block.steps) {
      const moved =
        step.id !== id && [step.action.id, step.compensation?.id].some((own) => inner.includes(own ?? ''));
      if (moved) refuse(mapping, block.id, `blocks of step ${id} stand in another step of the target`);
    }
  }
}

/** True for a step whose action is over in the forward phase. */
function isPassed({ step, ran }: SagaDetail, index: number): boolean {
  return ran === undefined ? index < step : ran.includes(index);
}

/** The step that is worked on, or the first one that has not run; and those behind it that have run before it. */
function forwardPlace(
  block: SagaBlock,
  old: SagaBlock,
  detail: SagaDetail,
): Pick<SagaDetail, 'step'> & { readonly ran: readonly number[] } {
  const ran = old.steps.flatMap((step, index) => {
    const at = isPassed(detail, index) ? indexIn(block, step) : -1;
    return at === -1 ? [] : [at];
  });
  const current = indexIn(block, old.steps[detail.step]);
  const next = block.steps.findIndex((_, index) => !ran.includes(index));
  return { step: current !== -1 ? current : next === -1 ? block.steps.length : next, ran };
}

function mapForward(mapping: Mapping, block: SagaBlock, own: Frame, moved: SagaDetail): Frame {
  const statuses = keptOnly(mapping, statusesOf(mapping.draft, own, false));
  const begun = [...statuses.values()].some(({ kind }) => kind !== 'pending');
  const next = block.steps.findIndex((_, index) => !(moved.ran ?? []).includes(index));
  // What has not begun gives way to a step that stands before it.
  const step = begun || own.state !== 'open' ? moved.step : next === -1 ? block.steps.length : next;
  const isPrefix = (moved.ran ?? []).every((index) => index < step) && (moved.ran ?? []).length === step;
  const { ran, ...plain } = moved;
  const detail: SagaDetail = isPrefix || ran === undefined ? { ...plain, step } : { ...plain, step, ran };
  const frame = { ...own, detail };
  return framed(frame, placeList(mapping, block.id, listsOf(block)[step * 2] ?? [], statuses));
}

function mapRollback(mapping: Mapping, block: SagaBlock, own: Frame, moved: SagaDetail): Frame {
  const { ran: _, ...detail } = moved;
  const frame: Frame = { ...own, detail };
  if (moved.step < 0) return frame;
  const statuses = keptOnly(mapping, statusesOf(mapping.draft, own, false));
  return framed(frame, placeList(mapping, block.id, listsOf(block)[currentListIndex(frame)] ?? [], statuses));
}
