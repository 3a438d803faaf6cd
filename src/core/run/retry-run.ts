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
  draft.supersede({
    blockIds: reopened,
    kinds: ['error', 'breach', 'retry', 'node'],
    iteration: null,
    keepLatest: false,
  });
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

/**
 * A try_catch whose catch failed and a saga that has begun to roll back start from their beginning. So does a try_catch
 * whose try list was cancelled before finally failed: its place in that list is not known any more.
 */
function beginsAsAWhole({ detail }: Frame): boolean {
  if (detail.kind === 'for_each') return detail.error !== null;
  if (detail.kind === 'try_catch') return detail.catchEnd === 'failed' || detail.tryEnd === 'cancelled';
  return detail.kind === 'saga' && detail.phase === 'rollback';
}

function reset(draft: Draft, frame: Frame): readonly string[] {
  const below = descendantIds(draft.plan, frame.blockId);
  removeSubtree(draft, frame);
  // Their results would stand beside those of the new run ([OUT-3]).
  draft.supersede({
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

/**
 * The leaf begins again: checks, delay and attempts from the start. An accepted gate stays accepted ([HI-5]), and an
 * attempt whose outcome is unknown keeps its key (RULINGS B1).
 */
function leafAgain(draft: Draft, leaf: Leaf, oldRunId: string): Leaf | null {
  const unknown = UNKNOWN_OUTCOMES.has(leaf.error?.code ?? '');
  if (!leaf.passed.gate && !unknown) return null;
  return {
    ...freshLeaf(draft.env.now),
    passed: { when: false, delay: false, gate: leaf.passed.gate },
    keyRunId: unknown ? (leaf.keyRunId ?? oldRunId) : null,
  };
}

/** Nobody knows whether the effect of the last attempt happened. */
const UNKNOWN_OUTCOMES: ReadonlySet<string> = new Set(['UNKNOWN_OUTCOME', 'MAX_RETRIES_EXCEEDED', 'TIMEOUT']);
