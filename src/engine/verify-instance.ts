import { verifyRun } from '../core/run/fold/verify-run.ts';
import { ok, type Result } from '../core/result.ts';
import { notFound, type Refusal } from './refusal.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

/**
 * Whether what is stored of a run follows from its block outputs alone (RULINGS B2): the differences in words, none when it
 * does. All is read at one instant, so a run that is being worked on can be checked too. 404 unknown instance.
 */
export async function verifyInstance(
  deps: UseCaseDeps,
  caller: Caller,
  instanceId: string,
): Promise<Result<readonly string[], Refusal>> {
  const history = await deps.store.getHistory(caller.tenantId, instanceId);
  if (history === null) return notFound('instance', instanceId);
  const { instance, frames, rows } = history;
  const plan = await deps.definitions.planOf(instance);
  if (plan === null) return notFound('sequence', instance.sequenceId);
  return ok(verifyRun({ plan, instance, frames, rows }));
}
