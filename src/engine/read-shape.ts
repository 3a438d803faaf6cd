import type { Plan } from '../core/run/plan.ts';
import type { InstanceRecord } from '../core/run/record.ts';
import type { PendingChange } from '../core/run/reshape/shape-state.ts';
import type { ShapeChange, ShapeStore } from '../ports/store/shape.ts';
import type { Definitions } from './definitions.ts';

interface ShapeDeps {
  readonly definitions: Definitions;
  readonly store: Pick<ShapeStore, 'listShapeChanges'>;
}

/** What a run is made of: the plan that its frames are of, and the accepted changes that are not in them yet. */
export interface ReadShape {
  readonly plan: Plan;
  readonly pending: readonly PendingChange[];
}

/** null: there is no such definition. An instance without changes costs no read but that of its cached plan. */
export async function readShape(deps: ShapeDeps, instance: InstanceRecord): Promise<ReadShape | null> {
  const plan = await deps.definitions.planOf(instance);
  if (plan === null) return null;
  const { accepted, applied } = instance.shape ?? { accepted: 0, applied: 0 };
  if (accepted === applied) return { plan, pending: [] };
  const key = { tenantId: instance.tenantId, instanceId: instance.id };
  const changes = await deps.store.listShapeChanges(key);
  const open = changes.filter(({ number, refused }) => number > applied && refused === null);
  const pending = await Promise.all(open.map((change) => pendingChange(deps, instance, plan, change)));
  return { plan, pending };
}

async function pendingChange(
  deps: ShapeDeps,
  { tenantId }: InstanceRecord,
  plan: Plan,
  { number, change }: ShapeChange,
): Promise<PendingChange> {
  switch (change.kind) {
    case 'inject': {
      const { readInjection } = await import('../core/run/reshape/check-injection.ts');
      return { kind: 'inject', change: number, injection: readInjection(plan, change) };
    }
    case 'migrate': {
      const target = await deps.definitions.plan(tenantId, change.sequenceId);
      const to = target === null ? null : { plan: target, replaced: change.replaced };
      return { kind: 'migrate', change: number, target: to };
    }
  }
}
