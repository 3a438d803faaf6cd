import { type TreeNode, buildTree } from '../core/run/tree.ts';
import type { Store } from '../ports/store/store.ts';
import type { Definitions } from './definitions.ts';

/** The tree view of an instance; empty before its first claim, null when it is unknown to this tenant. */
export async function readTree(
  deps: { readonly store: Pick<Store, 'getFrontier' | 'listNodeRows'>; readonly definitions: Definitions },
  tenantId: string | null,
  instanceId: string,
): Promise<readonly TreeNode[] | null> {
  const [frontier, rows] = await Promise.all([
    deps.store.getFrontier(tenantId, instanceId),
    deps.store.listNodeRows(tenantId, instanceId),
  ]);
  if (frontier === null || rows === null) return null;
  const { instance, frames } = frontier;
  if (instance.epoch === 0) return [];
  const plan = await deps.definitions.plan(instance.tenantId, instance.sequenceId);
  if (plan === null) return [];
  const isLeased = instance.leaseUntil !== null && instance.leaseUntil > frontier.now;
  return buildTree({
    plan,
    instanceId,
    createdAt: instance.createdAt,
    frames,
    rows,
    isWorkedOn: isLeased && instance.state === 'running',
  });
}
