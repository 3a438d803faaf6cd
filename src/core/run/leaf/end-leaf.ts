import type { Failure } from '../../failure.ts';
import type { Json, JsonObject } from '../../json.ts';
import type { Draft } from '../draft.ts';
import { errorObject } from '../failures.ts';
import { traceAfter } from '../interceptors/traces.ts';
import type { Frame, Leaf } from '../frame.ts';
import { type Outcome, type Place, frameAt, moveOn } from '../place.ts';
import { currentList, innerIteration } from '../plan.ts';

/** Completes the leaf at a place: its result row, and the cursor moves on ([COMMIT-1]). */
export function completeLeaf(
  draft: Draft,
  place: Place,
  leaf: Leaf,
  output: Json,
  kind: 'result' | 'escalation' = 'result',
): Outcome {
  const frame = frameAt(draft, place);
  const block = currentList(draft.plan, frame)[frame.cursor];
  if (block === undefined) throw new Error('a result without a leaf at the cursor');
  draft.addRow({
    blockId: block.id,
    iteration: innerIteration(frame),
    kind,
    attempt: leaf.attempt,
    output,
    startedAt: leaf.startedAt,
  });
  // The tree knows a completed leaf by its result; what stands for one needs a node row beside it.
  if (kind !== 'result') addEndRow(draft, frame, leaf, { state: 'completed' });
  traceAfter(draft, frame, leaf);
  draft.countResult({ shielded: isProtected(place, block) });
  moveOn(draft, place.key);
  return 'moved';
}

/** The leaf has failed for good (15.3). It stays at the cursor until something absorbs the failure. */
export function failLeaf(draft: Draft, place: Place, leaf: Leaf, failure: Failure): Outcome {
  const frame = frameAt(draft, place);
  const block = currentList(draft.plan, frame)[frame.cursor];
  if (block === undefined) throw new Error('a failure without a leaf at the cursor');
  const error = { ...errorObject(failure), retryable: failure.retryable };
  addEndRow(draft, frame, leaf, { state: 'failed', error });
  traceAfter(draft, frame, leaf);
  draft.countResult({ shielded: isProtected(place, block) });
  draft.putLeaf(frame, {
    ...leaf,
    state: 'failed',
    reason: null,
    wakeAt: null,
    dispatchedAt: null,
    error: failure,
  });
  return 'failed';
}

/** The hidden row that says how the leaf at the cursor of a frame ended. */
function addEndRow(draft: Draft, frame: Frame, leaf: Leaf, output: JsonObject): void {
  const block = currentList(draft.plan, frame)[frame.cursor];
  draft.addRow({
    blockId: block?.id ?? '',
    iteration: innerIteration(frame),
    kind: 'node',
    attempt: leaf.attempt,
    output,
    startedAt: leaf.startedAt,
  });
}

/** 17.3: the result is committed although a cancel was accepted meanwhile. */
export function isProtected(
  place: Place,
  block: { readonly type: string; readonly cancellable?: boolean },
): boolean {
  return place.shielded || (block.type === 'step' && block.cancellable === false);
}
