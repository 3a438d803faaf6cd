import type { Draft, Dispatch } from '../../../src/core/run/draft.ts';
import type { Answer, Call } from './script.ts';
import type { World } from './world.ts';

/** Records a call of a handler and answers what the script says; the step's timeout cuts a slow one off. */
export function callHandler(world: World, draft: Draft, dispatch: Dispatch): Answer {
  const { blockId, attempt, iteration, params, context, idempotencyKey, redelivery } = dispatch;
  const { runNo } = draft.record;
  const same = (other: Call): boolean =>
    other.instanceId === draft.record.id &&
    other.blockId === blockId &&
    other.attempt === attempt &&
    other.iteration === iteration &&
    other.runNo === runNo;
  const redelivered = world.calls.filter(same).length;
  const made: Call = {
    instanceId: draft.record.id,
    atMs: world.now - world.startAt,
    blockId,
    attempt,
    iteration,
    redelivered,
    runNo,
    params,
    context,
    idempotencyKey,
    redelivery,
  };
  world.calls.push(made);
  const answer = world.answerOf(made);
  if (answer === 'silent') throw new Error(`only a worker may be silent, not ${blockId}`);
  const timeoutMs = dispatch.timeoutMs ?? Number.POSITIVE_INFINITY;
  if (answer.takesMs <= timeoutMs) return answer;
  const failure = { message: `${blockId} took too long`, retryable: true, code: 'TIMEOUT' };
  return { ok: false, failure, takesMs: timeoutMs };
}

/** A handler that was cut off by a crash is taken to end when its first delivery would have. */
export function endOfCall(world: World, draft: Draft, dispatch: Dispatch, answer: Answer): number {
  const { blockId, iteration, attempt } = dispatch;
  const key = JSON.stringify([draft.record.id, draft.record.runNo, blockId, iteration, attempt]);
  const known = world.ends.get(key) ?? world.now + answer.takesMs;
  world.ends.set(key, known);
  return Math.max(known, world.now);
}
