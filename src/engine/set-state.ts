import type { JsonObject } from '../core/json.ts';
import type { InstanceState } from '../core/run/states.ts';
import { ok, type Result } from '../core/result.ts';
import { notFound, refuse, type Refusal } from './refusal.ts';
import type { Operation, OperationAnswer } from './runner.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

export interface StateChange {
  readonly instanceId: string;
  readonly state: InstanceState;
  readonly nextFireAt: number | null;
}

/**
 * Sets the state of an instance by hand ([INS-12]). 404 unknown, 400 for a transition a person may not make (the text
 * names both states), 409 when a turn kept the instance for longer than the caller may wait.
 */
export async function setState(
  deps: UseCaseDeps,
  caller: Caller,
  change: StateChange,
): Promise<Result<InstanceState, Refusal>> {
  const { instanceId, state, nextFireAt } = change;
  return operate(deps, caller, instanceId, { kind: 'set_state', state, nextFireAt }, state);
}

/**
 * Puts a failed instance back to work ([OP-1] to [OP-4]). 404 unknown, 400 from any other state. Members of `metadata`
 * are set with it.
 */
export async function retryInstance(
  deps: UseCaseDeps,
  caller: Caller,
  instanceId: string,
  metadata: JsonObject = {},
): Promise<Result<InstanceState, Refusal>> {
  return operate(deps, caller, instanceId, { kind: 'retry', metadata }, 'scheduled');
}

async function operate(
  deps: UseCaseDeps,
  caller: Caller,
  instanceId: string,
  operation: Operation,
  wanted: InstanceState,
): Promise<Result<InstanceState, Refusal>> {
  const answer: OperationAnswer = await deps.runner.operate(
    { tenantId: caller.tenantId, instanceId },
    operation,
  );
  switch (answer.status) {
    case 'done':
      return ok(answer.state);
    case 'not_found':
      return notFound('instance', instanceId);
    case 'illegal':
      return refuse('invalid_argument', `an instance cannot go from ${answer.from} to ${wanted}`, {
        code: 'illegal_transition',
        details: { from: answer.from, to: wanted },
      });
    case 'busy':
      return refuse('conflict', `instance ${instanceId} is being worked on, try again`, {
        code: 'instance_busy',
      });
  }
}
