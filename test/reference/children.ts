import type { SubSequenceBlock } from '../../src/core/definition/document.ts';
import type { Json } from '../../src/core/json.ts';
import type { Walk } from './advance.ts';
import { cancelChildOf } from './cancel.ts';
import { addRow, type Instance, newInstance, type Sim } from './instance.ts';
import { failLeaf, quiet } from './leaf-result.ts';
import { permanent, resolve, scopeOf } from './scope-of.ts';
import { ancestors, type Call, iterationOf, type TreeNode } from './tree-node.ts';

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
  const call: Call = { kind: 'child', startedAt: sim.now, answer: null, cacheKey: null };
  node.leaf.call = call;
  instance.childOf.delete(node);
  node.state = 'waiting';
  node.reason = 'child';
  const data = input.value ?? {};
  sim.begins.push(() => {
    if (node.leaf.call !== call) return;
    const child = newInstance(sim, document, { data, config: {}, parent: { instance, node } });
    instance.childOf.set(node, child);
  });
}

/** [SUB-9], [INS-14]: children of an instance that has ended get a cancel signal. Its own parent sees its end (SUB-8). */
export function closeInstance(sim: Sim, instance: Instance): void {
  instance.endedAt = sim.now;
  for (const node of instance.childOf.keys()) cancelChildOf(sim, instance, node);
  // The parent looks at it in this very instant.
  if (instance.parent !== null) sim.queue.push(() => undefined);
}

/** [SUB-7]: a child that has ended, as its parent learns of it; a paused parent when it goes on. */
export function takeChildEnd({ sim, instance }: Walk, node: TreeNode): void {
  const child = instance.childOf.get(node);
  if (node.leaf.call?.kind !== 'child' || child === undefined || child.terminal === null) return;
  // A child that took no time, or that ended in a pause: what comes first, it or another branch, nobody can say.
  const isAtOnce = node.leaf.call.startedAt === sim.now || child.endedAt !== sim.now;
  if (isAtOnce && isConcurrent(node)) sim.tie ??= 'a child that ends at one instant with other branches';
  if (child.terminal === 'completed') {
    quiet(node);
    node.state = 'completed';
    addRow(instance, node, { kind: 'result', output: rowsOf(child), ref: null, attempt: 0 });
    return;
  }
  const code = child.terminal === 'failed' ? 'CHILD_FAILED' : 'CHILD_CANCELLED';
  failLeaf(node, { ...permanent(code), details: { child_instance_id: 'child' } });
}

export const isConcurrent = (node: TreeNode): boolean =>
  [...ancestors(node)].some(({ block }) => block.type === 'parallel' || block.type === 'race');

/** The rows as the outputs listing shows them, without what two runs of a case cannot share (ids, instants). */
function rowsOf(child: Instance): Json {
  return child.rows.map(({ block, output, ref, attempt }) => ({
    block_id: block,
    output,
    output_ref: ref,
    attempt,
  }));
}
