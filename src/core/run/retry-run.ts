import { choiceRow } from './choice-row.ts';
import type { Draft } from './draft.ts';
import {
  type FailedLeaf,
  type FanOutDetail,
  type Frame,
  type Leaf,
  type UnknownOutcome,
  frameKey,
} from './frame.ts';
import { forgetFailedHooks } from './hooks/forget-failed-hooks.ts';
import { freshLeaf } from './leaf/fresh-leaf.ts';
import { removeSubtree } from './place.ts';
import { currentList, descendantIds, innerIteration, isJoined } from './plan.ts';

/**
 * [OP-1] to [OP-4]: the frames that a failure left behind say where the run stood. What completed stays, what failed or
 * was cancelled begins again; a try_catch that failed and a saga that rolled back begin as a whole.
 */
export function retryRun(draft: Draft, runId: string): void {
  const oldRunId = draft.record.runId;
  draft.instance.beginRun({ runNo: draft.record.runNo + 1, runId });
  draft.instance.removeData('_error');
  const frames = [...draft.frames.values()];
  reopenFrames(draft, frames, oldRunId);
  keepChoices(draft, frames);
  forgetErrors(draft);
  rememberBreaches(draft);
  forgetFailedHooks(draft);
  draft.rootEnd = null;
  draft.note('retry', { run_no: draft.record.runNo, run_id: runId });
  draft.transition('scheduled', { reason: 'retry' });
}

/** [OP-2]: they go wherever they are, also those of a failure that something has caught or outlived. */
function forgetErrors(draft: Draft): void {
  const blockIds = [...draft.plan.nodes.keys()];
  draft.supersede({ blockIds, kinds: ['error', 'breach'], iteration: null, keepLatest: false });
}

/** What a catch that goes on has caught stays failed, without the row of its breach. */
function rememberBreaches(draft: Draft): void {
  for (const frame of [...draft.frames.values()]) {
    const { detail } = frame;
    if (detail.kind !== 'try_catch' || !detail.failures.some(isBreach)) continue;
    const failures = detail.failures.map((leaf) =>
      isBreach(leaf) ? { ...leaf, breachGone: true as const } : leaf,
    );
    draft.put({ ...frame, detail: { ...detail, failures } });
  }
}

const isBreach = ({ failure }: FailedLeaf): boolean => failure.code === 'DEADLINE_EXCEEDED';

/**
 * Opens those of the frames that had failed or were cancelled, outermost first, and takes out the hidden rows of all
 * blocks that begin again: those of the same pass only, since others tell of passes that are over.
 *
 * @param oldRunId The run whose idempotency keys attempts of unknown outcome keep; null for none (RULINGS B1).
 */
export function reopenFrames(draft: Draft, frames: readonly Frame[], oldRunId: string | null): void {
  const reopened = new Map<string, string[]>();
  const begins = (iteration: string, blockIds: readonly string[]): void => {
    reopened.set(iteration, [...(reopened.get(iteration) ?? []), ...blockIds]);
  };
  for (const frame of frames) {
    if (!draft.frames.has(frameKey(frame)) || frame.state === 'open') continue;
    if (beginsAsAWhole(frame)) begins(frame.iteration, reset(draft, frame));
    else {
      const { own, atCursor } = reopen(draft, frame, oldRunId);
      begins(frame.iteration, own);
      begins(innerIteration(frame), atCursor);
    }
  }
  for (const [iteration, blockIds] of reopened) {
    if (blockIds.length === 0) continue;
    const kinds = ['error', 'breach', 'retry', 'node'] as const;
    draft.supersede({ blockIds: [...new Set(blockIds)], kinds, iteration, keepLatest: false });
  }
}

/** What was chosen when a block was entered stands in a hidden row, which has gone with the others (RULINGS B2). */
function keepChoices(draft: Draft, frames: readonly Frame[]): void {
  for (const frame of frames) {
    const again = draft.frames.get(frameKey(frame));
    const choice = again === undefined || frame.state === 'open' ? null : choiceRow(again);
    if (choice !== null) draft.addRow(choice);
  }
}

/**
 * A try_catch whose catch failed and a saga that has begun to roll back start from their beginning. So does a try_catch
 * whose try or catch list was cancelled before finally failed: its place in that list is not known any more.
 */
