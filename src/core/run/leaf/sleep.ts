import type { StepBlock } from '../../definition/document.ts';
import { MAX_DURATION_MS } from '../../definition/times.ts';
import { type Json, isJsonObject, member } from '../../json.ts';
import type { Draft } from '../draft.ts';
import type { Leaf } from '../frame.ts';
import { attemptOf, traceBefore } from '../interceptors/traces.ts';
import { passesTime } from '../passes-time.ts';
import { type Outcome, type Place, frameAt } from '../place.ts';
import { failAttempt, settleAttempt } from './attempt.ts';

const DEFAULT_SLEEP_MS = 100;

/**
 * Params of the built-in `sleep` (handlers.md 3.3): the milliseconds of `duration_ms`. A value that is no non-negative
 * integer counts as absent, which is 100 ms ([H-7]); more than ten years are cut to that, for the handler never fails.
 */
export function parseSleep(params: Json): number {
  const value = isJsonObject(params) ? member(params, 'duration_ms') : undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return DEFAULT_SLEEP_MS;
  return Math.min(value, MAX_DURATION_MS);
}

/**
 * [SLEEP-2], [SLEEP-4]: the node is `running` from start to end, the instants are kept, and nothing holds the instance
 * meanwhile.
 */
export function startSleep(
  draft: Draft,
  place: Place,
  block: StepBlock,
  leaf: Leaf,
  durationMs: number,
): Outcome {
  traceBefore(draft, attemptOf(frameAt(draft, place), block, leaf));
  draft.countStep();
  draft.instance.set({ currentStep: { blockId: block.id, startedAt: draft.env.now, attempt: leaf.attempt } });
  const passes = passesTime(draft);
  const asleep: Leaf = {
    ...leaf,
    state: 'running',
    reason: 'sleep',
    dispatchedAt: draft.env.now,
    wakeAt: draft.env.now + (passes ? 0 : Math.min(durationMs, block.timeout ?? durationMs)),
  };
  if (passes || durationMs === 0) return completeSleep(draft, place, block, asleep, durationMs);
  draft.putLeaf(frameAt(draft, place), asleep);
  return 'open';
}

/** The end of a sleep, or of the time that the step leaves it ([TO-1]): the handler never fails, its attempt may. */
export function endSleep(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): Outcome {
  const sleptMs = (leaf.wakeAt ?? 0) - (leaf.dispatchedAt ?? 0);
  if (block.timeout === undefined || sleptMs < block.timeout) {
    return completeSleep(draft, place, block, leaf, sleptMs);
  }
  draft.markStrict();
  const message = `${block.id} did not finish within ${block.timeout} ms`;
  return failAttempt(draft, place, block, leaf, { message, retryable: true, code: 'TIMEOUT' });
}

function completeSleep(draft: Draft, place: Place, block: StepBlock, leaf: Leaf, sleptMs: number): Outcome {
  return settleAttempt(draft, place, block, leaf, { ok: true, output: { slept_ms: sleptMs } });
}
