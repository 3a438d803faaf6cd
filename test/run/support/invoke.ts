import type { Json } from '../../../src/core/json.ts';
import type { Dispatch, Draft } from '../../../src/core/run/draft.ts';
import {
  invocationParams,
  invocationReferences,
} from '../../../src/core/run/interceptors/invocation-scope.ts';
import type { Invocation } from '../../../src/core/run/interceptors/invocation.ts';
import { invocationBefore } from '../../../src/core/run/interceptors/traces.ts';
import { readNeeds } from '../../../src/engine/read-needs.ts';
import { type CallEnd, callHandler } from './calls.ts';
import type { World } from './world.ts';

/** An invoked `before_step` is called right before the handler; its answer goes into the row of the outcome. */
export async function callWithBefore(world: World, draft: Draft, dispatch: Dispatch): Promise<CallEnd> {
  const invocation = invocationBefore(draft, dispatch);
  const before = invocation === null ? {} : { before: { output: await invoke(world, draft, invocation) } };
  const { answer, at } = callHandler(world, draft, dispatch);
  return { answer: { ...answer, ...before }, at };
}

/** Interceptors answer with what they were asked; those whose handler is `effect:broken` fail. */
export async function invoke(world: World, draft: Draft, invocation: Invocation): Promise<Json> {
  while (!draft.knowledge.covers(invocationReferences(invocation))) {
    const needs = draft.knowledge.takeNeeds();
    if (needs !== null) await readNeeds(world.store, draft, needs);
  }
  const params = invocationParams(draft, invocation);
  const { blockId, iteration, attempt, interceptor } = invocation;
  world.invoked.push([blockId, iteration, attempt].join('|'));
  if (!params.ok) return { _interceptor_error: params.error };
  if (interceptor.handler === 'effect:broken') return { _interceptor_error: 'broken' };
  return { asked: params.value };
}
