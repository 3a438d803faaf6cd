import { type Json, isJsonArray, isJsonObject, jsonObject } from '../../src/core/json.ts';
import { type Instance, stateOf } from './instance.ts';
import { nodesOf, type TreeNode } from './tree-node.ts';
import type { NodeView, Outcome } from './world.ts';

export function outcomeOf(instance: Instance): Outcome {
  return {
    state: stateOf(instance),
    data: withoutMessages(instance.data),
    tree: [...nodesOf(instance.roots)].map(viewOf),
    rows: instance.rows.map(({ kind: _kind, ...row }) => ({ ...row, output: withoutMessages(row.output) })),
    effects: instance.effects,
    children: instance.children.map((child) => ({ sequence: child.sequence, outcome: outcomeOf(child) })),
  };
}

function viewOf(node: TreeNode): NodeView {
  const hasCode = node.lists.length === 0;
  return {
    block: node.block.id,
    state: node.state,
    reason: node.reason,
    attempt: node.attempt,
    iteration: node.iteration,
    decision: node.decision,
    code: hasCode && node.state === 'failed' ? (node.error?.code ?? null) : null,
  };
}

/** Texts of errors are for people; the specification does not fix them. Codes and the rest are compared. */
export function withoutMessages(value: Json): Json {
  if (isJsonArray(value)) return value.map(withoutMessages);
  if (!isJsonObject(value)) return value;
  const isError = Object.hasOwn(value, '__error__') || Object.hasOwn(value, 'block_id');
  return jsonObject(
    Object.entries(value)
      .filter(([key]) => !(isError && key === 'message'))
      .map(([key, each]) => [key, withoutMessages(each)]),
  );
}
