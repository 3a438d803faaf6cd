import { MAX_DURATION_MS } from '../../core/definition/scalars.ts';
import type { Json } from '../../core/json.ts';
import { countOr } from './params.ts';

const DEFAULT_SLEEP_MS = 100;

/**
 * Params of `sleep` (handlers.md 3.3): `duration_ms`, a non-negative integer; anything else counts as absent, which is
 * 100 ms. At most ten years, longer ones are cut to that: the handler never fails. The engine core does the sleeping.
 */
export function parseSleepParams(params: Json): { readonly durationMs: number } {
  return { durationMs: Math.min(countOr(params, 'duration_ms', DEFAULT_SLEEP_MS), MAX_DURATION_MS) };
}
