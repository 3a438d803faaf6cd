import type { JsonObject } from '../../../src/core/json.ts';
import { probeUrl } from './probe.ts';

/** Blocks as the scenarios speak of them. */

export const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});

/** A step whose call the probe counts under its id. */
export const probing = (id: string, extra: JsonObject = {}): JsonObject =>
  step(id, { handler: 'http_request', params: { url: probeUrl(id), response_as: 'json' }, ...extra });

export const failing = (id: string, extra: JsonObject = {}): JsonObject =>
  step(id, { handler: 'fail', params: { message: `no ${id}` }, ...extra });

export const sleeping = (id: string, ms: number, extra: JsonObject = {}): JsonObject =>
  step(id, { handler: 'sleep', params: { duration_ms: ms }, ...extra });

/** Its result is what its params resolve to. */
export const shaping = (id: string, params: JsonObject, extra: JsonObject = {}): JsonObject =>
  step(id, { handler: 'transform', params, ...extra });

export const gate = (id: string, input: JsonObject = {}, extra: JsonObject = {}): JsonObject =>
  step(id, { wait_for_input: { prompt: 'Go?', ...input }, ...extra });

export const parallel = (id: string, ...branches: readonly (readonly JsonObject[])[]): JsonObject => ({
  ...{ type: 'parallel', id, branches },
});

export const tryCatch = (
  id: string,
  body: readonly JsonObject[],
  caught: readonly JsonObject[],
  last?: readonly JsonObject[],
): JsonObject => ({
  ...{ type: 'try_catch', id, try_block: body, catch_block: caught },
  ...(last === undefined ? {} : { finally_block: last }),
});

export const loop = (id: string, body: readonly JsonObject[], extra: JsonObject = {}): JsonObject => ({
  ...{ type: 'loop', id, condition: 'true', body, ...extra },
});

export const forEach = (id: string, body: readonly JsonObject[], extra: JsonObject = {}): JsonObject => ({
  ...{ type: 'for_each', id, collection: 'xs', body, ...extra },
});

export const child = (id: string, name: string, extra: JsonObject = {}): JsonObject => ({
  ...{ type: 'sub_sequence', id, sequence_name: name, ...extra },
});

export const retry = (attempts: number, initial = 0, max = initial, extra: JsonObject = {}): JsonObject => ({
  ...{ max_attempts: attempts, initial_backoff: initial, max_backoff: max, ...extra },
});
