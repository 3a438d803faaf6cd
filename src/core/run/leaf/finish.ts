import type { RetryPolicy, StepBlock } from '../../definition/document.ts';
import { validateAgainst } from '../../definition/json-schema.ts';
import { evaluateExpression, isTruthy } from '../../expressions/evaluate.ts';
import type { Failure } from '../../failure.ts';
import { type Json, type JsonObject, canonicalJson, jsonObject, utf8Bytes } from '../../json.ts';
import type { Draft } from '../draft.ts';
import { errorObject } from '../failures.ts';
import type { Frame, Leaf } from '../frame.ts';
import { type Outcome, type Place, frameAt, moveOn, scopeAt } from '../place.ts';
import { currentList, innerIteration } from '../plan.ts';
import { keepResult } from './result-cache.ts';
import { backoffMs, isRetryableByCode } from './backoff.ts';

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
  draft.countResult({ shielded: isProtected(place, block) });
  moveOn(draft, place.key);
  return 'moved';
}

/** 17.3: the result is committed although a cancel was accepted meanwhile. */
export function isProtected(
  place: Place,
  block: { readonly type: string; readonly cancellable?: boolean },
): boolean {
  return place.shielded || (block.type === 'step' && block.cancellable === false);
}

/** Takes in what a handler answered for the step at a place. */
export function settleAttempt(
  draft: Draft,
  place: Place,
  block: StepBlock,
  leaf: Leaf,
  answer: { readonly ok: true; readonly output: Json } | { readonly ok: false; readonly failure: Failure },
): Outcome {
  if (!answer.ok) return failAttempt(draft, place, block, leaf, answer.failure);
  const failure = checkResult(draft, block, answer.output);
  if (failure !== null) return failAttempt(draft, place, block, leaf, failure);
  keepResult(draft, leaf, answer.output);
  return completeLeaf(draft, place, leaf, answer.output);
}

/** [DISP-2], [SCHEMA-1]: checked before anything is stored. Stubs of a dry run need not fit ([DRY-4]). */
export function checkResult(draft: Draft, block: StepBlock, output: Json): Failure | null {
  if (utf8Bytes(canonicalJson(output)) > draft.env.maxOutputBytes) {
    return { message: `the result of ${block.id} is too large`, retryable: false, code: 'OUTPUT_TOO_LARGE' };
  }
  if (block.output_schema === undefined || draft.record.dryRun) return null;
  const violations = validateAgainst(block.output_schema, output);
  if (violations.length === 0) return null;
  return {
    message: `the result of ${block.id} does not satisfy its output_schema`,
    retryable: false,
    code: 'OUTPUT_CONTRACT_VIOLATION',
    details: { violations: violations.map((violation) => ({ ...violation })) },
  };
}

/** Decides by the retry policy whether a failed attempt is tried again ([RET-1] to [RET-6]). */
export function failAttempt(
  draft: Draft,
  place: Place,
  block: StepBlock,
  leaf: Leaf,
  failure: Failure,
): Outcome {
  const policy = block.retry ?? draft.env.defaultsOf(block.handler).retry;
  if (policy === undefined || !mayRetry(draft, place, policy, leaf, failure)) {
    return failLeaf(draft, place, leaf, failure);
  }
  const wait = Math.max(
    backoffMs(policy, leaf.attempt + 1),
    Math.min(failure.retryAfterMs ?? 0, policy.max_backoff),
  );
  // A retry of a worker step stays visible as `scheduled` for at least this long (RULINGS B9).
  const shown = leaf.taskId === null ? wait : Math.max(wait, 150);
  draft.addRow({
    blockId: block.id,
    iteration: innerIteration(frameAt(draft, place)),
    kind: 'retry',
    attempt: leaf.attempt,
    output: { _retry_marker: true, error: errorObject(failure) },
    startedAt: leaf.startedAt,
  });
  draft.countResult({ shielded: isProtected(place, block) });
  draft.putLeaf(frameAt(draft, place), {
    ...leaf,
    state: 'waiting',
    reason: 'retry',
    attempt: leaf.attempt + 1,
    wakeAt: draft.env.now + shown,
    dispatchedAt: null,
    error: failure,
  });
  return 'open';
}

function mayRetry(draft: Draft, place: Place, policy: RetryPolicy, leaf: Leaf, failure: Failure): boolean {
  if (!failure.retryable || leaf.attempt + 1 >= policy.max_attempts) return false;
  if (!isRetryableByCode(policy, failure)) return false;
  if (policy.retry_if === undefined) return true;
  const scope = { ...scopeAt(draft, place), error: errorObject(failure) };
  const value = evaluateExpression(policy.retry_if, scope, 'lenient');
  return value.ok && isTruthy(value.value);
}

/** The leaf has failed for good (15.3). It stays at the cursor until something absorbs the failure. */
export function failLeaf(draft: Draft, place: Place, leaf: Leaf, failure: Failure): Outcome {
  const frame = frameAt(draft, place);
  const block = currentList(draft.plan, frame)[frame.cursor];
  if (block === undefined) throw new Error('a failure without a leaf at the cursor');
  const error = { ...errorObject(failure), retryable: failure.retryable };
  addEndRow(draft, frame, leaf, { state: 'failed', error });
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

/** [DISP-3], [DISP-4]: the members of a worker's object are merged into data, or nothing is and the attempt fails. */
export function mergeWorkerOutput(draft: Draft, output: Json): Failure | null {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return null;
  const keys = jsonObject(Object.entries(output));
  return setDataWithin(draft, keys)
    ? null
    : { message: 'the context would become too large', retryable: false, code: 'CONTEXT_TOO_LARGE' };
}

/** Sets keys of data unless the context would pass its limit ([CTX-1]); false leaves everything as it was. */
export function setDataWithin(draft: Draft, keys: ReturnType<typeof jsonObject>): boolean {
  const limit = draft.env.maxContextBytes;
  if (limit > 0) {
    const data = draft.record.data;
    const kept =
      typeof data === 'object' && data !== null && !Array.isArray(data) ? Object.entries(data) : [];
    const next = jsonObject([...kept, ...Object.entries(keys)]);
    const context = { data: next, config: draft.record.config, audit: draft.record.audit };
    if (utf8Bytes(canonicalJson(context)) > limit) return false;
  }
  draft.instance.setData(keys);
  return true;
}
