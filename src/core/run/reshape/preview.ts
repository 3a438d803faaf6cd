import type { Draft } from '../draft.ts';
import type { NodeRow } from '../output-row.ts';
import type { Plan } from '../plan.ts';
import type { NodeState } from '../states.ts';
import { type TreeNode, buildTree } from '../tree.ts';
import type { Refusal } from './mapping.ts';
import { sameBlocks } from './match-blocks.ts';
import { reshape } from './reshape.ts';

/** What a migration keeps, drops and brings, block by block in document order (20.5). */
export interface MigrationPreview {
  /** Why it cannot be done from where the run stands; then the rest says what it would be. */
  readonly refusals: readonly Refusal[];
  readonly kept: readonly PreviewedBlock[];
  /** Of the present plan; `cancels` names what ends with the block. */
  readonly dropped: readonly (PreviewedBlock & { readonly cancels: Cancelled | null })[];
  /** Of the target, with the state in which they begin. */
  readonly added: readonly PreviewedBlock[];
  readonly injected: { readonly carried: readonly string[]; readonly replaced: readonly string[] };
  /** The tree as it will be; empty with refusals. */
  readonly tree: readonly TreeNode[];
}

export interface PreviewedBlock {
  readonly blockId: string;
  readonly blockType: string;
  readonly state: NodeState;
  readonly reason: string;
}

export type Cancelled = 'call' | 'wait' | 'worker_task' | 'child' | 'gate';

/**
 * Carries a migration out on a working copy that nobody commits.
 *
 * @param draft The run as it is stored, with all accepted injections applied. It is changed.
 * @param rows The latest row of each block.
 */
export function previewOn(
  draft: Draft,
  target: Plan,
  replaced: readonly string[],
  rows: readonly NodeRow[],
): MigrationPreview {
  const before = draft.plan;
  const same = sameBlocks(before, target);
  const old = treeOf(draft, rows);
  const refusals = reshape(draft, target, { restarts: false });
  const fresh = refusals.length > 0 ? [] : treeOf(draft, withoutEarlierLife(rows, target, same));
  const states = new Map(fresh.map((node) => [node.blockId, node]));
  const blocks = target.inOrder.map(({ block }) => block);
  const carried = (target.shape?.injections ?? []).flatMap((injection) =>
    injection.blocks.map(({ id }) => id),
  );
  return {
    refusals,
    kept: old
      .filter(({ blockId }) => same.has(blockId))
      .map((node) => shown(states.get(node.blockId) ?? node, 'in both')),
    dropped: old
      .filter(({ blockId }) => !same.has(blockId))
      .map((node) => ({
        ...shown(node, whyDropped(before, target, node.blockId)),
        cancels: cancelledWith(node),
      })),
    added: blocks
      .filter(({ id }) => !same.has(id))
      .map(({ id, type }) => {
        const node = states.get(id);
        const state = node?.state ?? 'pending';
        return { blockId: id, blockType: type, state, reason: whyAdded(before, id, state) };
      }),
    injected: { carried, replaced },
    tree: fresh,
  };
}

/** New blocks begin afresh, whatever was recorded under their ids before. */
function withoutEarlierLife(
  rows: readonly NodeRow[],
  target: Plan,
  same: ReadonlySet<string>,
): readonly NodeRow[] {
  return rows.filter(({ blockId }) => same.has(blockId) || !target.nodes.has(blockId));
}

function treeOf(draft: Draft, rows: readonly NodeRow[]): readonly TreeNode[] {
  const { id, createdAt } = draft.record;
  const frames = [...draft.frames.values()];
  return buildTree({ plan: draft.plan, instanceId: id, createdAt, frames, rows, isWorkedOn: false });
}

function shown({ blockId, blockType, state }: TreeNode, reason: string): PreviewedBlock {
  return { blockId, blockType, state, reason };
}

function whyDropped(before: Plan, target: Plan, blockId: string): string {
  const old = before.nodes.get(blockId);
  const node = target.nodes.get(blockId);
  if (node === undefined || old === undefined) return 'not in the target';
  if (node.block.type !== old.block.type) return `a ${node.block.type} in the target`;
  return node.parentId === old.parentId
    ? 'its parent is another block in the target'
    : 'below another block in the target';
}

function whyAdded(before: Plan, blockId: string, state: NodeState): string {
  if (state !== 'pending') return 'inside a block that is over: it is not run';
  return before.nodes.has(blockId)
    ? 'another block than the one of this id before: it begins anew'
    : 'not in the present plan';
}

/** What hangs on a block that is under way. */
function cancelledWith({ state, reason }: TreeNode): Cancelled | null {
  if (state !== 'running' && state !== 'waiting') return null;
  if (reason === 'worker') return 'worker_task';
  if (reason === 'child') return 'child';
  if (reason === 'input') return 'gate';
  return reason === null ? 'call' : 'wait';
}
