import type { RetryPolicy, StepBlock } from '../../definition/document.ts';
import { evaluateExpression, isTruthy } from '../../expressions/evaluate.ts';
import type { Failure } from '../../failure.ts';
import { type Json, jsonBytes } from '../../json.ts';
import type { Draft } from '../draft.ts';
import { errorObject } from '../failures.ts';
import { traceAfter } from '../interceptors/traces.ts';
import { handlerOf } from '../limits/breaker-outcome.ts';
import type { Leaf } from '../frame.ts';
import { type Outcome, type Place, frameAt, scopeAt } from '../place.ts';
import { innerIteration } from '../plan.ts';
import { backoffMs, isRetryableByCode } from './backoff.ts';
import { breach, isDeadlinesDoing } from './deadline.ts';
import { completeLeaf, failLeaf, isProtected } from './end-leaf.ts';
import { keepResult } from './result-cache.ts';

/** Takes in what a handler answered for the step at a place. */
export function settleAttempt(
  draft: Draft,
  place: Place,
  block: StepBlock,
  leaf: Leaf,
  answer:
    | { readonly ok: true; readonly output: Json; readonly stub?: boolean }
    | { readonly ok: false; readonly failure: Failure },
): Outcome {
  if (!answer.ok) return failAttempt(draft, place, block, leaf, answer.failure);
  const failure = checkResult(draft, block, answer.output, answer.stub);
  if (failure !== null) return failAttempt(draft, place, block, leaf, failure);
  keepResult(draft, leaf, answer.output);
  return completeLeaf(draft, place, leaf, answer.output);
}

/** [DISP-2], [SCHEMA-1]: checked before anything is stored. Stubs of a dry run need not fit ([DRY-4]). */
export function checkResult(draft: Draft, block: StepBlock, output: Json, stub = false): Failure | null {
  if (jsonBytes(output) > draft.env.maxOutputBytes) {
    return { message: `the result of ${block.id} is too large`, retryable: false, code: 'OUTPUT_TOO_LARGE' };
  }
  if (block.output_schema === undefined || stub) return null;
  const violations = draft.env.validateAgainst(block.output_schema, output);
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
  if (isDeadlinesDoing(draft, block, leaf, failure)) return breach(draft, place, block, leaf);
  const policy = block.retry ?? draft.env.defaultsOf(handlerOf(block, leaf)).retry;
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
  traceAfter(draft, frameAt(draft, place), leaf);
  draft.countResult({ shielded: isProtected(place, block) });
  draft.putLeaf(frameAt(draft, place), {
    ...withoutTaken(leaf),
    state: 'waiting',
    reason: 'retry',
    attempt: leaf.attempt + 1,
    wakeAt: draft.env.now + shown,
    dispatchedAt: null,
    error: failure,
  });
  return 'open';
}

/** The next attempt is given what it needs anew ([RET-7]: one token per attempt), and asks its window anew ([WIN-3]). */
function withoutTaken(leaf: Leaf): Leaf {
  const { taken: _, offWindow: _off, ...rest } = leaf;
  return rest;
}

function mayRetry(draft: Draft, place: Place, policy: RetryPolicy, leaf: Leaf, failure: Failure): boolean {
  if (!failure.retryable || leaf.attempt + 1 >= policy.max_attempts) return false;
  if (!isRetryableByCode(policy, failure)) return false;
  if (policy.retry_if === undefined) return true;
  const scope = { ...scopeAt(draft, place), error: errorObject(failure) };
  const value = evaluateExpression(policy.retry_if, scope, 'lenient');
  return value.ok && isTruthy(value.value);
}
