import * as z from 'zod';
import { isJsonObject, member, type Json } from '../../core/json.ts';
import type { TreeNode } from '../../core/run/tree.ts';
import { JsonValue, optionalTimestamp, Timestamp, Uuid } from './wire-values.ts';

/** The run-time position of one block (http-api.md 5.4, DESIGN 8). */
export const NodeBody = z.object({
  id: Uuid,
  instance_id: Uuid,
  block_id: z.string(),
  parent_id: Uuid.nullable(),
  block_type: z.string(),
  branch_index: z.int().nullable(),
  state: z.enum(['pending', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'skipped']),
  started_at: Timestamp.nullable(),
  completed_at: Timestamp.nullable(),
  /** Place in its list, from 0. */
  position: z.int(),
  reason: z.string().nullable(),
  wake_at: Timestamp.nullable(),
  attempt: z.int(),
  iteration: z.string(),
  error: JsonValue,
  /** The index of the route, variant or winner; the id of the child; of loops, tries and sagas how far they are. */
  decision: JsonValue,
});
export const TreeBody = z.array(NodeBody);

export function showNode(instanceId: string, node: TreeNode): z.infer<typeof NodeBody> {
  return {
    id: node.id,
    instance_id: instanceId,
    block_id: node.blockId,
    parent_id: node.parentId,
    block_type: node.blockType,
    branch_index: node.branchIndex,
    state: node.state,
    started_at: optionalTimestamp(node.startedAt),
    completed_at: optionalTimestamp(node.completedAt),
    position: node.position,
    reason: node.reason,
    wake_at: optionalTimestamp(node.wakeAt),
    attempt: node.attempt,
    iteration: node.iteration,
    error: node.error,
    decision: showDecision(node.decision),
  };
}

/** What is one value is shown as that value, and counts like `branch_index` (sequences.md 5.2, [RACE-2], [SUB-6]). */
function showDecision(decision: Json): Json {
  if (!isJsonObject(decision)) return decision;
  for (const name of ['route', 'variant', 'winner', 'child_instance_id']) {
    const value = member(decision, name);
    if (value !== undefined) return value;
  }
  return decision;
}
