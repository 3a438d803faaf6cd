import type { NodeRow } from '../output-row.ts';
import type { Plan } from '../plan.ts';
import type { NodeState } from '../states.ts';
import type { TreeNode } from '../tree.ts';
import type { Refusal } from './mapping.ts';
import { sameBlocks } from './match-blocks.ts';

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

/** The run before and after a migration that was carried out on a working copy. */
export interface Compared {
  readonly before: Plan;
  readonly target: Plan;
  /** Injected root blocks that give way to blocks of the target. */
  readonly replaced: readonly string[];
  readonly refusals: readonly Refusal[];
  readonly oldTree: readonly TreeNode[];
  /** Empty with refusals. */
  readonly newTree: readonly TreeNode[];
}

export function previewOf(compared: Compared): MigrationPreview {
  const { before, target, replaced, refusals, oldTree, newTree } = compared;
  const same = sameBlocks(before, target);
  const states = new Map(newTree.map((node) => [node.blockId, node]));
  const carried = (target.shape?.injections ?? []).flatMap(({ blocks }) => blocks.map(({ id }) => id));
  const kept = oldTree.filter(({ blockId }) => same.has(blockId));
  const dropped = oldTree.filter(({ blockId }) => !same.has(blockId));
  const added = target.inOrder.map(({ block }) => block).filter(({ id }) => !same.has(id));
  return {
    refusals,
    kept: kept.map((node) => shown(states.get(node.blockId) ?? node, 'in both')),
    dropped: dropped.map((node) => ({
      ...shown(node, whyDropped(before, target, node.blockId)),
      cancels: cancelledWith(node),
    })),
    added: added.map(({ id, type }) => {
      const state = states.get(id)?.state ?? 'pending';
      return { blockId: id, blockType: type, state, reason: whyAdded(before, id, state) };
    }),
    injected: { carried, replaced },
    tree: newTree,
  };
}

/** New blocks begin afresh, whatever was recorded under their ids before. */
export function withoutEarlierLife(rows: readonly NodeRow[], before: Plan, target: Plan): readonly NodeRow[] {
  const same = sameBlocks(before, target);
  return rows.filter(({ blockId }) => same.has(blockId) || !target.nodes.has(blockId));
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

/** What hangs on a block that is under way. On a composite hangs nothing but its blocks, which stand for themselves. */
function cancelledWith({ state, reason, blockType }: TreeNode): Cancelled | null {
  if (state !== 'running' && state !== 'waiting') return null;
  if (blockType !== 'step' && blockType !== 'sub_sequence') return reason === 'poll' ? 'wait' : null;
  if (reason === 'worker') return 'worker_task';
  if (reason === 'child') return 'child';
  if (reason === 'input') return 'gate';
  return reason === null ? 'call' : 'wait';
}
