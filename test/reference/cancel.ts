import type { Walk } from './advance.ts';
import type { Instance, Sim } from './instance.ts';
import { quiet } from './leaf-result.ts';
import { isTerminal, nodesOf, subtree, type TreeNode } from './tree-node.ts';

/** Everything below that has not ended is cancelled, protected or not (RACE-3, ROOT-2, CAN-7). */
export function cancelHard({ sim, instance }: Walk, node: TreeNode): void {
  for (const each of subtree(node)) {
    if (isTerminal(each.state)) continue;
    cancelChildOf(sim, instance, each);
    quiet(each);
    each.state = 'cancelled';
  }
}

/** [SUB-9]: the child gets a cancel signal; nobody waits for it. */
export function cancelChildOf(sim: Sim, instance: Instance, node: TreeNode): void {
  const child = instance.childOf.get(node);
  if (child === undefined || child.terminal !== null) return;
  sim.queue.push(() => requestCancel(sim, child));
}

/** Chapter 17: the graceful cancel. What is protected goes on, the rest ends now. */
export function requestCancel(sim: Sim, instance: Instance): void {
  if (instance.terminal !== null || instance.cancelRequested) return;
  instance.cancelRequested = true;
  // Whether the failure has moved up before the cancel came is not defined: a paused instance stands still.
  if (instance.paused && failedInPause(instance)) sim.tie ??= 'a failure, a pause and a cancel';
  instance.paused = false;
  cancelList({ sim, instance }, instance.roots);
}

const failedInPause = (instance: Instance): boolean =>
  [...nodesOf(instance.roots)].some(
    ({ state, parent }) => state === 'failed' && parent !== null && !isTerminal(parent.state),
  );

/** True when something in the list goes on. */
function cancelList(walk: Walk, list: readonly TreeNode[]): boolean {
  const results = list.map((node) => cancelNode(walk, node));
  return results.includes(true);
}

/** True when the node goes on, because it is protected (17.3) or holds something that is. */
function cancelNode(walk: Walk, node: TreeNode): boolean {
  if (isTerminal(node.state)) return false;
  if (node.state === 'pending' || !goesOn(walk, node)) {
    cancelHard(walk, node);
    return false;
  }
  return true;
}

function goesOn(walk: Walk, node: TreeNode): boolean {
  const { block } = node;
  if (block.type === 'step') return !block.cancellable;
  if (block.type === 'sub_sequence') return false;
  if (block.type === 'cancellation_scope') return true;
  if (block.type === 'try_catch') return drainTryCatch(walk, node);
  if (block.type === 'saga' && node.phase.name === 'rollback') return true;
  return drain(walk, node);
}

function drain(walk: Walk, node: TreeNode): boolean {
  for (const [index, list] of node.lists.entries()) {
    if (list.some(({ state }) => state === 'failed')) node.failedBefore.add(index);
  }
  const results = node.lists.map((list) => cancelList(walk, list));
  node.draining = results.includes(true);
  return node.draining;
}

/** A finally list that has begun, or begins because of the cancel, is protected as a whole. */
function drainTryCatch(walk: Walk, node: TreeNode): boolean {
  const [tried = [], caught = [], last = []] = node.lists;
  node.draining = true;
  if (node.phase.name === 'finally') return true;
  const isTrying = cancelList(walk, tried);
  const isCatching = cancelList(walk, caught);
  node.phase.cancelled = true;
  if (isTrying || isCatching) return true;
  node.phase.name = 'finally';
  return last.length > 0;
}
