import { ok, type Result } from '../core/result.ts';
import type { Plan } from '../core/run/plan.ts';
import { isTerminal } from '../core/run/states.ts';
import type { Frontier, InstanceView } from '../ports/store/reads.ts';
import { notFound, type Refusal } from './refusal.ts';
import { describeExplanation } from './explain-summary.ts';
import { openWaits } from './explain-waits.ts';
import type { Explanation, NextStep } from './explanation.ts';
import { SIGNALS_LOOKED_AT, unheardSignals } from './unheard-signals.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

/** Says what an instance waits for, since when, who works on it, and what comes next. 404 unknown. */
export async function explainInstance(
  deps: UseCaseDeps,
  caller: Caller,
  instanceId: string,
): Promise<Result<Explanation, Refusal>> {
  const frontier = await deps.store.getFrontier(caller.tenantId, instanceId);
  if (frontier === null) return notFound('instance', instanceId);
  const { instance, now } = frontier;
  const ended = isTerminal(instance.state);
  const plan = ended ? null : await deps.definitions.planOf(instance);
  const facts = {
    instanceId,
    state: instance.state,
    observedAt: now,
    waitingOn: ended ? [] : openWaits(frontier, plan),
    lease: leaseOf(frontier),
    next: ended && (instance.hooks ?? null) === null ? null : nextStep(instance, now),
    inboxPending: frontier.inbox.length,
    unheard: plan === null ? [] : await unheardOf(deps, caller, instanceId, plan),
    claims: { count: instance.epoch, takeOversInRow: instance.recoveryCount },
  };
  return ok({ ...facts, summary: describeExplanation(facts, instance) });
}

async function unheardOf(
  { store }: UseCaseDeps,
  { tenantId }: Caller,
  instanceId: string,
  plan: Plan,
): Promise<Explanation['unheard']> {
  const rows = await store.listSignals({ tenantId, instanceId, limit: SIGNALS_LOOKED_AT, offset: 0 });
  return unheardSignals(rows ?? [], plan);
}

function leaseOf({ instance, now }: Frontier): Explanation['lease'] {
  const { leaseOwner: owner, leaseUntil: until } = instance;
  return until === null ? null : { owner: owner ?? 'unknown', until, expired: until <= now };
}

function nextStep(instance: InstanceView, now: number): NextStep {
  const { leaseUntil, dueAt } = instance;
  if (leaseUntil !== null)
    return leaseUntil > now ? { action: 'turn', at: leaseUntil } : { action: 'take_over', at: now };
  if (dueAt !== null) return { action: 'claim', at: Math.max(dueAt, now) };
  return { action: instance.state === 'paused' ? 'resume' : 'fact', at: null };
}
