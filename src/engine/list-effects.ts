import { effectReceipts, type EffectReceipt } from '../core/run/effect-receipts.ts';
import { ok, type Result } from '../core/result.ts';
import { notFound, type Refusal } from './refusal.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

/** The most receipts of one answer: the newest (http-api.md 5.4). */
const EFFECTS_MAX = 10_000;

/** What is known of the outside effects of a run, oldest first. 404 unknown instance. */
export async function listEffects(
  deps: UseCaseDeps,
  caller: Caller,
  instanceId: string,
): Promise<Result<readonly EffectReceipt[], Refusal>> {
  const history = await deps.store.getHistory(caller.tenantId, instanceId);
  if (history === null) return notFound('instance', instanceId);
  const { instance, frames, rows, openTasks } = history;
  const plan = await deps.definitions.planOf(instance);
  if (plan === null) return notFound('sequence', instance.sequenceId);
  const claimed = openTasks.filter(({ state }) => state === 'claimed').map(({ blockId }) => blockId);
  const inProcess = new Set(deps.handlerNames);
  const receipts = effectReceipts({
    ...{ plan, instance, frames, rows },
    claimedBlocks: new Set(claimed),
    runsInProcess: (handler) => inProcess.has(handler),
  });
  return ok(receipts.slice(-EFFECTS_MAX));
}
