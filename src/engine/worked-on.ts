import type { Block } from '../core/definition/document.ts';
import { type Frame, frameKey } from '../core/run/frame.ts';
import { currentList, innerIteration, isJoin, isJoined, type Plan } from '../core/run/plan.ts';
import type { Frontier } from '../ports/store/reads.ts';

export interface WorkedOn {
  readonly blockId: string;
  readonly iteration: string;
}

/**
 * The blocks that the turn which holds an instance is at, as far as anything is stored of it: those that stand at a cursor
 * and have not begun. A turn calls its first step without a note of its own (RULINGS A22), so until that call ends nothing
 * else names the step.
 */
export function workedOn({ frames }: Frontier, plan: Plan): readonly WorkedOn[] {
  if (frames.length === 0) return first(plan.document.blocks, '');
  const entered = new Set(frames.filter((frame) => !isJoined(frame)).map(frameKey));
  return frames.flatMap((frame) => {
    if (frame.state !== 'open' || frame.leaf !== null || isJoin(frame)) return [];
    const block = currentList(plan, frame)[frame.cursor];
    const iteration = innerIteration(frame);
    if (block === undefined || isEntered(entered, frame, block)) return [];
    return first([block], iteration);
  });
}

/** A composite that has frames of its own says by them where it is. */
function isEntered(entered: ReadonlySet<string>, frame: Frame, block: Block): boolean {
  return entered.has(
    frameKey({ ...frame, blockId: block.id, branch: null, iteration: innerIteration(frame) }),
  );
}

/** The first block of a list that is worked on; a composite whose choice nobody can foresee stands for its blocks. */
function first([block]: readonly Block[], iteration: string): readonly WorkedOn[] {
  switch (block?.type) {
    case undefined:
      return [];
    case 'cancellation_scope':
      return first(block.blocks, iteration);
    case 'try_catch':
      return first(block.try_block, iteration);
    case 'parallel':
    case 'race':
      return block.branches.flatMap((branch) => first(branch, iteration));
    case 'saga':
      return first(
        block.steps.slice(0, 1).map(({ action }) => action),
        iteration,
      );
    case 'step':
    case 'sub_sequence':
    case 'router':
    case 'a_b_split':
    case 'loop':
    case 'for_each':
      return [{ blockId: block.id, iteration }];
  }
}
