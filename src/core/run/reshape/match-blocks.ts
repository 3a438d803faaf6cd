import type { Plan, PlanNode } from '../plan.ts';

/**
 * Blocks of a plan that are the same in another one: by id, type and parent ([OP-14]). A block below a composite that is
 * not the same is new as well.
 */
export function sameBlocks(before: Plan, after: Plan): ReadonlySet<string> {
  const same = new Set<string>();
  for (const node of after.inOrder) {
    if (isSame(before.nodes.get(node.block.id), node, same)) same.add(node.block.id);
  }
  return same;
}

function isSame(old: PlanNode | undefined, node: PlanNode, same: ReadonlySet<string>): boolean {
  if (old === undefined || old.block.type !== node.block.type || old.parentId !== node.parentId) return false;
  return node.parentId === null || same.has(node.parentId);
}
