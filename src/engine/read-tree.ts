import type { TreeNode } from '../core/run/tree.ts';
import type { Store } from '../ports/store/store.ts';
import type { Definitions } from './definitions.ts';
import { foldTree } from './fold-tree.ts';

/**
 * The tree view of an instance; empty before its first claim, null when it is unknown to this tenant. `pass` names the item
 * to show where items run side by side (`each:17`); null: the one that says most.
 */
export async function readTree(
  deps: {
    readonly store: Pick<Store, 'getFrontier' | 'listNodeRows' | 'listNodeRowsWithin'>;
    readonly definitions: Pick<Definitions, 'planOf'>;
  },
  tenantId: string | null,
  instanceId: string,
  pass: string | null = null,
): Promise<readonly TreeNode[] | null> {
  const [frontier, rows] = await Promise.all([
    deps.store.getFrontier(tenantId, instanceId),
    deps.store.listNodeRows(tenantId, instanceId),
  ]);
  if (frontier === null || rows === null) return null;
  const { instance, frames } = frontier;
  if (instance.epoch === 0) return [];
  const plan = await deps.definitions.planOf(instance);
  if (plan === null) return [];
  const isLeased = instance.leaseUntil !== null && instance.leaseUntil > frontier.now;
  return foldTree(deps.store, tenantId, {
    plan,
    instanceId,
    createdAt: instance.createdAt,
    frames,
    rows,
    isWorkedOn: isLeased && instance.state === 'running',
    pass,
  });
}
