import { jsonObject } from '../core/json.ts';
import { err, ok, type Result } from '../core/result.ts';
import { Draft } from '../core/run/draft.ts';
import { Knowledge } from '../core/run/knowledge.ts';
import type { NodeRow } from '../core/run/output-row.ts';
import type { Plan } from '../core/run/plan.ts';
import { applyChanges } from '../core/run/reshape/apply-changes.ts';
import { planAfter, replacedBy } from '../core/run/reshape/migration-target.ts';
import {
  type MigrationPreview,
  previewOf as compare,
  withoutEarlierLife,
} from '../core/run/reshape/preview.ts';
import { reshape } from '../core/run/reshape/reshape.ts';
import type { TreeNode } from '../core/run/tree.ts';
import type { Frontier } from '../ports/store/reads.ts';
import type { AcceptedShape } from './accept-change.ts';
import { foldTree } from './fold-tree.ts';
import { notFound, type Refusal } from './refusal.ts';
import { stillEnv } from './still-env.ts';
import type { UseCaseDeps } from './use-case.ts';

/** What a migration would do to a run as it is stored now. 400 when the target cannot hold what was injected. */
export async function previewOf(
  deps: UseCaseDeps,
  shape: AcceptedShape,
  target: Plan,
): Promise<Result<MigrationPreview, Refusal>> {
  const after = planAfter(shape.plan, target);
  if (!after.ok) {
    const details = after.error.details.map((problem) => jsonObject(Object.entries(problem)));
    const message = `the injected blocks do not fit into the target: ${after.error.message}`;
    return err({ kind: 'invalid_argument', message, code: 'invalid_definition', details });
  }
  const { tenantId, id } = shape.instance;
  const [frontier, rows] = await Promise.all([
    deps.store.getFrontier(tenantId, id),
    deps.store.listNodeRows(tenantId, id),
  ]);
  if (frontier === null || rows === null) return notFound('instance', id);
  const draft = copyOf(deps, shape, frontier);
  const before = draft.plan;
  const oldTree = await treeOf(deps, draft, rows);
  const refusals = reshape(draft, after.value, { restarts: false });
  const left = withoutEarlierLife(rows, before, after.value);
  const newTree = refusals.length > 0 ? [] : await treeOf(deps, draft, left);
  const replaced = replacedBy(shape.plan, target);
  return ok(compare({ before, target: after.value, replaced, refusals, oldTree, newTree }));
}

/** The run as a turn would find it, with all accepted injections applied. Nobody commits it. */
function copyOf(
  deps: UseCaseDeps,
  { applied, pending }: AcceptedShape,
  { instance, frames, now }: Frontier,
): Draft {
  const draft = new Draft({
    plan: applied,
    env: stillEnv(deps.ids, now),
    knowledge: new Knowledge({ hasHistory: true }),
    record: instance,
    frames,
  });
  // Where a turn is at work a leaf may have been called that is not stored as such.
  draft.lostCalls.takenOver = instance.leaseUntil !== null;
  draft.ensureRoot();
  draft.shape.pending = pending;
  applyChanges(draft);
  return draft;
}

function treeOf(deps: UseCaseDeps, draft: Draft, rows: readonly NodeRow[]): Promise<readonly TreeNode[]> {
  const { id: instanceId, tenantId, createdAt } = draft.record;
  const frames = [...draft.frames.values()];
  const input = { plan: draft.plan, instanceId, createdAt, frames, rows, isWorkedOn: false };
  return foldTree(deps.store, tenantId, input);
}
