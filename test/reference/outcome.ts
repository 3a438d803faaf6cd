import { type Json, isJsonArray, isJsonObject, jsonObject } from '../../src/core/json.ts';
import { type Instance, stateOf } from './instance.ts';
import { ancestors, nodesOf, type TreeNode } from './tree-node.ts';
import type { Effect, NodeState, NodeView, Outcome } from './world.ts';

export function outcomeOf(instance: Instance): Outcome {
  return {
    state: stateOf(instance),
    data: withoutMessages(instance.data),
    tree: [...nodesOf(instance.roots)].map((node) => ({
      ...viewOf(node),
      state: shownState(instance.cancelRequested && instance.terminal === null, node.state),
    })),
    rows: instance.rows.map(({ kind: _kind, ...row }) => ({ ...row, output: withoutMessages(row.output) })),
    effects: effectsInOrder(instance.effects).map((effect) => ({
      ...effect,
      params: withoutMessages(effect.params),
    })),
    children: instance.children.map((child) => ({ sequence: child.sequence, outcome: outcomeOf(child) })),
  };
}

/**
 * While a cancel drains, what will never be reached is cancelled already (CAN-1). The engine's tree shows it as pending
 * as long as the list it stands in is open; nothing but that view depends on it, so the two are compared as one.
 */
export function shownState(isDraining: boolean, state: NodeState): NodeState {
  return isDraining && state === 'pending' ? 'cancelled' : state;
}

function viewOf(node: TreeNode): NodeView {
  const hasCode = node.lists.length === 0;
  return {
    block: node.block.id,
    state: node.state,
    reason: node.reason,
    attempt: node.attempt,
    iteration: passPath(node),
    // What a block had chosen before it was cancelled is no outcome.
    decision: node.state === 'cancelled' ? null : node.decision,
    code: hasCode && node.state === 'failed' ? (node.error?.code ?? null) : null,
  };
}

/** What begins at one instant begins side by side: the order says nothing. */
export function effectsInOrder(effects: readonly Effect[]): Effect[] {
  return effects.toSorted((left, right) => left.at - right.at || (left.block < right.block ? -1 : 1));
}

/** The passes around a node: those that are open, or ran last; the first one where none has run. */
function passPath(node: TreeNode): string {
  const parts: string[] = [];
  for (const { block, pass } of ancestors(node)) {
    const last = pass.open ? pass.finished : Math.max(0, pass.finished - 1);
    if (block.type === 'loop' || block.type === 'for_each') parts.unshift(`${block.id}:${last}`);
  }
  return parts.join('/');
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
