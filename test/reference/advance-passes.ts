import type { ForEachBlock, LoopBlock } from '../../src/core/definition/document.ts';
import { isJsonArray } from '../../src/core/json.ts';
import { absorbFailures, advanceList, endAs, failBlock, skipSubtree, type Walk } from './advance.ts';
import { addRow, type Instance, type Row } from './instance.ts';
import { collectionOf, truthy } from './scope-of.ts';
import { resetNode, subtree, type TreeNode } from './tree-node.ts';

/** 9.5. One call goes as far as it can: a body that needs no time is left only when the loop ends or waits. */
export function advanceLoop(walk: Walk, node: TreeNode, block: LoopBlock): void {
  const { pass } = node;
  const body = node.lists[0] ?? [];
  for (;;) {
    if (!pass.open) {
      if (node.wakeAt !== null && node.wakeAt > walk.sim.now) return;
      node.state = 'running';
      node.reason = null;
      node.wakeAt = null;
      if (pass.finished === block.max_iterations || !truthy(walk.instance, node, block.condition)) {
        if (pass.finished === 0) for (const each of body) skipSubtree(each);
        endAs(node, 'drained');
        return;
      }
      openPass(walk.instance, node);
      pass.openedAt = walk.sim.now;
    }
    const end = advanceList(walk, body);
    if (end === 'open') return;
    // The pass that a cancel has cut short is not counted.
    const goesOn = end === 'drained' || (end === 'failed' && block.continue_on_error);
    if (!goesOn || node.draining) {
      endAs(node, goesOn ? 'cancelled' : end);
      return;
    }
    if (end === 'failed') for (const each of body) absorbFailures(each);
    pass.open = false;
    pass.finished += 1;
    addRow(walk.instance, node, {
      kind: 'counter',
      output: { _iterations: pass.finished },
      ref: null,
      attempt: pass.finished,
    });
    retain(walk.instance, node, block.retain_iterations);
    if (block.break_on !== undefined && truthy(walk.instance, node, block.break_on)) {
      endAs(node, 'drained');
      return;
    }
    poll(walk, node, block);
  }
}

/** [LOOP-8]. */
function poll({ sim }: Walk, node: TreeNode, block: LoopBlock): void {
  const seconds = block.poll_interval ?? 0;
  if (seconds === 0 || node.pass.finished >= block.max_iterations) return;
  node.state = 'waiting';
  node.reason = 'poll';
  node.wakeAt = sim.now + seconds * 1000;
}

/** [LOOP-3], [LOOP-9]. */
function openPass(instance: Instance, node: TreeNode): void {
  const counted = new Set<string>();
  for (const child of node.lists[0] ?? []) {
    for (const each of subtree(child)) {
      if (['loop', 'for_each', 'a_b_split'].includes(each.block.type)) counted.add(each.block.id);
      resetNode(each);
    }
  }
  instance.rows = instance.rows.filter((row) => row.kind !== 'counter' || !counted.has(row.block));
  node.pass.open = true;
}

/**
 * [LOOP-10], read by passes: when a pass is over, the result rows of the one that is now older than the newest `count`
 * go, but never the latest row of a block.
 */
function retain(instance: Instance, node: TreeNode, count: number | undefined): void {
  const old = node.pass.finished - (count ?? 0) - 1;
  if (count === undefined || count === 0 || old < 0) return;
  const path = `${node.iteration === '' ? '' : `${node.iteration}/`}${node.block.id}:${old}`;
  const latest = new Map<string, Row>();
  for (const row of instance.rows) if (row.kind === 'result') latest.set(row.block, row);
  instance.rows = instance.rows.filter(
    (row) => row.kind !== 'result' || latest.get(row.block) === row || !isWithin(row.iteration, path),
  );
}

const isWithin = (iteration: string, path: string): boolean =>
  iteration === path || iteration.startsWith(`${path}/`);

/** 9.6. */
export function advanceForEach(walk: Walk, node: TreeNode, block: ForEachBlock): void {
  const { pass } = node;
  const body = node.lists[0] ?? [];
  if (pass.items === null && !takeItems(walk, node, block)) return;
  for (;;) {
    if (!pass.open) {
      if (pass.finished === (pass.items?.length ?? 0)) {
        endAs(node, 'drained');
        return;
      }
      openPass(walk.instance, node);
    }
    const end = advanceList(walk, body);
    if (end === 'open') return;
    if (end !== 'drained' || node.draining) {
      endAs(node, end);
      return;
    }
    pass.open = false;
    pass.finished += 1;
    countItem(walk.instance, node, block);
    retain(walk.instance, node, block.retain_iterations);
  }
}

/** [EACH-1] to [EACH-3]; false when the block has ended with it. */
function takeItems({ instance }: Walk, node: TreeNode, block: ForEachBlock): boolean {
  const collection = collectionOf(instance, node, block.collection);
  if (!collection.ok) {
    failBlock(node, 'TEMPLATE_ERROR');
    return false;
  }
  const all = isJsonArray(collection.value) ? collection.value : [];
  if (all.length === 0) {
    for (const each of node.lists[0] ?? []) skipSubtree(each);
    endAs(node, 'drained');
    return false;
  }
  node.pass.items = all.slice(0, block.max_iterations);
  countItem(instance, node, block);
  return true;
}

function countItem(instance: Instance, node: TreeNode, block: ForEachBlock): void {
  const { finished, items } = node.pass;
  addRow(instance, node, {
    kind: 'counter',
    output: {
      _index: finished,
      _total: items?.length ?? 0,
      _item_var: block.item_var,
      _snapshot_ref: 'snapshot',
    },
    ref: null,
    attempt: finished,
  });
}
