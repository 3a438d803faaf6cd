import { cancelLeaf } from '../cancel-subtree.ts';
import type { Draft } from '../draft.ts';
import { type Frame, ROOT_KEY, frameKey } from '../frame.ts';
import { tracedApart, tracesOf } from '../interceptors/traces.ts';
import type { RowKind } from '../output-row.ts';
import { type Plan, currentList } from '../plan.ts';
import { mapFrames } from './map-frames.ts';
import type { Mapping, Refusal } from './mapping.ts';
import { recordChoice } from './record-choices.ts';

/** Every kind of row: what a block left in an earlier life must not speak for it now. */
const ROW_KINDS: readonly RowKind[] = [
  'result',
  'retry',
  'error',
  'breach',
  'gate',
  'escalation',
  'counter',
  'variant',
  'interceptor',
  'sla',
  'node',
];

export interface ReshapeOptions {
  /** The run begins again after an end (retry, resume): what stands at the cursor of the root list has not begun anew. */
  readonly restarts: boolean;
}

/**
 * Moves a run to another plan, in the commit that the draft gathers: what has no counterpart is cancelled with its tasks
 * and children and removed, what has one keeps its state ([OP-10], [OP-14]). With refusals nothing is changed.
 */
export function reshape(draft: Draft, plan: Plan, options: ReshapeOptions): readonly Refusal[] {
  const mapping = mapFrames(draft, plan, options);
  if (mapping.refusals.length > 0) return mapping.refusals;
  for (const frame of [...draft.frames.values()]) cancelDropped(draft, frame, mapping.same);
  plantFrames(draft, mapping);
  if (plan.shape?.wasMigrated === true) forgetEarlierLife(draft, mapping);
  draft.replan(plan);
  return [];
}

/** What waits in the removed part is cancelled first, with its worker tasks and children. */
function cancelDropped(draft: Draft, frame: Frame, same: ReadonlySet<string>): void {
  const key = frameKey(frame);
  const block = currentList(draft.plan, frame)[frame.cursor];
  const isOver = frame.leaf?.state === 'failed' || frame.leaf?.state === 'cancelled';
  const hasBegun = (frame.leaf !== null && !isOver) || draft.inFlight.has(key);
  if (frame.state !== 'open' || block === undefined || !hasBegun || same.has(block.id)) return;
  cancelLeaf(draft, key, block);
}

function plantFrames(draft: Draft, { frames, restarts, plan }: Mapping): void {
  const apart = tracedApart(draft, frames);
  for (const key of [...draft.frames.keys()]) if (!frames.has(key)) draft.remove(key);
  for (const [key, frame] of frames) {
    const remembers = key === ROOT_KEY && apart.length > 0 ? { ...frame, tracedApart: apart } : frame;
    const planted = restarts ? withoutPoll(remembers) : remembers;
    recordChoice(draft, plan, draft.frames.get(key), planted);
    if (JSON.stringify(draft.frames.get(key)) !== JSON.stringify(planted)) draft.replant(planted);
  }
}

/** A loop that polled when the run ended may have to wait for blocks that now come first; its time is over. */
function withoutPoll(frame: Frame): Frame {
  if (frame.detail.kind !== 'loop' || frame.detail.pollUntil === null) return frame;
  return { ...frame, detail: { ...frame.detail, pollUntil: null } };
}

function forgetEarlierLife(draft: Draft, { plan, same }: Mapping): void {
  const blockIds = plan.inOrder.flatMap(({ block }) => (same.has(block.id) ? [] : [block.id]));
  if (blockIds.length === 0) return;
  const traces = blockIds.flatMap(tracesOf);
  draft.supersede({
    blockIds: [...blockIds, ...traces],
    kinds: ROW_KINDS,
    iteration: null,
    keepLatest: false,
  });
}
