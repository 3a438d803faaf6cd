import type { StepBlock } from '../../definition/document.ts';
import { earlyStopMs } from '../../early-stop.ts';
import { resolveTemplates } from '../../expressions/template.ts';
import type { Failure } from '../../failure.ts';
import { type Json, type JsonObject, isJsonObject, mergeObjects } from '../../json.ts';
import type { Draft } from '../draft.ts';
import type { Leaf } from '../frame.ts';
import { tellBreaker } from '../limits/breaker-outcome.ts';
import { type Outcome, type Place, frameAt } from '../place.ts';
import { innerIteration } from '../plan.ts';
import { viewScope } from './context-view.ts';
import { failLeaf } from './end-leaf.ts';

/** An attempt that is cut off at the deadline may be seen this much earlier, by the granularity of clocks. */
const CLOCK_TOLERANCE_MS = 5;

/** [DL-1]: the clock starts when the step has passed delay and send window for the first time in this pass. */
export function startClock(draft: Draft, block: StepBlock, leaf: Leaf): Leaf {
  if (block.deadline === undefined || leaf.deadlineAt !== undefined) return leaf;
  return { ...leaf, deadlineAt: draft.env.now + block.deadline };
}

/** [DL-3]: breached at the instant itself. */
export function isBreached(draft: Draft, leaf: Leaf): boolean {
  return leaf.deadlineAt !== undefined && draft.env.now >= leaf.deadlineAt;
}

/**
 * True when a failure is the deadline's doing: it has passed, or it cut the attempt off ([DL-2]). A handler that stops as
 * soon as its signal fires answers a little before that.
 */
export function isDeadlinesDoing(draft: Draft, block: StepBlock, leaf: Leaf, failure: Failure): boolean {
  if (leaf.deadlineAt === undefined) return false;
  if (isBreached(draft, leaf)) return true;
  const timeoutMs = block.timeout ?? draft.env.defaultsOf(block.handler).timeoutMs;
  const timesOutAt = (leaf.dispatchedAt ?? 0) + (timeoutMs ?? Number.POSITIVE_INFINITY);
  const cutOff = failure.code === 'TIMEOUT' && timesOutAt > leaf.deadlineAt;
  return cutOff && draft.env.now >= leaf.deadlineAt - earlyStopMs(block.deadline ?? 0) - CLOCK_TOLERANCE_MS;
}

/** The bound of an attempt: its timeout, or what is left until the deadline. */
export function boundByDeadline(draft: Draft, leaf: Leaf, timeoutMs: number | null): number | null {
  if (leaf.deadlineAt === undefined) return timeoutMs;
  const leftMs = Math.max(0, leaf.deadlineAt - draft.env.now);
  return timeoutMs === null ? leftMs : Math.min(timeoutMs, leftMs);
}

/** [DL-3]: the task is closed, the breach is recorded and escalated once, and the node fails for good. */
export function breach(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): Outcome {
  const deadlineMs = block.deadline ?? 0;
  const startedAt = (leaf.deadlineAt ?? draft.env.now) - deadlineMs;
  const elapsedMs = Math.max(deadlineMs, draft.env.now - startedAt);
  if (leaf.taskId !== null && leaf.reason === 'worker') {
    draft.closeTask(leaf.taskId, 'cancelled');
    tellBreaker(draft, block, leaf, { message: 'the deadline was breached', retryable: false });
  }
  draft.addRow({
    blockId: block.id,
    iteration: innerIteration(frameAt(draft, place)),
    kind: 'breach',
    attempt: leaf.attempt,
    output: { _error: 'sla_deadline_breached', _deadline_ms: deadlineMs, _elapsed_ms: elapsedMs },
    startedAt: leaf.startedAt,
  });
  escalateBreach(draft, place, block, leaf, {
    block_id: block.id,
    instance_id: draft.record.id,
    elapsed_ms: elapsedMs,
    deadline_ms: deadlineMs,
  });
  draft.markStrict();
  return failLeaf(draft, place, leaf, {
    message: `${block.id} did not end within its deadline of ${deadlineMs} ms`,
    retryable: false,
    code: 'DEADLINE_EXCEEDED',
  });
}

/** Best effort: params that cannot be resolved are left out, so that people are told all the same. */
function escalateBreach(draft: Draft, place: Place, block: StepBlock, leaf: Leaf, facts: JsonObject): void {
  const action = block.on_deadline_breach;
  if (action === undefined) return;
  const resolved = resolveTemplates(action.params ?? {}, viewScope(draft, place, block, leaf.attempt));
  const params: Json = resolved.ok ? resolved.value : {};
  const given = isJsonObject(params) ? params : {};
  draft.escalations.push({
    handler: action.handler,
    params: mergeObjects(mergeObjects(facts, given), { _breach: facts }),
    blockId: block.id,
    iteration: innerIteration(frameAt(draft, place)),
  });
}
