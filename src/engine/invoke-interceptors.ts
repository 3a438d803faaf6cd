import type { Json } from '../core/json.ts';
import type { Dispatch, Draft } from '../core/run/draft.ts';
import { invocationParams, invocationReferences } from '../core/run/interceptors/invocation-scope.ts';
import type { Invocation } from '../core/run/interceptors/invocation.ts';
import { invocationBefore } from '../core/run/interceptors/traces.ts';
import { type Lease, mayStillSpend } from './lease.ts';
import { readNeeds } from './read-needs.ts';
import { callAside, isWriting } from './side-call.ts';
import type { TurnDeps } from './turn-deps.ts';
import type { TurnReads } from './turn-reads.ts';

/** Bound of one interceptor ([INT-5]). */
const INTERCEPTOR_TIMEOUT_MS = 5_000;

/** What invocations work with. */
export interface InvocationContext {
  readonly draft: Draft;
  readonly lease: Lease;
  readonly reads: TurnReads;
}

/** Calls the interceptors whose rows go with the next commit, and puts their answers there. */
export async function invokeInterceptors(deps: TurnDeps, context: InvocationContext): Promise<void> {
  const { draft } = context;
  const due = draft.invocations.takeAll();
  const answers = await Promise.all(due.map((invocation) => invoke(deps, context, invocation)));
  for (const [index, { rowId }] of due.entries()) draft.fillRow(rowId, answers[index] ?? null);
}

/** Calls `before_step` for a dispatch; null when it is not to be called. What it answers is the output of its row. */
export async function invokeBefore(
  deps: TurnDeps,
  context: InvocationContext,
  dispatch: Dispatch,
): Promise<{ readonly output: Json } | null> {
  const invocation = invocationBefore(context.draft, dispatch);
  return invocation === null ? null : { output: await invoke(deps, context, invocation) };
}

/** Errors are ignored but for the row ([INT-5]). */
async function invoke(deps: TurnDeps, context: InvocationContext, invocation: Invocation): Promise<Json> {
  const { draft, lease, reads } = context;
  const { blockId: name, iteration, attempt, interceptor } = invocation;
  while (!draft.knowledge.covers(invocationReferences(invocation))) {
    const needs = draft.knowledge.takeNeeds();
    if (needs === null) break;
    await readNeeds(reads, draft, needs);
  }
  // A process that was frozen calls nobody any more, and its commit will not be taken (RULINGS A23).
  if (!(await mayStillSpend(deps, lease))) return { _interceptor_error: 'the lease is over' };
  const params = invocationParams(draft, invocation);
  if (!params.ok) return { _interceptor_error: params.error };
  const outcome = await callAside(deps, draft, {
    handler: interceptor.handler,
    params: params.value,
    name,
    iteration,
    attempt,
    timeoutMs: INTERCEPTOR_TIMEOUT_MS,
  });
  if (outcome === null)
    return { _interceptor_error: `the handler ${interceptor.handler} is not in this process` };
  if (!outcome.ok) return { _interceptor_error: outcome.failure.message };
  // Interceptors cannot change what a run does ([INT-5]): what one wants written is no part of its answer.
  if (isWriting(outcome)) {
    const where = { handler: interceptor.handler, instance_id: draft.record.id, block_id: name };
    deps.log.warn('what an interceptor wanted written is dropped', where);
  }
  return outcome.output;
}
