import type { KvChange } from '../core/run/advance.ts';
import type { Dispatch } from '../core/run/draft.ts';
import type { Failure } from '../core/failure.ts';
import { stubOf } from '../core/run/leaf/stub.ts';
import type { StepOutcome } from '../ports/step-handler.ts';
import { GivenCall } from './given-call.ts';
import type { CallOutcome, HandlerCall } from './handler-call.ts';
import { mayUseCredentials } from './may-use-credentials.ts';
import { writesOf } from './step-writes.ts';
import type { TurnDeps } from './turn-deps.ts';

const NO_WRITES: readonly KvChange[] = [];

/**
 * Calls a handler once. It is over at the step's timeout whatever the handler does: its signal fires and a later answer
 * is dropped ([TO-1]). Nothing a handler throws gets out ([H-2], 15.1).
 */
export function callHandler(deps: TurnDeps, call: HandlerCall): Promise<CallOutcome> {
  return mayUseCredentials(deps, call) ? callWithSecrets(deps, call) : callResolved(deps, call);
}

async function callWithSecrets(deps: TurnDeps, call: HandlerCall): Promise<CallOutcome> {
  const { callWithCredentials } = await import('./call-with-credentials.ts');
  return callWithCredentials(deps, call, callResolved);
}

async function callResolved(deps: TurnDeps, call: HandlerCall): Promise<CallOutcome> {
  const limitMs = Math.min(call.dispatch.timeoutMs ?? Number.POSITIVE_INFINITY, call.leftMs);
  const invalid = call.handler.checkParams?.(call.dispatch.params) ?? null;
  if (invalid !== null) return { ok: false, failure: invalid };
  try {
    const outcome = await (Number.isFinite(limitMs)
      ? runWithin(deps, call, limitMs)
      : run(deps, call, limitMs));
    if (!outcome.ok) return outcome;
    const { output, writes } = outcome;
    if (writes === undefined && !isStubbed(call)) return { ok: true, output, writes: NO_WRITES };
    const written = await writesOf(outcome, call.dispatch);
    return { ok: true, output, ...written, ...(isStubbed(call) ? { stub: true } : {}) };
  } catch (error) {
    return { ok: false, failure: thrown(error) };
  }
}

async function runWithin(deps: TurnDeps, call: HandlerCall, limitMs: number): Promise<StepOutcome> {
  let disarm = (): void => undefined;
  const timeout = new Promise<StepOutcome>((resolve) => {
    disarm = deps.clock.after(limitMs, () => {
      resolve({ ok: false, failure: timeoutFailure(call.dispatch, limitMs) });
      call.controller.abort();
    });
  });
  try {
    return await Promise.race([run(deps, call, deps.clock.monotonicMs() + limitMs), timeout]);
  } finally {
    disarm();
  }
}

function run(deps: TurnDeps, call: HandlerCall, deadlineMs: number): Promise<StepOutcome> | StepOutcome {
  const step = new GivenCall(deps, call, deadlineMs);
  if (!call.record.dryRun) return call.handler.run(step);
  if (call.handler.dryRun !== undefined) return call.handler.dryRun(step);
  if (!isStubbed(call)) return call.handler.run(step);
  return { ok: true, output: stubOf(call.handler.name, call.dispatch.params) };
}

/** [DRY-1]: nothing stands for the result of a pure handler, which runs in a dry run too. */
function isStubbed({ record, handler }: HandlerCall): boolean {
  return record.dryRun && (handler.dryRun !== undefined || handler.kind !== 'pure');
}

function timeoutFailure(dispatch: Dispatch, limitMs: number): Failure {
  return {
    message: `${dispatch.blockId} did not finish within ${Math.round(limitMs)} ms`,
    retryable: true,
    code: 'TIMEOUT',
  };
}

function thrown(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return { message, retryable: true, code: 'UNHANDLED_EXCEPTION' };
}
