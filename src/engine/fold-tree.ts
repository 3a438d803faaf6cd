import { fansOut } from '../core/run/blocks/items.ts';
import { type Plan, descendantIds } from '../core/run/plan.ts';
import { type TreeInput, type TreeNode, buildTree } from '../core/run/tree.ts';
import type { Store } from '../ports/store/store.ts';

/**
 * The tree with the rows that its items need: the latest row of a block may be of another item than the one that is shown,
 * so the rows of each body whose items do not end in order are read for the shown one, outer bodies first.
 */
export async function foldTree(
  store: Pick<Store, 'listNodeRowsWithin'>,
  tenantId: string | null,
  input: TreeInput,
): Promise<readonly TreeNode[]> {
  let rows = input.rows;
  let tree = buildTree(input);
  for (const forEachId of outermostFirst(input.plan)) {
    const pass = shownPass(tree, forEachId);
    if (pass === null) continue;
    const inside = descendantIds(input.plan, forEachId);
    const wanted = inside.map((blockId) => ({ pass, blockId }));
    const found = (await store.listNodeRowsWithin(tenantId, input.instanceId, wanted)) ?? [];
    rows = [...rows.filter(({ blockId }) => !inside.includes(blockId)), ...found];
    tree = buildTree({ ...input, rows });
  }
  return tree;
}

/** Document order puts a block before all that lies in it. */
function outermostFirst({ inOrder }: Plan): readonly string[] {
  return inOrder.flatMap(({ block }) => (block.type === 'for_each' && fansOut(block) ? [block.id] : []));
}

/** Path of the pass whose body the tree shows; null when the block was not entered. */
function shownPass(tree: readonly TreeNode[], forEachId: string): string | null {
  const own = tree.find(({ blockId }) => blockId === forEachId);
  if (own === undefined || own.startedAt === null) return null;
  return tree.find(({ parentId }) => parentId === own.id)?.iteration ?? null;
}
