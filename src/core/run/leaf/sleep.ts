import type { StepBlock } from '../../definition/document.ts';
import type { Failure } from '../../failure.ts';
import { type Json, isJsonObject, member } from '../../json.ts';
import { type Result, err, ok } from '../../result.ts';
import type { Draft } from '../draft.ts';
import type { Leaf } from '../frame.ts';
import { type Outcome, type Place, frameAt } from '../place.ts';
import { completeLeaf } from './end-leaf.ts';
import { keepResult } from './result-cache.ts';

const DEFAULT_SLEEP_MS = 100;
const LONGEST_SLEEP_MS = 315_360_000_000;

/** The duration of the built-in `sleep` (handlers.md 3.3); a value of another kind counts as absent ([H-7]). */
export function parseSleep(params: Json): Result<number, Failure> {
  if (!isJsonObject(params)) return ok(DEFAULT_SLEEP_MS);
  const value = member(params, 'duration_ms');
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) return ok(DEFAULT_SLEEP_MS);
  if (value <= LONGEST_SLEEP_MS) return ok(value);
  return err({
    message: 'sleep: duration_ms is longer than ten years',
    retryable: false,
    code: 'INVALID_PARAMS',
  });
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
  draft.countStep();
  draft.instance.set({ currentStep: { blockId: block.id, startedAt: draft.env.now, attempt: leaf.attempt } });
  const asleep: Leaf = {
    ...leaf,
    state: 'running',
    reason: 'sleep',
    dispatchedAt: draft.env.now,
    wakeAt: draft.env.now + (draft.record.dryRun ? 0 : durationMs),
  };
  if (draft.record.dryRun || durationMs === 0) return completeSleep(draft, place, asleep, durationMs);
  draft.putLeaf(frameAt(draft, place), asleep);
  return 'open';
}

export function endSleep(draft: Draft, place: Place, leaf: Leaf): Outcome {
  return completeSleep(draft, place, leaf, (leaf.wakeAt ?? 0) - (leaf.dispatchedAt ?? 0));
}

function completeSleep(draft: Draft, place: Place, leaf: Leaf, sleptMs: number): Outcome {
  const output = { slept_ms: sleptMs };
  keepResult(draft, leaf, output);
  return completeLeaf(draft, place, leaf, output);
}
