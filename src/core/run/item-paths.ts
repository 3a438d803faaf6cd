import { type Plan, outerIteration } from './plan.ts';

/** Paths of the concurrent items around a row, outermost first: each of them sees it. */
export function itemPathsOf(plan: Plan, blockId: string, iteration: string): readonly string[] {
  if (plan.concurrent.size === 0) return [];
  const paths: string[] = [];
  let path = iteration;
  let node = plan.nodes.get(blockId);
  while (node !== undefined && node.parentId !== null) {
    node = plan.nodes.get(node.parentId);
    if (node?.block.type !== 'for_each' && node?.block.type !== 'loop') continue;
    if (plan.concurrent.has(node.block.id)) paths.unshift(path);
    path = outerIteration(path, node.block.id);
  }
  return paths;
}
