import type { StepBlock } from '../../definition/document.ts';
import type { Failure } from '../../failure.ts';
import type { Json } from '../../json.ts';
import type { Draft } from '../draft.ts';
import { idempotencyKey } from '../idempotency-key.ts';
import type { Leaf } from '../frame.ts';
import { type Outcome, type Place, frameAt } from '../place.ts';
import { innerIteration } from '../plan.ts';
import type { TaskOutcome } from '../record.ts';
import { attemptOf, traceBefore } from '../interceptors/traces.ts';
import { handlerOf, tellBreaker } from '../limits/breaker-outcome.ts';
import { countExternalCall, countUsage } from '../limits/usage.ts';
import { contextView } from './context-view.ts';
import { keepResult } from './result-cache.ts';
import { checkResult, failAttempt } from './attempt.ts';
import { completeLeaf } from './end-leaf.ts';
import { mergeWorkerOutput } from './merge-data.ts';
import { isAtMostOnce, resolveUncertain } from './uncertain.ts';

/** [DISP-1], [WRK-8]: the step becomes a task for a worker; the node waits for its result. */
export function createWorkerTask(
  draft: Draft,
  place: Place,
  block: StepBlock,
  leaf: Leaf,
  params: Json,
): Outcome {
  const frame = frameAt(draft, place);
  const iteration = innerIteration(frame);
  const timeoutMs = block.timeout ?? null;
  traceBefore(draft, attemptOf(frame, block, leaf));
  const taskId = draft.createTask({
    blockId: block.id,
    iteration,
    handlerName: handlerOf(block, leaf),
    queueName: block.queue_name ?? null,
    params,
    context: { ...contextView(draft, place, block, leaf) },
    attempt: leaf.attempt,
    timeoutMs,
    idempotencyKey: idempotencyKey(draft.record, leaf, block.id, iteration),
    previousTaskId: leaf.taskId,
    ...(isAtMostOnce(block) ? { atMostOnce: true } : {}),
  });
  draft.countStep();
  if (leaf.cacheKey !== undefined) draft.cacheLooks.misses += 1;
  countExternalCall(draft);
  draft.instance.set({ currentStep: { blockId: block.id, startedAt: draft.env.now, attempt: leaf.attempt } });
  draft.putLeaf(frame, {
    ...leaf,
    state: 'waiting',
    reason: 'worker',
    wakeAt: timeoutMs === null ? null : draft.env.now + timeoutMs,
    dispatchedAt: draft.env.now,
    taskId,
  });
  return 'open';
}

/** [TO-1], [TO-2]: the time of a worker attempt counts from the creation of its task. */
export function checkTaskTimeout(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): Outcome {
  if (leaf.wakeAt === null || leaf.wakeAt > draft.env.now) return 'open';
  if (leaf.taskId !== null) draft.closeTask(leaf.taskId, 'timed_out');
  draft.markStrict();
  const failure = {
    message: `${block.id} did not finish within ${block.timeout ?? 0} ms`,
    retryable: true,
    code: 'TIMEOUT',
  };
  tellBreaker(draft, block, leaf, failure);
  return failAttempt(draft, place, block, leaf, failure);
}

/** A worker's report for the step at a place; objects are merged into data before the next block ([DISP-3]). */
export function finishTask(
  draft: Draft,
  place: Place,
  block: StepBlock,
  leaf: Leaf,
  outcome: TaskOutcome,
): void {
  if (!outcome.ok && outcome.silent === true) {
    endSilent(draft, place, block, leaf);
    return;
  }
  if (!outcome.ok) {
    const failure = {
      message: outcome.message,
      retryable: outcome.retryable,
      ...(outcome.code === undefined ? {} : { code: outcome.code }),
      ...(outcome.details === undefined ? {} : { details: outcome.details }),
    };
    failAttempt(draft, place, block, leaf, failure);
    return;
  }
  const failure = checkResult(draft, block, outcome.output) ?? mergeWorkerOutput(draft, outcome.output);
  // The report of a failure has told the breaker already ([CB-2]); whether a success is one is known only here.
  tellBreaker(draft, block, leaf, failure);
  if (failure !== null) {
    failAttempt(draft, place, block, leaf, failure);
    return;
  }
  countUsage(draft, handlerOf(block, leaf), outcome.output);
  keepResult(draft, leaf, outcome.output);
  completeLeaf(draft, place, leaf, outcome.output);
}

const SILENT: Failure = { message: 'the worker fell silent', retryable: false, code: 'UNKNOWN_OUTCOME' };

/** Nobody knows what the worker did before it fell silent; it ends as the author says ([CON-6], RULINGS B10). */
function endSilent(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): void {
  const lost: Leaf = { ...leaf, reason: null, wakeAt: null };
  if (resolveUncertain(draft, place, block, lost, 'worker') !== null) {
    // The attempt is over without an answer, which says of the handler what a timeout says.
    tellBreaker(draft, block, leaf, SILENT);
    return;
  }
  // The run was moved to a document by which the step may run again: it is dispatched anew, under the same key.
  draft.putLeaf(frameAt(draft, place), lost);
}
