import type { Dispatch } from '../core/run/draft.ts';
import type { Failure } from '../core/failure.ts';
import { isReservedStateKey } from '../core/run/knowledge.ts';
import { stubOf } from '../core/run/leaf/stub.ts';
import type { StepCall, StepOutcome } from '../ports/step-handler.ts';
import type { CallOutcome, HandlerCall } from './handler-call.ts';
import { mayUseCredentials } from './may-use-credentials.ts';
import { stepServices } from './step-services.ts';
import { writesOf } from './step-writes.ts';
import type { TurnDeps } from './turn-deps.ts';

/**
 * Calls a handler once. It is over at the step's timeout whatever the handler does: its signal fires and a later answer
 * is dropped ([TO-1]). Nothing a handler throws gets out ([H-2], 15.1).
 */
export async function callHandler(deps: TurnDeps, call: HandlerCall): Promise<CallOutcome> {
  if (!mayUseCredentials(deps, call)) return callResolved(deps, call);
  const { callWithCredentials } = await import('./call-with-credentials.ts');
  return callWithCredentials(deps, call, callResolved);
}

async function callResolved(deps: TurnDeps, call: HandlerCall): Promise<CallOutcome> {
  const limitMs = Math.min(call.dispatch.timeoutMs ?? Number.POSITIVE_INFINITY, call.leftMs);
  const deadline = deps.clock.monotonicMs() + limitMs;
  const invalid = call.handler.checkParams?.(call.dispatch.params) ?? null;
  if (invalid !== null) return { ok: false, failure: invalid };
  let disarm = (): void => undefined;
  const timeout = new Promise<StepOutcome>((resolve) => {
    if (!Number.isFinite(limitMs)) return;
    disarm = deps.clock.after(limitMs, () => {
      resolve({ ok: false, failure: timeoutFailure(call.dispatch, limitMs) });
      call.controller.abort();
    });
  });
  try {
    const outcome = await Promise.race([run(deps, call, deadline), timeout]);
    if (!outcome.ok) return outcome;
    const writes = await writesOf(outcome, call.dispatch);
    return { ok: true, output: outcome.output, ...writes, ...(isStubbed(call) ? { stub: true } : {}) };
  } catch (error) {
    return { ok: false, failure: thrown(error) };
  } finally {
    disarm();
  }
}

async function run(deps: TurnDeps, call: HandlerCall, deadline: number): Promise<StepOutcome> {
  const step = stepCall(deps, call, deadline);
  if (!call.record.dryRun) return call.handler.run(step);
  if (call.handler.dryRun !== undefined) return call.handler.dryRun(step);
  if (!isStubbed(call)) return call.handler.run(step);
  return { ok: true, output: stubOf(call.handler.name, call.dispatch.params) };
}

/** [DRY-1]: nothing stands for the result of a pure handler, which runs in a dry run too. */
function isStubbed({ record, handler }: HandlerCall): boolean {
  return record.dryRun && (handler.dryRun !== undefined || handler.kind !== 'pure');
}

function stepCall(deps: TurnDeps, call: HandlerCall, deadline: number): StepCall {
  const { dispatch, record } = call;
  return {
    instanceId: record.id,
    tenantId: record.tenantId,
    namespace: record.namespace,
    blockId: dispatch.blockId,
    attempt: dispatch.attempt,
    iteration: dispatch.iteration,
    params: dispatch.params,
    context: dispatch.context,
    outputs: call.outputs,
    idempotencyKey: dispatch.idempotencyKey,
    attemptKey: `${dispatch.idempotencyKey}:${dispatch.attempt}`,
    redelivery: dispatch.redelivery,
    dryRun: record.dryRun,
    get signal() {
      return call.controller.signal;
    },
    remainingTimeMs: () => Math.max(0, deadline - deps.clock.monotonicMs()),
    state: {
      get: async (name) => (isReservedStateKey(name) ? undefined : call.readState(name)),
      count: call.countState,
    },
    log: (level, message) => {
      call.addLog({ blockId: dispatch.blockId, at: call.nowMs, level, message: message.slice(0, 8192) });
      deps.log[level](message.slice(0, 8192), { instance_id: record.id, block_id: dispatch.blockId });
    },
    nowMs: call.nowMs,
    gate: call.gate ?? null,
    services: stepServices(deps, record, dispatch, call.mayWait ?? (() => false)),
  };
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
