import type { ParallelBlock } from '../../src/core/definition/document.ts';
import { advanceForEach, advanceLoop } from './advance-passes.ts';
import { advanceSaga, advanceTryCatch } from './advance-phases.ts';
import { cancelHard } from './cancel.ts';
import { startChild, takeChildEnd } from './children.ts';
import type { Instance, Sim } from './instance.ts';
import { proceed } from './leaf.ts';
import { expire } from './leaf-result.ts';
import { permanent, truthy } from './scope-of.ts';
import { isTerminal, iterationOf, type TreeNode, subtree } from './tree-node.ts';
import { chosenVariant } from './variant.ts';

export type ListEnd = 'open' | 'drained' | 'failed' | 'cancelled';

/** What every part of the walk needs. */
export interface Walk {
  readonly sim: Sim;
  readonly instance: Instance;
}

/** The list rules (7.4): one visit of a list in a round. */
export function advanceList(walk: Walk, list: readonly TreeNode[]): ListEnd {
  for (const [index, node] of list.entries()) {
    if (!isTerminal(node.state)) advanceNode(walk, node);
    if (node.state === 'failed') {
      for (const later of list.slice(index + 1)) skipRest(later);
      return 'failed';
    }
    if (node.state === 'cancelled') {
      for (const later of list.slice(index + 1)) cancelHard(walk, later);
      return 'cancelled';
    }
    if (!isTerminal(node.state)) return 'open';
  }
  return 'drained';
}

/** [LIST-3]: the rest of a list that failed shows as skipped, also where a cancel had already passed over it. */
export function skipRest(node: TreeNode): void {
  for (const each of subtree(node))
    if (each.state === 'cancelled' || !isTerminal(each.state)) each.state = 'skipped';
}

/** [LIST-6]: what has ended already stays as it ended. */
export function skipSubtree(node: TreeNode): void {
  for (const each of subtree(node)) if (!isTerminal(each.state)) each.state = 'skipped';
}

function advanceNode(walk: Walk, node: TreeNode): void {
  const { block } = node;
  if (block.type === 'step') {
    expire(walk.sim, walk.instance, node, block);
    if (!isTerminal(node.state) && isDue(walk, node)) proceed(walk.sim, walk.instance, node, block);
    return;
  }
  if (block.type === 'sub_sequence') {
    if (node.state === 'pending') startChild(walk, node, block);
    else takeChildEnd(walk, node);
    return;
  }
  if (node.state === 'pending') {
    node.state = 'running';
    node.enteredAt = walk.sim.now;
    node.iteration = iterationOf(node);
    if (block.type === 'router') chooseRoute(walk, node);
    if (block.type === 'a_b_split') chooseVariant(walk, node);
  }
  advanceComposite(walk, node);
}

/** A step goes on when it was reached for the first time, or when what it waits for has come. */
function isDue({ sim }: Walk, node: TreeNode): boolean {
  if (node.state === 'pending') return true;
  if (node.leaf.call !== null) return false;
  return node.wakeAt !== null && node.wakeAt <= sim.now;
}

function advanceComposite(walk: Walk, node: TreeNode): void {
  switch (node.block.type) {
    case 'step':
    case 'sub_sequence':
      return;
    case 'parallel':
      return advanceParallel(walk, node, node.block);
    case 'race':
      return advanceRace(walk, node, node.block.semantics);
    case 'router':
    case 'a_b_split':
      return endAs(
        node,
        node.decision === null ? 'drained' : advanceList(walk, node.lists[node.decision] ?? []),
      );
    case 'cancellation_scope':
      return endAs(node, advanceList(walk, node.lists[0] ?? []));
    case 'loop':
      return advanceLoop(walk, node, node.block);
    case 'for_each':
      return advanceForEach(walk, node, node.block);
    case 'try_catch':
      return advanceTryCatch(walk, node);
    case 'saga':
      return advanceSaga(walk, node, node.block);
  }
}

/** A block that ends as its list ends. One that a cancel has passed can only fail or be cancelled (17.3). */
export function endAs(node: TreeNode, end: ListEnd): void {
  if (end === 'open') return;
  if (end === 'failed') node.state = 'failed';
  else node.state = node.draining || end === 'cancelled' ? 'cancelled' : 'completed';
  node.reason = null;
  node.wakeAt = null;
}

/**
 * [PAR-1] to [PAR-4]. With `fail_fast` or `min_successful` (RULINGS B25) the block is decided before all branches have
 * ended: the others are cancelled as those that lose a race, and branches behind the deciding one are not looked at.
 */
