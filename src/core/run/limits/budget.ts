import { type Json, type JsonObject, jsonObject, member, mergeObjects } from '../../json.ts';
import type { Draft } from '../draft.ts';
import { goTo } from '../settle.ts';
import { setUsage } from './usage.ts';

/** The first cap that is exceeded, as `metadata.budget_breach` shows it ([BUD-3]). */
export interface Breach {
  readonly limit: string;
  readonly limitValue: number;
  readonly actual: number;
}

const PAUSED_REASON = 'budget_exceeded';

/**
 * [BUD-1], [BUD-2]: caps in the order of 13.6; one is exceeded when strictly more was used. Amounts that only reports of
 * later releases tell are not enforced.
 *
 * @param steps Attempts so far, with those that are about to begin.
 */
function breachOf(draft: Draft, steps: number): Breach | null {
  const { budget } = draft.record;
  if (budget === null || draft.record.dryRun) return null;
  const { usage, startedAt } = draft.record;
  const input = usage?.inputTokens ?? 0;
  const output = usage?.outputTokens ?? 0;
  const used: readonly (readonly [string, number])[] = [
    ['max_steps', steps],
    ['max_wall_time_ms', startedAt === null ? 0 : draft.env.now - startedAt],
    ['max_external_calls', usage?.externalCalls ?? 0],
    ['max_input_tokens', input],
    ['max_output_tokens', output],
    ['max_total_tokens', input + output],
  ];
  for (const [limit, actual] of used) {
    const cap = member(budget, limit);
    if (typeof cap === 'number' && cap >= 0 && actual > cap) return { limit, limitValue: cap, actual };
  }
  return null;
}

/**
 * [BUD-3], [END-1]: before each leaf. False: the leaf does not begin now. Attempts that this walk has made ready count as
 * begun, so that branches side by side cannot all take the last step; the walk after them decides.
 */
export function mayBegin(draft: Draft): boolean {
  const overSteps = isOverSteps(draft);
  if (!overSteps && !isHeld(draft)) return true;
  if (draft.ready.length > 0) draft.runnableLeft = true;
  else draft.overLimit = overSteps ? 'steps' : 'budget';
  return false;
}

/** The same for a leaf that is no handler attempt, such as a child. */
export function mayBeginChild(draft: Draft): boolean {
  if (!isHeld(draft)) return true;
  if (draft.ready.length > 0) draft.runnableLeft = true;
  else draft.overLimit ??= 'budget';
  return false;
}

function isOverSteps(draft: Draft): boolean {
  const max = draft.env.maxSteps ?? 0;
  return max > 0 && stepsWithReady(draft) + 1 > max;
}

function isHeld(draft: Draft): boolean {
  if (draft.record.budget === null || draft.cancelling) return false;
  const steps = stepsWithReady(draft);
  const allowed = draft.record.usage?.stepsAllowed;
  return breachOf(draft, steps) !== null && !(typeof allowed === 'number' && steps < allowed);
}

function stepsWithReady(draft: Draft): number {
  return draft.record.totalSteps + draft.ready.length;
}

/** [BUD-3]: a leaf was held back. The run is paused, with what it has exceeded. A run that is cancelled drains. */
export function pauseOverBudget(draft: Draft): void {
  const breach = breachOf(draft, draft.record.totalSteps);
  if (breach === null || draft.cancelling) return;
  const { limit, limitValue, actual } = breach;
  draft.instance.set({
    metadata: mergeObjects(draft.record.metadata, {
      paused_reason: PAUSED_REASON,
      budget_breach: { limit, limit_value: limitValue, actual },
    }),
  });
  goTo(draft, 'paused');
}

/** [BUD-4]: a resume forgets why the run was paused; after a breach one more leaf may begin. */
export function resumed(draft: Draft): void {
  const { metadata, totalSteps } = draft.record;
  const reason = member(metadata, 'paused_reason');
  if (reason === undefined) return;
  draft.instance.set({ metadata: withoutReasons(metadata) });
  if (reason === PAUSED_REASON) setUsage(draft, { stepsAllowed: totalSteps + 1 });
}

/** A leaf that is no handler attempt, such as a child, has used up what a resume allowed. */
export function useAllowance(draft: Draft): void {
  if (typeof draft.record.usage?.stepsAllowed === 'number') setUsage(draft, { stepsAllowed: null });
}

/** [BUD-4]: new caps; a run that the old ones had paused goes on when the new ones let it. */
export function replaceBudget(draft: Draft, budget: JsonObject): void {
  draft.instance.set({ budget });
  const waits = draft.state === 'paused' && member(draft.record.metadata, 'paused_reason') === PAUSED_REASON;
  if (!waits || breachOf(draft, draft.record.totalSteps) !== null) return;
  draft.instance.set({ metadata: withoutReasons(draft.record.metadata) });
  draft.transition('scheduled', { reason: 'budget_raised' });
}

function withoutReasons(metadata: JsonObject): JsonObject {
  const keep = ([key]: readonly [string, Json]): boolean =>
    key !== 'paused_reason' && key !== 'budget_breach';
  return jsonObject(Object.entries(metadata).filter(keep));
}
