import type { Draft, Dispatch } from '../../../src/core/run/draft.ts';
import type { Answer } from './script.ts';
import type { World } from './world.ts';

/** How a call ends, and when on the virtual clock. */
export interface CallEnd {
  readonly answer: Answer;
  readonly at: number;
}

/**
 * Records a call of a handler and says how it ends: as the script says, or cut off by its timeout. A handler that was cut
 * off by a crash is taken to end as its first delivery would have.
 */
export function callHandler(world: World, draft: Draft, dispatch: Dispatch): CallEnd {
  const { blockId, attempt, iteration, params, context, idempotencyKey, redelivery } = dispatch;
  const { id: instanceId, runNo } = draft.record;
  const key = JSON.stringify([instanceId, runNo, blockId, iteration, attempt]);
  const delivered = { instanceId, atMs: world.now - world.startAt, blockId, attempt, iteration, runNo };
  const call = { ...delivered, params, context: context(), idempotencyKey, redelivery };
  world.calls.push(call);
  const known = world.ends.get(key);
  if (known !== undefined) return { ...known, at: Math.max(known.at, world.now) };
  const answer = world.answerOf(call);
  if (answer === 'silent') throw new Error(`only a worker may be silent, not ${blockId}`);
  const end = cutOff(world, dispatch, answer);
  world.ends.set(key, end);
  return end;
}

function cutOff(world: World, dispatch: Dispatch, answer: Answer): CallEnd {
  const timeoutMs = dispatch.timeoutMs ?? Number.POSITIVE_INFINITY;
  if (answer.takesMs <= timeoutMs) return { answer, at: world.now + answer.takesMs };
  const failure = { message: `${dispatch.blockId} took too long`, retryable: true, code: 'TIMEOUT' };
  return { answer: { ok: false, failure, takesMs: timeoutMs }, at: world.now + timeoutMs };
}
