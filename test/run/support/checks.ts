import { checkPromises } from '../../../src/core/run/promises.ts';
import { verifyRun } from '../../../src/core/run/fold/verify-run.ts';
import type { NodeState } from '../../../src/core/run/states.ts';
import type { TreeNode } from '../../../src/core/run/tree.ts';
import { foldTree } from '../../../src/engine/fold-tree.ts';
import { planFor } from './shape.ts';
import type { World } from './world.ts';

/** After every commit: nothing is stuck (DESIGN promise 2), and the tree can be folded and makes sense. */
export async function checkCommitted(world: World, instanceId: string): Promise<void> {
  const frontier = await world.store.getFrontier(null, instanceId);
  if (frontier === null) throw new Error(`there is no instance ${instanceId}`);
  const broken = [
    ...checkPromises(frontier),
    ...checkTree(await treeOf(world, instanceId)),
    ...(await checkRows(world, instanceId)),
  ];
  if (broken.length > 0) {
    throw new Error(`${broken.join('\n')}\n${JSON.stringify(frontier.frames, null, 1)}`);
  }
}

/** RULINGS B2: what is stored follows from the rows. While a cancel drains, lists end without leaving any. */
async function checkRows(world: World, instanceId: string): Promise<readonly string[]> {
  const history = await world.store.getHistory(null, instanceId);
  if (history === null) throw new Error(`there is no instance ${instanceId}`);
  const { instance, frames, rows } = history;
  return verifyRun({ plan: await planFor(world, instance), instance, frames, rows });
}

export async function treeOf(world: World, instanceId: string): Promise<readonly TreeNode[]> {
  const frontier = await world.store.getFrontier(null, instanceId);
  const rows = await world.store.listNodeRows(null, instanceId);
  if (frontier === null || rows === null) throw new Error(`there is no instance ${instanceId}`);
  const { instance, frames } = frontier;
  const plan = await planFor(world, instance);
  const input = { plan, instanceId, createdAt: instance.createdAt, frames, rows, isWorkedOn: false };
  return foldTree(world.store, null, input);
}

const OVER: readonly NodeState[] = ['completed', 'failed', 'cancelled', 'skipped'];

/** What holds for every tree at every commit (sequences.md 7); answers what is broken, in words. */
function checkTree(tree: readonly TreeNode[]): readonly string[] {
  const nodes = new Map(tree.map((node) => [node.id, node]));
  return [
    ...checkIds(tree),
    ...tree.flatMap((node) => {
      const parent = node.parentId === null ? undefined : nodes.get(node.parentId);
      return parent === undefined ? [] : checkPair(parent, node);
    }),
    ...checkLists(tree),
  ];
}

function checkIds(tree: readonly TreeNode[]): readonly string[] {
  const ids = tree.map((node) => node.id);
  const shaped = ids.every((id) =>
    /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id),
  );
  const ascending = ids.every((id, index) => index === 0 || (ids[index - 1] ?? '') < id);
  return [
    ...(shaped ? [] : ['an id is not shaped like a UUID v7']),
    ...(ascending ? [] : ['ids do not ascend']),
  ];
}

function checkPair(parent: TreeNode, node: TreeNode): readonly string[] {
  const name = `${node.blockId} is ${node.state} below ${parent.blockId} that is ${parent.state}`;
  if (parent.state === 'pending') return node.state === 'pending' ? [] : [name];
  if (parent.state === 'skipped') return node.state === 'skipped' ? [] : [name];
  if (OVER.includes(parent.state)) return OVER.includes(node.state) ? [] : [name];
  // A loop that polls waits between its passes: nothing of its body is under way.
  if (parent.state === 'waiting') return OVER.includes(node.state) ? [] : [name];
  return [];
}

/** [LIST-1]: what stands before the cursor is over, what stands after it has not begun, unless the list has ended. */
function checkLists(tree: readonly TreeNode[]): readonly string[] {
  const lists = new Map<string, TreeNode[]>();
  for (const node of tree) {
    const key = `${node.parentId ?? ''}/${node.branchIndex ?? ''}`;
    lists.set(key, [...(lists.get(key) ?? []), node]);
  }
  return [...lists.values()].flatMap((list) => {
    const cursor = list.findIndex((node) => !OVER.includes(node.state));
    if (cursor === -1) return [];
    if (list.some(({ blockId }) => blockId.startsWith('late_'))) return checkInjected(list);
    const later = list.slice(cursor + 1).filter((node) => node.state !== 'pending');
    return later.map((node) => `${node.blockId} is ${node.state} behind the cursor of its list`);
  });
}

/** Blocks may have been put before ended ones: still no more than one is under way ([OP-10]). */
function checkInjected(list: readonly TreeNode[]): readonly string[] {
  const [first, second] = list.filter(({ state }) => state !== 'pending' && !OVER.includes(state));
  return second === undefined ? [] : [`${first?.blockId ?? ''} and ${second.blockId} are both under way`];
}
