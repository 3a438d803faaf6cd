import type { Instance, Row, Sim } from './instance.ts';
import { removeError } from './instance.ts';
import { resetNode, subtree, type TreeNode } from './tree-node.ts';

/** [OP-2] to [OP-4]: what failed, was cancelled or was skipped because of a failure starts anew. */
export function retryInstance(_sim: Sim, instance: Instance): void {
  removeError(instance);
  instance.rows = instance.rows.filter(({ kind }) => kind !== 'error' && kind !== 'breach');
  instance.terminal = null;
  instance.cancelRequested = false;
  reopenList(instance, instance.roots);
}

/** The nodes of a list after its failed one were skipped or cancelled with it. */
function reopenList(instance: Instance, list: readonly TreeNode[]): void {
  let isBehind = false;
  for (const node of list) {
    const isOpen = node.state === 'failed' || node.state === 'cancelled';
    if (isOpen && !isBehind) reopen(instance, node);
    else if (isOpen || isBehind) for (const each of subtree(node)) resetNode(each);
    isBehind ||= isOpen;
  }
}

function reopen(instance: Instance, node: TreeNode): void {
  const { block, leaf, phase } = node;
  if (block.type === 'step') {
    // An accepted gate of a failed step stays accepted (HI-5); one that was cancelled asks again.
    const { gatePassed } = leaf;
    const hasFailed = node.state === 'failed';
    resetNode(node);
    node.leaf.gatePassed = hasFailed && gatePassed;
    return;
  }
  if (block.type === 'sub_sequence') return resetNode(node);
  if (block.type === 'saga' && phase.name === 'rollback') return resetAll(instance, node);
  // What a catch has absorbed stays absorbed: a finally list that failed goes on where it stopped.
  if (block.type === 'try_catch' && (phase.catchFailed || phase.cancelled)) return resetAll(instance, node);
  // Cancelled before it was entered.
  if (node.enteredAt === null) return resetAll(instance, node);
  node.state = 'running';
  node.draining = false;
  node.failedBefore.clear();
  for (const [index, end] of node.ended) if (end !== 'drained') node.ended.delete(index);
  node.error = null;
  // Lists that were not reached yet may have been cancelled with the block.
  const later = node.phase.name === 'first' ? [1, 2] : node.phase.name === 'catch' ? [2] : [];
  if (block.type === 'try_catch') for (const index of later) resetList(node.lists[index] ?? []);
  // A saga that has not rolled back may still have to compensate everything.
  if (block.type === 'saga') {
    for (const [index, list] of node.lists.entries()) if (index % 2 === 1) resetList(list);
  }
  for (const list of openLists(node)) reopenList(instance, list);
}

function resetList(list: readonly TreeNode[]): void {
  for (const node of list) for (const each of subtree(node)) resetNode(each);
}

function openLists(node: TreeNode): readonly (readonly TreeNode[])[] {
  const { type } = node.block;
  if (type === 'router' || type === 'a_b_split') {
    return node.decision === null ? [] : [node.lists[node.decision] ?? []];
  }
  if (type === 'saga') {
    return [node.lists.filter((_list, index) => index % 2 === 0).flat()];
  }
  if (type === 'try_catch')
    return [node.lists[{ first: 0, rollback: 0, catch: 1, finally: 2 }[node.phase.name]] ?? []];
  return node.lists;
}

/** Starts the block anew: what its steps had written in this pass is superseded, so that no row is there twice (OP-4). */
function resetAll(instance: Instance, node: TreeNode): void {
  const blocks = new Set([...subtree(node)].map(({ block }) => block.id));
  const { iteration } = node;
  const isInPass = (row: Row): boolean =>
    iteration === '' || row.iteration === iteration || row.iteration.startsWith(`${iteration}/`);
  instance.rows = instance.rows.filter((row) => !blocks.has(row.block) || !isInPass(row));
  for (const each of subtree(node)) resetNode(each);
}