function advanceParallel(walk: Walk, node: TreeNode, block: ParallelBlock): void {
  // What had ended in an earlier walk counts before anything else is looked at.
  const ends = node.lists.map(
    (_list, index): ListEnd =>
      node.failedBefore.has(index) ? 'cancelled' : (node.ended.get(index) ?? 'open'),
  );
  const isDecided = (): boolean => decides(block, ends);
  for (const [index, list] of node.lists.entries()) {
    if (ends[index] !== 'open' || isDecided()) continue;
    const own = advanceList(walk, list);
    // What ends while a cancel drains has been cancelled, unless it fails.
    const end = node.draining && own === 'drained' ? 'cancelled' : own;
    ends[index] = end;
    if (end !== 'open') node.ended.set(index, end);
  }
  const isEnough = hasEnough(block, ends);
  if (isDecided()) for (const list of node.lists) for (const each of list) cancelHard(walk, each);
  else if (ends.includes('open')) return;
  if (ends.includes('failed') && !isEnough) return endAs(node, 'failed');
  absorbFailures(node);
  endAs(node, ends.includes('cancelled') && !isEnough ? 'cancelled' : 'drained');
}

const hasEnough = ({ min_successful: enough }: ParallelBlock, ends: readonly ListEnd[]): boolean =>
  enough !== undefined && ends.filter((end) => end === 'drained').length >= enough;

/** So many branches are out that those that are left cannot be enough any more. */
const isHopeless = ({ min_successful: enough }: ParallelBlock, ends: readonly ListEnd[]): boolean =>
  enough !== undefined &&
  ends.includes('failed') &&
  ends.filter((end) => end === 'drained' || end === 'open').length < enough;

const decides = (block: ParallelBlock, ends: readonly ListEnd[]): boolean =>
  hasEnough(block, ends) || isHopeless(block, ends) || (block.fail_fast === true && ends.includes('failed'));

/** [RACE-2] to [RACE-7]. */
function advanceRace(walk: Walk, node: TreeNode, semantics: 'first_to_resolve' | 'first_to_succeed'): void {
  const ends = node.lists.map((list, index) =>
    node.failedBefore.has(index) ? 'cancelled' : advanceList(walk, list),
  );
  const isOpen = ends.includes('open');
  if (node.draining) {
    if (isOpen) return;
    // What ends while a cancel drains wins nothing any more.
    endAs(node, ends.includes('failed') ? 'failed' : 'cancelled');
    return;
  }
  const winner = ends.indexOf('drained');
  if (winner >= 0) {
    for (const list of node.lists) for (const each of list) cancelHard(walk, each);
    absorbFailures(node);
    node.decision = winner;
    endAs(node, 'drained');
    return;
  }
  const isOut = semantics === 'first_to_resolve' ? ends.some((end) => end !== 'open') : !isOpen;
  if (!isOut) return;
  for (const list of node.lists) for (const each of list) cancelHard(walk, each);
  endAs(node, 'failed');
}

/** [ERR-ROW-3]: what failed below has been made good. */
export function absorbFailures(node: TreeNode): void {
  for (const each of subtree(node)) if (each.state === 'failed') each.absorbed = true;
}

/** [ROUTE-1] to [ROUTE-3]. The default list comes after the routes. */
function chooseRoute({ instance }: Walk, node: TreeNode): void {
  if (node.block.type !== 'router') return;
  const route = node.block.routes.findIndex(({ condition }) => truthy(instance, node, condition));
  node.decision = route >= 0 ? route : node.block.routes.length;
  skipOthers(node);
}

/** [AB-1] to [AB-3]. */
function chooseVariant({ instance }: Walk, node: TreeNode): void {
  if (node.block.type !== 'a_b_split') return;
  const index = chosenVariant(instance.id, node.block);
  node.decision = index;
  instance.rows.push({
    kind: 'counter',
    block: node.block.id,
    output: { variant: node.block.variants[index]?.name ?? '', variant_index: index },
    ref: null,
    attempt: 0,
    iteration: node.iteration,
  });
  skipOthers(node);
}

function skipOthers(node: TreeNode): void {
  for (const [index, list] of node.lists.entries()) {
    if (index !== node.decision) for (const each of list) skipSubtree(each);
  }
}

export function failBlock(node: TreeNode, code: string): void {
  for (const list of node.lists) for (const each of list) skipSubtree(each);
  node.error = permanent(code);
  endAs(node, 'failed');
}
