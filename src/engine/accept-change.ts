import { ok, type Result } from '../core/result.ts';
import type { Plan } from '../core/run/plan.ts';
import { planWith } from '../core/run/reshape/injection.ts';
import type { PendingChange } from '../core/run/reshape/shape-state.ts';
import { isTerminal } from '../core/run/states.ts';
import type { InstanceView } from '../ports/store/reads.ts';
import type { NewChange } from '../ports/store/shape.ts';
import { readShape } from './read-shape.ts';
import { notFound, refuse, type Refusal, type Refused } from './refusal.ts';
import { nudgeAccepted, type Caller, type UseCaseDeps } from './use-case.ts';

const TRIES_MAX = 8;

/** An instance with all that was accepted for it, also what no turn has taken up yet. */
export interface AcceptedShape {
  readonly instance: InstanceView;
  /** The plan that its frames are of. */
  readonly applied: Plan;
  readonly pending: readonly PendingChange[];
  /** The plan with everything accepted: what is checked and accepted next stands on it. */
  readonly plan: Plan;
}

/** What is to be accepted, and what its author wants to know afterwards. */
export interface Decision<T> {
  readonly change: NewChange;
  readonly answer: T;
}

/**
 * Accepts one change of what an instance is made of and lets it take effect. `decide` judges it by what is there; it is
 * asked again when another change was accepted in between. Answers the number of the change.
 */
export async function acceptChange<T>(
  deps: UseCaseDeps,
  caller: Caller,
  instanceId: string,
  decide: (shape: AcceptedShape) => Promise<Result<Decision<T>, Refusal>>,
): Promise<Result<{ readonly number: number; readonly answer: T }, Refusal>> {
  const { tenantId } = caller;
  const id = deps.ids.newId();
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const shape = await currentShape(deps, caller, instanceId);
    if (!shape.ok) return shape;
    const { instance } = shape.value;
    const decided = await decide(shape.value);
    if (!decided.ok) return decided;
    const { change, answer } = decided.value;
    const expected = instance.shape?.accepted ?? 0;
    const accepted = await deps.store.acceptChange({ tenantId, instanceId, id, expected, change });
    switch (accepted.status) {
      case 'accepted':
        if (!accepted.isTerminal) await nudgeAccepted(deps, { tenantId, instanceId });
        return ok({ number: accepted.number, answer });
      case 'not_found':
        return notFound('instance', instanceId);
      case 'terminal':
        return hasEnded(instance);
      case 'no_sequence':
        return notFound('sequence', change.kind === 'migrate' ? change.sequenceId : '');
      case 'stale':
    }
  }
  return isBusy(instanceId);
}

/**
 * What an instance is made of now. An accepted migration is let through first: what comes after it depends on whether it
 * can be carried out. 404 unknown, 409 when it has to wait for handlers that take their time.
 */
export async function currentShape(
  deps: UseCaseDeps,
  caller: Caller,
  instanceId: string,
): Promise<Result<AcceptedShape, Refusal>> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const instance = await deps.store.getInstance(caller.tenantId, instanceId);
    if (instance === null) return notFound('instance', instanceId);
    const shape = await readShape(deps, instance);
    if (shape === null) throw new Error(`the definition ${instance.sequenceId} cannot be read`);
    const { plan: applied, pending } = shape;
    const isMigrating = pending.some(({ kind }) => kind === 'migrate') && !isTerminal(instance.state);
    if (!isMigrating) return ok({ instance, applied, pending, plan: withAccepted(applied, pending) });
    await nudgeAccepted(deps, { tenantId: caller.tenantId, instanceId });
  }
  return isBusy(instanceId);
}

/** A migration that a cancel has come before leads nowhere. */
function withAccepted(plan: Plan, pending: readonly PendingChange[]): Plan {
  const injections = pending.flatMap((change) => (change.kind === 'inject' ? [change.injection] : []));
  return injections.length === 0 ? plan : planWith(plan, injections);
}

function isBusy(instanceId: string): Refused {
  return refuse('conflict', `instance ${instanceId} is being changed, try again`, { code: 'instance_busy' });
}

export function hasEnded({ id, state }: InstanceView): Refused {
  return refuse('invalid_argument', `instance ${id} is ${state}`, { code: 'instance_terminal' });
}
