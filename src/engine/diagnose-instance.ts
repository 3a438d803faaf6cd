import { diagnose } from '../core/diagnosis/diagnose.ts';
import type { DiagnosisFacts } from '../core/diagnosis/facts.ts';
import type { Diagnosis } from '../core/diagnosis/finding.ts';
import { standingIn } from '../core/diagnosis/standing-leaves.ts';
import type { Surroundings } from '../core/diagnosis/surroundings.ts';
import { WORKER_ALIVE_MS } from '../core/diagnosis/tasks.ts';
import { ok, type Result } from '../core/result.ts';
import type { Plan } from '../core/run/plan.ts';
import { isTerminal, type InstanceState } from '../core/run/states.ts';
import type { SurroundingsRequest } from '../ports/store/inspection.ts';
import type { Frontier } from '../ports/store/reads.ts';
import { notFound, type Refusal } from './refusal.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

export interface InstanceDiagnosis {
  readonly instanceId: string;
  readonly state: InstanceState;
  readonly diagnoses: readonly Diagnosis[];
  /** When the evidence was read, epoch ms of the database. */
  readonly observedAt: number;
}

/**
 * Says why an instance does not go on (http-api.md 7.1). 404 unknown. Once the instance itself has been read, a look-up
 * that fails costs its part of the answer and no more: the answer says so.
 */
export async function diagnoseInstance(
  deps: UseCaseDeps,
  caller: Caller,
  instanceId: string,
): Promise<Result<InstanceDiagnosis, Refusal>> {
  const frontier = await deps.store.getFrontier(caller.tenantId, instanceId);
  if (frontier === null) return notFound('instance', instanceId);
  const { instance, now } = frontier;
  const diagnoses = diagnose(await factsOf(deps, frontier));
  return ok({ instanceId, state: instance.state, diagnoses, observedAt: now });
}

async function factsOf(deps: UseCaseDeps, frontier: Frontier): Promise<DiagnosisFacts> {
  const { instance, frames, inbox, openTasks: tasks, now } = frontier;
  const shown = { ...instance, waitsForSlot: instance.waitsForSlot === true };
  const facts = { now, instance: shown, tasks, inbox };
  if (isTerminal(instance.state)) {
    return { ...facts, leaves: [], polls: [], sequence: 'there', surroundings: NOWHERE };
  }
  const read = await orNull(deps, instance.id, async () => ({
    plan: await deps.definitions.planOf(instance),
  }));
  const standing = standingIn(frames, read?.plan ?? null);
  const request = requestFor(frontier, standing);
  const surroundings = await orNull(deps, instance.id, () => deps.store.getSurroundings(request));
  return { ...facts, ...standing, sequence: sequenceOf(read), surroundings };
}

function sequenceOf(read: { readonly plan: Plan | null } | null): DiagnosisFacts['sequence'] {
  if (read === null) return 'unknown';
  return read.plan === null ? 'missing' : 'there';
}

const NOWHERE: Surroundings = { workers: [], pins: [], breakers: [], children: [], slots: null, rates: [] };

/** All that is asked of the store besides the instance, in one call. */
function requestFor(
  { instance, openTasks }: Frontier,
  { leaves }: Pick<DiagnosisFacts, 'leaves'>,
): SurroundingsRequest {
  const { tenantId, id: instanceId, concurrencyKey, waitsForSlot = false } = instance;
  return {
    tenantId,
    instanceId,
    aliveWithinMs: WORKER_ALIVE_MS,
    handlers: openTasks.filter(({ state }) => state === 'pending').map(({ handlerName }) => handlerName),
    childIds: leaves.flatMap(({ leaf }) => (leaf.reason === 'child' ? (leaf.childId ?? []) : [])),
    rateKeys: leaves.flatMap(({ leaf }) => (leaf.reason === 'rate_limit' ? (leaf.limit ?? []) : [])),
    concurrencyKey: waitsForSlot ? concurrencyKey : null,
  };
}

async function orNull<T>(deps: UseCaseDeps, instanceId: string, lookUp: () => Promise<T>): Promise<T | null> {
  try {
    return await lookUp();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    deps.log.warn('a look-up for a diagnosis failed', { instance_id: instanceId, error: message });
    return null;
  }
}