function beginsAsAWhole({ detail }: Frame): boolean {
  if (detail.kind === 'for_each') return detail.error !== null;
  // What could not be collected is collected again; a collection that could not be resolved is resolved again.
  if (detail.kind === 'fan_out') return detail.error !== null && detail.snapshotKey === null;
  if (detail.kind === 'try_catch') {
    return detail.catchEnd === 'failed' || detail.catchEnd === 'cancelled' || detail.tryEnd === 'cancelled';
  }
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

/** Answers the blocks that begin again: the composite itself, in its own pass, and the one at its cursor. */
function reopen(
  draft: Draft,
  frame: Frame,
  oldRunId: string | null,
): { readonly own: readonly string[]; readonly atCursor: readonly string[] } {
  const { unknown, ...rest } = frame;
  const block = currentList(draft.plan, frame)[frame.cursor];
  const cut = unknown !== undefined && unknown.blockId === block?.id ? unknown : null;
  const leaf = frame.leaf === null ? cutLeaf(draft, cut, oldRunId) : leafAgain(draft, frame.leaf, oldRunId);
  const next: Frame = { ...rest, state: 'open', leaf };
  if (frame.detail.kind === 'parallel' || frame.detail.kind === 'race') {
    const ends = frame.detail.ends.map((end) => (end === 'drained' ? end : null));
    draft.put({ ...next, detail: { kind: frame.detail.kind, ends } });
  } else if (frame.detail.kind === 'fan_out') {
    draft.put({ ...next, detail: fanOutAgain(frame.detail, draft.record.runNo) });
  } else draft.put(next);
  if (frame.detail.kind === 'branch') reopenBranch(draft, frame);
  const own = frame.detail.kind === 'root' || isJoined(frame) ? [] : [frame.blockId];
  return { own, atCursor: block === undefined ? [] : [block.id] };
}

/** A join that is open may have branches that had ended badly, when the run goes back to another one of them. */
function reopenBranch(draft: Draft, { blockId, iteration, branch }: Frame): void {
  const join = draft.frames.get(frameKey({ blockId, branch: null, iteration }));
  if (join === undefined || (join.detail.kind !== 'parallel' && join.detail.kind !== 'race')) return;
  const ends = join.detail.ends.map((end, index) => (index === branch ? null : end));
  draft.put({ ...join, detail: { kind: join.detail.kind, ends } });
}

/** Items that had failed are to be opened again, before those that never were; the tolerance begins anew. */
function fanOutAgain(detail: FanOutDetail, runNo: number): FanOutDetail {
  const { failed, failedKey, again } = detail;
  return {
    ...detail,
    ended: detail.ended - failed,
    failed: 0,
    failedKey: `${failedKey.slice(0, failedKey.lastIndexOf('.'))}.${runNo}`,
    again: failed === 0 ? again : [...again, { key: failedKey, from: 0 }],
    decidedBy: null,
    error: null,
  };
}

/**
 * The leaf begins again: checks, delay and attempts from the start. An accepted gate stays accepted ([HI-5]), and an
 * attempt whose outcome is unknown keeps its key (RULINGS B1).
 */
function leafAgain(draft: Draft, leaf: Leaf, oldRunId: string | null): Leaf | null {
  const unknown = oldRunId !== null && UNKNOWN_OUTCOMES.has(leaf.error?.code ?? '');
  if (!leaf.passed.gate && !unknown) return null;
  return {
    ...freshLeaf(draft.env.now),
    passed: { when: false, delay: false, gate: leaf.passed.gate },
    keyRunId: unknown ? (leaf.keyRunId ?? oldRunId) : null,
  };
}

/** A leaf that was cancelled in flight begins again with its key, unless all keys are to be new ones. */
function cutLeaf(draft: Draft, cut: UnknownOutcome | null, oldRunId: string | null): Leaf | null {
  if (cut === null || oldRunId === null) return null;
  return { ...freshLeaf(draft.env.now), keyRunId: cut.keyRunId };
}

/** Nobody knows whether the effect of the last attempt happened. */
const UNKNOWN_OUTCOMES: ReadonlySet<string> = new Set(['UNKNOWN_OUTCOME', 'MAX_RETRIES_EXCEEDED', 'TIMEOUT']);
