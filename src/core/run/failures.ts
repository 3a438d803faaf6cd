import type { JsonObject } from '../json.ts';
import type { Draft } from './draft.ts';
import { type FailedLeaf, type Frame, frameKey } from './frame.ts';
import { currentList, innerIteration, listsOf } from './plan.ts';

/**
 * The leaves below a failed list whose failure nothing absorbed, in document order. They are found through the frames
 * that a failure leaves behind.
 */
export function failedLeaves(draft: Draft, frame: Frame): readonly FailedLeaf[] {
  const block = currentList(draft.plan, frame)[frame.cursor];
  if (block === undefined) return [];
  const iteration = innerIteration(frame);
  if (block.type === 'step' || block.type === 'sub_sequence') {
    const failure = frame.leaf?.error;
    if (frame.leaf?.state !== 'failed' || failure === undefined || failure === null) return [];
    return [{ blockId: block.id, iteration, attempt: frame.leaf.attempt, failure }];
  }
  const inner = draft.frames.get(frameKey({ blockId: block.id, branch: null, iteration }));
  return inner === undefined || inner.state !== 'failed'
    ? []
    : failuresOfBlock(draft, inner, listsOf(block).length);
}

function failuresOfBlock(draft: Draft, frame: Frame, lists: number): readonly FailedLeaf[] {
  const { detail } = frame;
  switch (detail.kind) {
    case 'parallel':
    case 'race':
      return Array.from({ length: lists }, (_, branch) =>
        draft.frames.get(frameKey({ blockId: frame.blockId, branch, iteration: frame.iteration })),
      ).flatMap((branch) =>
        branch === undefined || branch.state !== 'failed' ? [] : failedLeaves(draft, branch),
      );
    case 'saga':
      return detail.failures;
    case 'try_catch':
      return [...detail.failures, ...failedLeaves(draft, frame)];
    case 'for_each':
      if (detail.error === null) return failedLeaves(draft, frame);
      return [{ blockId: frame.blockId, iteration: frame.iteration, attempt: 0, failure: detail.error }];
    case 'root':
    case 'branch':
    case 'router':
    case 'a_b_split':
    case 'loop':
    case 'cancellation_scope':
      return failedLeaves(draft, frame);
  }
}

/** An entry of `_error.errors` ([TRY-4]). */
export function errorSummary(leaf: FailedLeaf): JsonObject {
  return { block_id: leaf.blockId, ...errorObject(leaf.failure) };
}

/** `{message, code?, details?}` as documents see a failure. */
export function errorObject(failure: FailedLeaf['failure']): JsonObject {
  return {
    message: failure.message,
    ...(failure.code === undefined ? {} : { code: failure.code }),
    ...(failure.details === undefined ? {} : { details: failure.details }),
  };
}
