import { afterAction } from '../blocks/saga.ts';
import type { Frame, SagaDetail, TryDetail } from '../frame.ts';
import { type Plan, currentList } from '../plan.ts';

/**
 * The frames as they are once a walk has seen to them. While a run is paused results are recorded and nothing else moves,
 * and so it is when a person has given the result of the block that a run goes back to: a list has then come to its end,
 * and its block does not know yet. The rows say what will come of it.
 */
export function withSeenEnds(plan: Plan, frames: readonly Frame[]): readonly Frame[] {
  return frames.map((frame) => {
    const { detail, cursor, state } = frame;
    if (state !== 'open' || cursor === 0 || cursor < currentList(plan, frame).length) return frame;
    if (detail.kind === 'try_catch' && detail.phase !== 'finally') {
      return { ...frame, cursor: 0, detail: afterList(detail) };
    }
    return detail.kind === 'saga' ? { ...frame, cursor: 0, detail: afterStep(plan, frame, detail) } : frame;
  });
}

/** A catch list that drained has absorbed what had failed in the try list. */
function afterList(detail: TryDetail): TryDetail {
  const end = detail.phase === 'try' ? 'tryEnd' : 'catchEnd';
  return { ...detail, phase: 'finally', [end]: 'drained', failures: [] };
}

function afterStep(plan: Plan, { blockId }: Frame, detail: SagaDetail): SagaDetail {
  const { phase, step, done } = detail;
  const block = plan.nodes.get(blockId)?.block;
  if (block?.type !== 'saga') return detail;
  if (phase === 'forward') return { ...afterAction(block, detail), done: [...done, step] };
  return { ...detail, step: done[done.indexOf(step) - 1] ?? -1 };
}
