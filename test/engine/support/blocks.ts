import type { Json, JsonObject } from '../../../src/core/json.ts';

/** A step of this handler. */
export const step = (id: string, handler: string, members: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler,
  ...members,
});

export const sleepStep = (id: string, ms: number): JsonObject =>
  step(id, 'sleep', { params: { duration_ms: ms } });

export const parallel = (id: string, ...branches: Json[][]): JsonObject => ({
  type: 'parallel',
  id,
  branches,
});

/** Steps `<prefix>1` to `<prefix>n`, one after the other. */
export const steps = (prefix: string, count: number, handler: string): JsonObject[] =>
  Array.from({ length: count }, (_, index) => step(`${prefix}${index + 1}`, handler));
