import type { Block } from '../definition/document.ts';
import type { Draft } from './draft.ts';
import { type Frame, type Leaf, type UnknownOutcome, frameKey } from './frame.ts';
import { addNodeRow, isInsideFrame } from './place.ts';
import { currentList, innerIteration, isJoined } from './plan.ts';

/** Cancels the leaf at the cursor of a frame: closes what it hangs on and writes its hidden node row. */
export function cancelLeaf(draft: Draft, key: string, block: Block): void {
  const frame = draft.frames.get(key);
  if (frame === undefined) return;
  const unknown = unknownOutcome(draft, frame, block);
  if (draft.inFlight.has(key)) draft.abort(key);
  if (frame.leaf !== null) releaseWait(draft, frame.leaf);
  draft.addRow({
    blockId: block.id,
    iteration: innerIteration(frame),
    kind: 'node',
    attempt: frame.leaf?.attempt ?? 0,
    output: { state: 'cancelled' },
    startedAt: frame.leaf?.startedAt ?? null,
  });
  draft.put({ ...frame, leaf: null, ...(unknown === null ? {} : { unknown }) });
}

/** A retry of the instance calls with the same key what may have had its effect (RULINGS B1). */
function unknownOutcome(draft: Draft, frame: Frame, block: Block): UnknownOutcome | null {
  const { leaf } = frame;
  const isOut = draft.inFlight.has(frameKey(frame)) || (leaf?.dispatchedAt ?? leaf?.taskId ?? null) !== null;
  return isOut ? { blockId: block.id, keyRunId: leaf?.keyRunId ?? draft.record.runId } : null;
}

/** What a leaf waits for is told that nobody waits any more (17.2, [RACE-3], [SUB-9]). */
export function releaseWait(draft: Draft, leaf: Leaf): void {
  if (leaf.taskId !== null) draft.closeTask(leaf.taskId, 'cancelled');
  if (leaf.childId !== null && leaf.childEnd === null) draft.cancelChild(leaf.childId);
}

/**
 * Cancels a frame and everything below it, protected or not: a race loss or an immediate cancel ([RACE-3], [CAN-7]).
 * The frames stay as `cancelled` with their cursors until the block that contains them is closed. A leaf that has just
 * failed stays failed.
 */
export function cancelBelow(draft: Draft, frame: Frame): void {
  const targets = [...draft.frames.values()].filter((other) => isInsideFrame(draft, other, frame));
  for (const other of [...targets, frame]) {
    if (other.state !== 'open') continue;
    if (other.leaf?.state === 'failed') draft.put({ ...other, state: 'failed' });
    else cancelFrame(draft, other);
  }
}

function cancelFrame(draft: Draft, frame: Frame): void {
  const block = currentList(draft.plan, frame)[frame.cursor];
  const began = frame.leaf !== null || draft.inFlight.has(frameKey(frame));
  if (began && block !== undefined) cancelLeaf(draft, frameKey(frame), block);
  draft.put({ ...(draft.frames.get(frameKey(frame)) ?? frame), leaf: null, state: 'cancelled' });
  if (frame.detail.kind !== 'root' && !isJoined(frame)) addNodeRow(draft, frame, 'cancelled');
}
