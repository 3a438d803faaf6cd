import { type JsonObject, canonicalJson, utf8Bytes } from '../json.ts';
import type { Draft } from './draft.ts';
import { type FailedLeaf, type Frame, frameKey } from './frame.ts';
import { itemFrames } from './item-frames.ts';
import { currentList, innerIteration, listsOf } from './plan.ts';
import type { Standing } from './standing.ts';

/**
 * `all`: what failed below, for `_error` and for people. `unabsorbed`: without what a rollback has absorbed, for the
 * error rows of a run that failed ([ERR-ROW-3]).
 */
export type WhichFailures = 'all' | 'unabsorbed';

/**
 * The leaves below a failed list whose failure nothing absorbed, in document order. They are found through the frames
 * that a failure leaves behind.
 */
export function failedLeaves(
  draft: Standing,
  frame: Frame,
  which: WhichFailures = 'all',
): readonly FailedLeaf[] {
  const all = leavesBelow(draft, frame);
  return which === 'all' ? all : all.filter((leaf) => leaf.rolledBack !== true);
}

function leavesBelow(draft: Standing, frame: Frame): readonly FailedLeaf[] {
  const block = currentList(draft.plan, frame)[frame.cursor];
  if (block === undefined) return [];
  const iteration = innerIteration(frame);
  const failure = frame.leaf?.error ?? null;
  if (frame.leaf?.state === 'failed' && failure !== null) {
    return [{ blockId: block.id, iteration, attempt: frame.leaf.attempt, failure }];
  }
  const inner = draft.frames.get(frameKey({ blockId: block.id, branch: null, iteration }));
  return inner === undefined || inner.state !== 'failed'
    ? []
    : failuresOfBlock(draft, inner, listsOf(block).length);
}

function failuresOfBlock(draft: Standing, frame: Frame, lists: number): readonly FailedLeaf[] {
  const { detail } = frame;
  switch (detail.kind) {
    case 'parallel':
    case 'race':
      return Array.from({ length: lists }, (_, branch) =>
        draft.frames.get(frameKey({ blockId: frame.blockId, branch, iteration: frame.iteration })),
      ).flatMap((branch) => (branch?.state === 'failed' ? leavesBelow(draft, branch) : []));
    case 'saga':
      if (detail.phase === 'forward') return leavesBelow(draft, frame);
      return detail.failures.map((leaf) => ({ ...leaf, rolledBack: true }));
    case 'try_catch':
      return [...detail.failures, ...leavesBelow(draft, frame)];
    case 'for_each':
      if (detail.error === null) return leavesBelow(draft, frame);
      return [{ blockId: frame.blockId, iteration: frame.iteration, attempt: 0, failure: detail.error }];
    case 'fan_out':
      if (detail.error === null) {
        const failed = itemFrames(draft.frames.values(), frame).filter((item) => item.state === 'failed');
        return failed.flatMap((item) => leavesBelow(draft, item));
      }
      return [{ blockId: frame.blockId, iteration: frame.iteration, attempt: 0, failure: detail.error }];
    case 'root':
    case 'branch':
    case 'item':
    case 'router':
    case 'a_b_split':
    case 'loop':
    case 'cancellation_scope':
      return leavesBelow(draft, frame);
  }
}

/**
 * Writes a block's error object to `data._error` ([CERR-1]). One that would make the context too large is written
 * without the details of its errors ([CTX-1]); the full one is read from the block's frame.
 */
export function writeError(draft: Draft, error: JsonObject, failures: readonly FailedLeaf[]): void {
  const limit = draft.env.maxContextBytes;
  const bytes = (value: JsonObject): number => utf8Bytes(canonicalJson(value));
  const { data, config, audit } = draft.record;
  const fits = limit === 0 || bytes({ data, config, audit, error }) <= limit;
  const errors = failures.map(({ blockId, failure: { message, code } }) => ({
    block_id: blockId,
    message: message.slice(0, MESSAGE_CHARACTERS_MAX),
    ...(code === undefined ? {} : { code }),
  }));
  draft.instance.setData({ _error: fits ? error : { ...error, errors } });
}

const MESSAGE_CHARACTERS_MAX = 1000;

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
