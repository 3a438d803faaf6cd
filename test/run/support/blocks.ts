import type { Json } from '../../../src/core/json.ts';

/** A block as an author writes it. */
export type BlockJson = { readonly [member: string]: Json };
export type List = readonly BlockJson[];

type Extra = { readonly [member: string]: Json };

/**
 * Blocks in their short form. The handler of a step is its id with a kind in front: the world of the tests runs
 * `effect:…` and `pure:…` itself, has workers for `worker:…`, and nobody for `gone:…`.
 */
export const step = (id: string, extra: Extra = {}): BlockJson => ({
  type: 'step',
  id,
  handler: `effect:${id}`,
  ...extra,
});

export const pure = (id: string, extra: Extra = {}): BlockJson =>
  step(id, { handler: `pure:${id}`, ...extra });

export const task = (id: string, extra: Extra = {}): BlockJson =>
  step(id, { handler: `worker:${id}`, ...extra });

export const sleep = (id: string, durationMs: number, extra: Extra = {}): BlockJson =>
  step(id, { handler: 'sleep', params: { duration_ms: durationMs }, ...extra });

export const gate = (id: string, input: Extra = {}, extra: Extra = {}): BlockJson =>
  step(id, { wait_for_input: { prompt: `May ${id} run?`, ...input }, ...extra });

/** A gate that two events open. */
export const eventGate = (id: string): BlockJson => ({
  ...gate(id),
  handler: 'wait_for_event',
  params: { events: ['first', 'second'], correlation_key: `{{instance_id}} ${id}` },
});

export const parallel = (id: string, branches: readonly List[], extra: Extra = {}): BlockJson => ({
  type: 'parallel',
  id,
  branches,
  ...extra,
});

export const race = (id: string, branches: readonly List[], extra: Extra = {}): BlockJson => ({
  type: 'race',
  id,
  branches,
  ...extra,
});

export const router = (
  id: string,
  routes: readonly (readonly [condition: string, blocks: List])[],
  fallback?: List,
): BlockJson => ({
  type: 'router',
  id,
  routes: routes.map(([condition, blocks]) => ({ condition, blocks })),
  ...(fallback === undefined ? {} : { default: fallback }),
});

export const tryCatch = (
  id: string,
  tryBlock: List,
  catchBlock: List = [],
  finallyBlock?: List,
): BlockJson => ({
  type: 'try_catch',
  id,
  try_block: tryBlock,
  catch_block: catchBlock,
  ...(finallyBlock === undefined ? {} : { finally_block: finallyBlock }),
});

export const loop = (id: string, body: List, extra: Extra = {}): BlockJson => ({
  type: 'loop',
  id,
  condition: 'true',
  max_iterations: 2,
  body,
  ...extra,
});

export const forEach = (id: string, collection: string, body: List, extra: Extra = {}): BlockJson => ({
  type: 'for_each',
  id,
  collection,
  body,
  ...extra,
});

export const scope = (id: string, blocks: List): BlockJson => ({ type: 'cancellation_scope', id, blocks });

export const split = (
  id: string,
  variants: readonly (readonly [weight: number, blocks: List])[],
): BlockJson => ({
  type: 'a_b_split',
  id,
  variants: variants.map(([weight, blocks], index) => ({ name: `v${index}`, weight, blocks })),
});

export const child = (id: string, sequenceName: string, extra: Extra = {}): BlockJson => ({
  type: 'sub_sequence',
  id,
  sequence_name: sequenceName,
  ...extra,
});

/** Saga steps are named after their actions: `s_<action id>`. */
export const saga = (
  id: string,
  steps: readonly (readonly [action: BlockJson, compensation?: BlockJson])[],
): BlockJson => ({
  type: 'saga',
  id,
  steps: steps.map(([action, compensation]) => ({
    id: `s_${action['id'] as string}`,
    action,
    ...(compensation === undefined ? {} : { compensation }),
  })),
});

/** A retry policy with equal waits. */
export const tries = (maxAttempts: number, waitMs = 100, extra: Extra = {}): Extra => ({
  retry: { max_attempts: maxAttempts, initial_backoff: waitMs, max_backoff: waitMs, ...extra },
});
