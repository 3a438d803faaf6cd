import { jsonObject } from '../core/json.ts';
import { err, ok, type Result } from '../core/result.ts';
import { Draft, type Env } from '../core/run/draft.ts';
import { Knowledge } from '../core/run/knowledge.ts';
import type { Plan } from '../core/run/plan.ts';
import { applyChanges } from '../core/run/reshape/apply-changes.ts';
import { planAfter, replacedBy } from '../core/run/reshape/migration-target.ts';
import { type MigrationPreview, previewOn } from '../core/run/reshape/preview.ts';
import type { AcceptedShape } from './accept-change.ts';
import { notFound, type Refusal } from './refusal.ts';
import type { UseCaseDeps } from './use-case.ts';

/** What a migration would do to a run as it is stored now. 400 when the target cannot hold what was injected. */
export async function previewOf(
  deps: UseCaseDeps,
  { instance, applied, pending, plan }: AcceptedShape,
  target: Plan,
): Promise<Result<MigrationPreview, Refusal>> {
  const after = planAfter(plan, target);
  if (!after.ok) {
    const details = after.error.details.map((problem) => jsonObject(Object.entries(problem)));
    const message = `the injected blocks do not fit into the target: ${after.error.message}`;
    return err({ kind: 'invalid_argument', message, code: 'invalid_definition', details });
  }
  const [frontier, rows] = await Promise.all([
    deps.store.getFrontier(instance.tenantId, instance.id),
    deps.store.listNodeRows(instance.tenantId, instance.id),
  ]);
  if (frontier === null || rows === null) return notFound('instance', instance.id);
  const draft = new Draft({
    plan: applied,
    env: stillEnv(deps, frontier.now),
    knowledge: new Knowledge({ hasHistory: true }),
    record: frontier.instance,
    frames: frontier.frames,
  });
  // Where a turn is at work a leaf may have been called that is not stored as such.
  draft.lostCalls.takenOver = frontier.instance.leaseUntil !== null;
  draft.ensureRoot();
  draft.shape.pending = pending;
  applyChanges(draft);
  return ok(previewOn(draft, after.value, replacedBy(plan, target), rows));
}

/** Nothing is called, drawn or resolved: the copy is only moved. */
function stillEnv({ ids }: UseCaseDeps, now: number): Env {
  return {
    now,
    newId: () => ids.newId(),
    uuid: () => ids.newId(),
    random: () => 0,
    maxContextBytes: 0,
    maxOutputBytes: 0,
    kindOf: () => 'effect',
    defaultsOf: () => ({}),
  };
}
