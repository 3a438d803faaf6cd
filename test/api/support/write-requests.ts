import type { Json } from '../../../src/core/json.ts';
import { REQUESTS_OF_OTHERS } from './requests-of-others.ts';
import { REQUESTS_OF_RUNS } from './requests-of-runs.ts';
import type { Make } from './write-world.ts';

export type { WriteRequest, WriteWorld } from './write-world.ts';

/**
 * A request that succeeds for each route which creates or changes something, on objects of its own. Tests that go through the
 * table of routes take their requests from here, so that a new route is covered or missed.
 */
export const WRITE_REQUESTS: Readonly<Record<string, Make>> = { ...REQUESTS_OF_RUNS, ...REQUESTS_OF_OTHERS };

/** The values in a body that are no containers, each by the way to it. */
export function leavesOf(
  value: Json,
  at: readonly (string | number)[] = [],
): readonly (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [at];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, inner]) => leavesOf(inner as Json, [...at, key]));
}
