import type { SubSequenceBlock } from '../../src/core/definition/document.ts';
import type { Json } from '../../src/core/json.ts';
import type { Walk } from './advance.ts';
import { cancelChildOf } from './cancel.ts';
import { addRow, type Instance, newInstance, type Sim } from './instance.ts';
import { failLeaf, quiet } from './leaf-result.ts';
import { permanent, resolve, scopeOf } from './scope-of.ts';
import { iterationOf, type TreeNode } from './tree-node.ts';

const DEPTH_MAX = 16;

/** [SUB-1] to [SUB-6]. */
export function startChild({ sim, instance }: Walk, node: TreeNode, block: SubSequenceBlock): void {
  node.iteration = iterationOf(node);
  const input = resolve(block.input, scopeOf(instance, node));
  const document = sim.documents.get(block.sequence_name);
  if (!input.ok) return failLeaf(node, input.error);
  if (document === undefined || (block.version ?? 1) !== 1) {
    return failLeaf(node, permanent('SEQUENCE_NOT_FOUND'));
  }
  if (instance.depth + 1 > DEPTH_MAX) return failLeaf(node, permanent('DEPTH_EXCEEDED'));
  const child = newInstance(sim, document, {
    data: input.value ?? {},
    config: {},
    parent: { instance, node },
  });
  instance.childOf.set(node, child);
  node.leaf.call = { kind: 'child', startedAt: sim.now, answer: null, cacheKey: null };
  node.state = 'waiting';
  node.reason = 'child';
}

/** [SUB-8], [SUB-9], [INS-14]: what the end of an instance does to others. */
export function closeInstance(sim: Sim, instance: Instance): void {
  for (const node of instance.childOf.keys()) cancelChildOf(sim, instance, node);
  reportToParent(sim, instance);
}

/** [SUB-7], [SUB-8]: a child that has ended, as its parent learns of it. */
function reportToParent(sim: Sim, child: Instance): void {
  const { parent } = child;
  if (parent === null) return;
  sim.queue.push(() => {
    const { instance, node } = parent;
    const isAwaited = node.leaf.call?.kind === 'child' && instance.childOf.get(node) === child;
    if (instance.terminal !== null || !isAwaited) return;
    if (child.terminal === 'completed') {
      quiet(node);
      node.state = 'completed';
      addRow(instance, node, { kind: 'result', output: rowsOf(child), ref: null, attempt: 0 });
    } else {
      failLeaf(node, permanent(child.terminal === 'failed' ? 'CHILD_FAILED' : 'CHILD_CANCELLED'));
    }
  });
}

/** The rows as the outputs listing shows them, without what two runs of a case cannot share (ids, instants). */
function rowsOf(child: Instance): Json {
  return child.rows.map(({ block, output, ref, attempt }) => ({
    block_id: block,
    output,
    output_ref: ref,
    attempt,
  }));
}
