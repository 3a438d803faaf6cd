import type { Json, JsonObject } from '../../src/core/json.ts';
import { isJsonArray, isJsonObject, jsonObject, member } from '../../src/core/json.ts';
import { markerOf } from '../../src/core/run/output-row.ts';
import { isTerminal } from '../../src/core/run/states.ts';
import type { TreeNode } from '../../src/core/run/tree.ts';
import { readTree } from '../../src/engine/read-tree.ts';
import { TENANT, type TestEngine } from '../engine/support/test-engine.ts';
import { effectsInOrder, shownState, withoutMessages } from './outcome.ts';
import type { Effect, NodeView, Outcome } from './world.ts';

/** What the engine shows of an instance and its children, in the words of the reference. */
export async function readOutcome(
  engine: TestEngine,
  effects: ReadonlyMap<string, readonly Effect[]>,
  instanceId: string,
): Promise<Outcome> {
  const { store } = engine;
  const view = await engine.view(instanceId);
  const definitions = engine.live?.useCases.definitions;
  const tree = definitions === undefined ? null : await readTree({ store, definitions }, TENANT, instanceId);
  const rows = await store.listOutputs(TENANT, instanceId, { node: false, retry: false });
  const children = (await store.listChildren(TENANT, instanceId)) ?? [];
  const ordered = children.toSorted((left, right) => left.createdAt - right.createdAt);
  const isDraining = view.cancelRequestedAt !== null && !isTerminal(view.state);
  const seen: Outcome = {
    state: view.state,
    data: withoutMessages(withoutIds(view.data, instanceId)),
    tree: (tree ?? []).map(viewOf).map((node) => ({ ...node, state: shownState(isDraining, node.state) })),
    rows: (rows ?? []).map(({ blockId: block, output, kind, attempt, iteration }) => ({
      block,
      output: withoutMessages(withoutIds(plainOutput(output), instanceId)),
      ref: markerOf(kind),
      attempt,
      iteration,
    })),
    effects: effectsInOrder(effects.get(instanceId) ?? []),
    children: [],
  };
  const childViews = [];
  for (const child of ordered) {
    const sequence = (await store.getSequence(TENANT, child.sequenceId))?.name ?? '';
    childViews.push({ sequence, outcome: await readOutcome(engine, effects, child.id) });
  }
  return { ...seen, children: childViews };
}

/** Rows without ids, instants and keys that the engine makes up. */
function plainOutput(output: Json): Json {
  if (isJsonArray(output)) return output.map(plainOutput);
  if (!isJsonObject(output)) return output;
  if (Object.hasOwn(output, '_snapshot_ref')) return { ...output, _snapshot_ref: 'snapshot' };
  return Object.hasOwn(output, 'output_ref') && Object.hasOwn(output, 'instance_id')
    ? plainRow(output)
    : output;
}

function plainRow(row: JsonObject): JsonObject {
  return {
    block_id: member(row, 'block_id') ?? null,
    output: plainOutput(member(row, 'output') ?? null),
    output_ref: member(row, 'output_ref') ?? null,
    attempt: member(row, 'attempt') ?? null,
  };
}

function viewOf(node: TreeNode): NodeView {
  const isLeaf = node.blockType === 'step' || node.blockType === 'sub_sequence';
  return {
    block: node.blockId,
    state: node.state,
    reason: node.reason,
    attempt: node.attempt,
    iteration: node.iteration,
    decision: node.state === 'cancelled' ? null : decisionOf(node),
    code: isLeaf && node.state === 'failed' ? codeOf(node.error) : null,
  };
}

function decisionOf({ decision }: TreeNode): number | null {
  const [index] = ['route', 'variant', 'winner'].flatMap((name) => member(decision, name) ?? []);
  return typeof index === 'number' ? index : null;
}

function codeOf(error: Json): string | null {
  const code = member(error, 'code');
  return typeof code === 'string' ? code : null;
}

/** Escalations name their instance; the reference calls it `self`. */
export function withoutIds(value: Json, instanceId: string): Json {
  if (value === instanceId) return 'self';
  if (isJsonArray(value)) return value.map((each) => withoutIds(each, instanceId));
  if (!isJsonObject(value)) return value;
  return jsonObject(
    Object.entries(value).map(([key, each]) => [
      key,
      key === 'child_instance_id' ? 'child' : withoutIds(each, instanceId),
    ]),
  );
}
