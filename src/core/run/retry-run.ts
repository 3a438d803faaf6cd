import type { Draft } from './draft.ts';
import { type Frame, type Leaf, frameKey } from './frame.ts';
import { freshLeaf } from './leaf/fresh-leaf.ts';
import { removeSubtree } from './place.ts';
import { currentList, descendantIds } from './plan.ts';

/**
 * [OP-1] to [OP-4]: the frames that a failure left behind say where the run stood. What completed stays, what failed or
 * was cancelled begins again; a try_catch that failed and a saga that rolled back begin as a whole.
 */
export function retryRun(draft: Draft, runId: string): void {
  const oldRunId = draft.record.runId;
  draft.instance.beginRun({ runNo: draft.record.runNo + 1, runId });
  draft.instance.removeData('_error');
  const reopened = reopenFrames(draft, oldRunId);
  draft.push('supersede', {
    blockIds: reopened,
    kinds: ['error', 'breach', 'retry', 'node'],
    iteration: null,
    keepLatest: false,
  });
  draft.knowledge.forgetOutputs(reopened);
  draft.rootEnd = null;
  draft.transition('scheduled', { reason: 'retry' });
}

/** Opens what had failed, outermost first, and answers the ids of all blocks that begin again. */
function reopenFrames(draft: Draft, oldRunId: string): readonly string[] {
  const reopened: string[] = [];
  for (const frame of [...draft.frames.values()]) {
    const key = frameKey(frame);
    if (!draft.frames.has(key) || frame.state === 'open') continue;
    if (beginsAsAWhole(frame)) reopened.push(...reset(draft, frame));
    else reopened.push(...reopen(draft, frame, oldRunId));
  }
  return reopened;
}

function beginsAsAWhole(frame: Frame): boolean {
  const { detail } = frame;
  if (detail.kind === 'for_each') return detail.error !== null;
  return detail.kind === 'try_catch' || detail.kind === 'saga';
}

function reset(draft: Draft, frame: Frame): readonly string[] {
  const below = descendantIds(draft.plan, frame.blockId);
  removeSubtree(draft, frame);
  // Their results would stand beside those of the new run ([OUT-3]).
  draft.push('supersede', {
    blockIds: below,
    kinds: ['result', 'gate', 'escalation', 'counter', 'variant'],
    iteration: frame.iteration === '' ? null : frame.iteration,
    keepLatest: false,
  });
  return [frame.blockId, ...below];
}

function reopen(draft: Draft, frame: Frame, oldRunId: string): readonly string[] {
  const leaf = frame.leaf === null ? null : leafAgain(draft, frame.leaf, oldRunId);
  const next: Frame = { ...frame, state: 'open', leaf };
  if (frame.detail.kind === 'parallel' || frame.detail.kind === 'race') {
    const ends = frame.detail.ends.map((end) => (end === 'drained' ? end : null));
    draft.put({ ...next, detail: { kind: frame.detail.kind, ends } });
  } else draft.put(next);
  const block = currentList(draft.plan, frame)[frame.cursor];
  const own = frame.detail.kind === 'root' || frame.detail.kind === 'branch' ? [] : [frame.blockId];
  return block === undefined ? own : [...own, block.id];
}

/** An accepted gate stays accepted ([HI-5]); an attempt with unknown outcome keeps its key (RULINGS B1). */
function leafAgain(draft: Draft, leaf: Leaf, oldRunId: string): Leaf | null {
  const unknown = leaf.error?.code === 'UNKNOWN_OUTCOME';
  if (!leaf.passed.gate && !unknown) return null;
  return {
    ...freshLeaf(draft.env.now),
    reason: 'retry',
    wakeAt: draft.env.now,
    passed: leaf.passed,
    keyRunId: unknown ? (leaf.keyRunId ?? oldRunId) : null,
  };
}
