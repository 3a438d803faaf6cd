import type { ForEachBlock } from '../../definition/document.ts';
import type { Failure } from '../../failure.ts';
import { type Result, err, ok } from '../../result.ts';
import type { Draft } from '../draft.ts';
import { frameKey } from '../frame.ts';
import { type Place, frameAt } from '../place.ts';
import { type Plan, descendantIds, isInside, passPath } from '../plan.ts';
import { fanOutAt } from './fan-out-detail.ts';

/**
 * `collect: true`: writes the row of the block, the last outputs of its items in index order. Of an item the result of
 * that block counts which stands last in the document among those that left one; `null` when none did, and
 * `{"error": …}` for an item that failed. null: the rows have to be committed or read first.
 */
export function collectOutputs(
  draft: Draft,
  owner: Place,
  block: ForEachBlock,
): Result<null, Failure> | null {
  const { total, failedKey, snapshotKey } = fanOutAt(draft, owner);
  const frame = frameAt(draft, owner);
  if (hasPendingRows(draft, block, frame.iteration)) {
    draft.runnableLeft = true;
    return null;
  }
  const key = frameKey(frame);
  const { items, bytes } = draft.knowledge.fanOut.collected(key);
  if (bytes > draft.env.maxOutputBytes) {
    draft.knowledge.fanOut.dropCollected(key);
    return err({
      message: `the outputs of the items of ${block.id} are too large to be collected`,
      retryable: false,
      code: 'OUTPUT_TOO_LARGE',
    });
  }
  if (items.length < total && snapshotKey !== null) {
    draft.knowledge.fanOut.askCollected({
      blockId: block.id,
      iteration: frame.iteration,
      from: items.length,
      candidates: candidatesOf(draft.plan, block),
      failedKey,
      total,
    });
    return null;
  }
  draft.knowledge.fanOut.dropCollected(key);
  draft.addRow({
    blockId: block.id,
    iteration: frame.iteration,
    kind: 'result',
    attempt: 0,
    output: items,
    startedAt: frame.startedAt,
  });
  return ok(null);
}

/** Rows of this commit are not there yet when the others are read. */
function hasPendingRows(draft: Draft, block: ForEachBlock, iteration: string): boolean {
  const prefix = passPath(iteration, block.id, 0).slice(0, -1);
  return draft.pendingRows.some((row) => row.iteration.startsWith(prefix));
}

/** A block that collects by itself stands for what is inside it. */
function candidatesOf(plan: Plan, block: ForEachBlock): readonly string[] {
  const ids = descendantIds(plan, block.id);
  const collecting = ids.filter((id) => {
    const inner = plan.nodes.get(id)?.block;
    return inner?.type === 'for_each' && inner.collect === true;
  });
  return ids.filter((id) => !collecting.some((outer) => isInside(plan, id, outer)));
}
