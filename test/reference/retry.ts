import type { Instance, Sim } from './instance.ts';
import { removeError } from './instance.ts';
import { resetNode, subtree, type TreeNode } from './tree-node.ts';

/** [OP-2] to [OP-4]: what failed, was cancelled or was skipped because of a failure starts anew. */
export function retryInstance(_sim: Sim, instance: Instance): void {
  removeError(instance);
  instance.rows = instance.rows.filter(({ kind }) => kind !== 'error' && kind !== 'breach');
  instance.terminal = null;
  instance.cancelRequested = false;
  reopenList(instance.roots);
}

/** The nodes of a list after its failed one were skipped or cancelled with it. */
function reopenList(list: readonly TreeNode[]): void {
  let isBehind = false;
  for (const node of list) {
    const isOpen = node.state === 'failed' || node.state === 'cancelled';
    if (isOpen && !isBehind) reopen(node);
    else if (isOpen || isBehind) for (const each of subtree(node)) resetNode(each);
    isBehind ||= isOpen;
  }
}

function reopen(node: TreeNode): void {
  const { block, leaf, phase } = node;
  switch (block.type) {
    case 'step': {
      // An accepted gate of a failed step stays accepted (HI-5).
      const { gatePassed, gateOpenedAt } = leaf;
      resetNode(node);
      Object.assign(node.leaf, { gatePassed, gateOpenedAt });
      return;
    }
    case 'sub_sequence':
      return resetNode(node);
    case 'saga':
      return resetAll(node);
    case 'try_catch':
      if (phase.tryFailed) return resetAll(node);
      break;
    default:
      break;
  }
  if (node.iteration === '' && isUntouched(node)) return resetAll(node);
  node.state = 'running';
  node.draining = false;
  node.error = null;
  const open = openLists(node);
  for (const list of open) reopenList(list);
}

/** Cancelled before it was entered. */
function isUntouched(node: TreeNode): boolean {
  return (
    node.decision === null &&
    !node.pass.open &&
    node.lists.every((list) => list.every(({ state }) => state === 'cancelled'))
  );
}

function openLists(node: TreeNode): readonly (readonly TreeNode[])[] {
  switch (node.block.type) {
    case 'router':
    case 'a_b_split':
      return node.decision === null ? [] : [node.lists[node.decision] ?? []];
    case 'try_catch':
      return node.phase.name === 'finally' ? [node.lists[2] ?? []] : [node.lists[0] ?? []];
    default:
      return node.lists;
  }
}

function resetAll(node: TreeNode): void {
  for (const each of subtree(node)) resetNode(each);
}
