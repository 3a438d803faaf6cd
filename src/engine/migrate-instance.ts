import { jsonObject } from '../core/json.ts';
import { ok, type Result } from '../core/result.ts';
import type { Plan } from '../core/run/plan.ts';
import { describe } from '../core/run/reshape/apply-changes.ts';
import type { Refusal as MoveRefusal } from '../core/run/reshape/mapping.ts';
import { replacedBy } from '../core/run/reshape/migration-target.ts';
import type { MigrationPreview } from '../core/run/reshape/preview.ts';
import { isTerminal } from '../core/run/states.ts';
import type { InstanceView } from '../ports/store/reads.ts';
import { acceptChange, currentShape, hasEnded } from './accept-change.ts';
import { previewOf } from './preview-migration.ts';
import { notFound, refuse, type Refusal, type Refused } from './refusal.ts';
import type { Caller, UseCaseDeps } from './use-case.ts';

export interface Migration {
  readonly instanceId: string;
  readonly targetSequenceId: string;
}

export interface Migrated {
  readonly fromSequenceId: string;
  /** False: it takes effect when the handlers that run now have ended. */
  readonly isApplied: boolean;
}

/**
 * Moves an instance to another version, or to another sequence of its tenant ([OP-13] to [OP-15]). 404 unknown instance or
 * target, 403 a target of another tenant, 400 for an instance that has ended or a target that cannot hold what was
 * injected, 409 when the run stands where it has no safe place in the target; then nothing is changed.
 */
export async function migrateInstance(
  deps: UseCaseDeps,
  caller: Caller,
  { instanceId, targetSequenceId }: Migration,
): Promise<Result<Migrated, Refusal>> {
  const done = await acceptChange(deps, caller, instanceId, async (shape) => {
    const target = await readTarget(deps, shape.instance, targetSequenceId);
    if (!target.ok) return target;
    const preview = await previewOf(deps, shape, target.value);
    if (!preview.ok) return preview;
    const { refusals } = preview.value;
    if (refusals.length > 0) return cannotMove(refusals);
    const replaced = replacedBy(shape.plan, target.value);
    const change = { kind: 'migrate' as const, sequenceId: targetSequenceId, replaced };
    return ok({ change, answer: shape.instance });
  });
  if (!done.ok) return done;
  const { number, answer: before } = done.value;
  const outcome = await readOutcome(deps, before, number);
  if (outcome.refused !== null) return cannotMove([{ blockId: '', reason: outcome.refused }]);
  return ok({ fromSequenceId: before.sequenceId, isApplied: outcome.isApplied });
}

/** What a migration would keep, drop and bring, without doing it; what would stop it from where the run stands is in it. */
export async function previewMigration(
  deps: UseCaseDeps,
  caller: Caller,
  { instanceId, targetSequenceId }: Migration,
): Promise<Result<{ readonly fromSequenceId: string; readonly preview: MigrationPreview }, Refusal>> {
  const shape = await currentShape(deps, caller, instanceId);
  if (!shape.ok) return shape;
  const { instance } = shape.value;
  const target = await readTarget(deps, instance, targetSequenceId);
  if (!target.ok) return target;
  const preview = await previewOf(deps, shape.value, target.value);
  return preview.ok ? ok({ fromSequenceId: instance.sequenceId, preview: preview.value }) : preview;
}

async function readTarget(
  deps: UseCaseDeps,
  instance: InstanceView,
  sequenceId: string,
): Promise<Result<Plan, Refusal>> {
  const record = await deps.store.getSequence(null, sequenceId);
  if (record === null) return notFound('sequence', sequenceId);
  if (record.tenantId !== instance.tenantId) {
    return refuse('forbidden', `sequence ${sequenceId} belongs to another tenant than the instance`);
  }
  if (isTerminal(instance.state)) return hasEnded(instance);
  const plan = await deps.definitions.plan(instance.tenantId, sequenceId);
  return plan === null ? notFound('sequence', sequenceId) : ok(plan);
}

/** By now a turn has had its chance, unless one is busy with handlers. */
async function readOutcome(
  deps: UseCaseDeps,
  { tenantId, id }: InstanceView,
  number: number,
): Promise<{ readonly refused: string | null; readonly isApplied: boolean }> {
  const changes = await deps.store.listShapeChanges({ tenantId, instanceId: id });
  const refused = changes.find((change) => change.number === number)?.refused ?? null;
  const view = refused === null ? await deps.store.getInstance(tenantId, id) : null;
  return { refused, isApplied: (view?.shape?.applied ?? 0) >= number };
}

function cannotMove(refusals: readonly MoveRefusal[]): Refused {
  return refuse('conflict', `the instance cannot be moved from where it stands: ${describe(refusals)}`, {
    code: 'cannot_migrate',
    details: refusals.map(({ blockId, reason }) =>
      jsonObject([
        ['block_id', blockId],
        ['reason', reason],
      ]),
    ),
  });
}
