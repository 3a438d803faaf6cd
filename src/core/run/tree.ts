import type { Block } from '../definition/document.ts';
import { isJsonObject, mergeObjects } from '../json.ts';
import { type Frame, ROOT_KEY, frameKey } from './frame.ts';
import { nodeId } from './node-id.ts';
import type { NodeRow } from './output-row.ts';
import { type Plan, type PlanNode, listsOf } from './plan.ts';
import { type InnerList, restOfList } from './rest-of-list.ts';
import { inRunOrder } from './run-order.ts';
import {
  type NodeFacts,
  calledFacts,
  frameFacts,
  leafFacts,
  rowFacts,
  untouchedFacts,
} from './tree-facts.ts';
import { itemList } from './tree-items.ts';
import { closedList, openList } from './tree-lists.ts';

/** A node of the tree view (sequences.md 5.2). Instants are epoch ms. */
export interface TreeNode extends NodeFacts {
  readonly id: string;
  readonly blockId: string;
  readonly parentId: string | null;
  readonly blockType: string;
  readonly branchIndex: number | null;
  readonly position: number;
}

export interface TreeInput {
  readonly plan: Plan;
  readonly instanceId: string;
  readonly createdAt: number;
  readonly frames: readonly Frame[];
  readonly rows: readonly NodeRow[];
  /** A turn holds the lease: what stands at a cursor and has no record is being called on the strength of the claim. */
  readonly isWorkedOn: boolean;
  /** The item to show of each `for_each` whose items run side by side, as a path; absent: the one that says most. */
  readonly pass?: string | null;
}

interface View {
  readonly input: TreeInput;
  readonly frames: ReadonlyMap<string, Frame>;
  readonly rows: ReadonlyMap<string, NodeRow>;
  readonly nodes: TreeNode[];
}

/**
 * The tree of a run, in document order: folded from the frames that are open and the latest row of each block. Blocks
 * without a row take their state from the list they stand in ([LIST-1] to [LIST-6]).
 */
export function buildTree(input: TreeInput): readonly TreeNode[] {
  const view: View = {
    input,
    frames: new Map(input.frames.map((frame) => [frameKey(frame), frame])),
    rows: new Map(input.rows.map((row) => [row.blockId, row])),
    nodes: [],
  };
  const root = view.frames.get(ROOT_KEY) ?? (input.isWorkedOn ? firstRoot(input.createdAt) : null);
  const rest = root === null ? 'pending' : restOfList(root, 0);
  addList(view, input.plan.document.blocks, { frame: root, iteration: '', rest });
  return view.nodes;
}

/** The root list in its first turn, before anything of it is stored. */
function firstRoot(startedAt: number): Frame {
  return {
    blockId: '',
    branch: null,
    iteration: '',
    cursor: 0,
    leaf: null,
    detail: { kind: 'root' },
    state: 'open',
    startedAt,
  };
}

function addList(view: View, blocks: readonly Block[], list: InnerList): void {
  const cursor = list.frame === null ? undefined : inRunOrder(blocks, list.frame.order)[list.frame.cursor];
  blocks.forEach((block) => {
    const atCursor = block === cursor;
    addBlock(view, block, { ...list, frame: atCursor ? list.frame : null });
  });
}

/** `list.frame` is the frame of the block's list when the block stands at its cursor, else null. */
function addBlock(view: View, block: Block, list: InnerList): void {
  const { iteration } = list;
  const own = view.frames.get(frameKey({ blockId: block.id, branch: null, iteration }));
  const row = rowOfPass(view, block.id, iteration);
  const facts = isCalled(view, block, list, row) ? calledFacts(iteration) : factsOf(list, own, row);
  push(view, block, facts);
  listsOf(block).forEach((blocks, index) => {
    const key = frameKey({ blockId: block.id, branch: index, iteration });
    const closed = { row, state: facts.state, iteration, pass: view.input.pass ?? null };
    const inner =
      own === undefined
        ? closedList(block, closed, index)
        : openedList(view, own, view.frames.get(key), index);
    addList(view, blocks, inner);
  });
}

function openedList(view: View, own: Frame, branch: Frame | undefined, index: number): InnerList {
  if (own.detail.kind === 'fan_out') return itemList(view.frames, own, view.input.pass ?? null);
  return openList(own, branch, index);
}

function isCalled(view: View, block: Block, list: InnerList, row: NodeRow | undefined): boolean {
  const isLeaf = block.type === 'step' || block.type === 'sub_sequence';
  const atCursor = list.frame !== null && list.frame.state === 'open' && list.frame.leaf === null;
  return view.input.isWorkedOn && isLeaf && atCursor && row === undefined;
}

/** A frame or a leaf says more than a row as long as it is open; what has ended stands in its row. */
function factsOf(list: InnerList, own: Frame | undefined, row: NodeRow | undefined): NodeFacts {
  const leaf = list.frame?.leaf ?? null;
  if (own?.state === 'open') return frameFacts(own);
  if (leaf !== null && leaf.state !== 'failed') return leafFacts(leaf, list.iteration);
  return rowFacts(row) ?? untouchedFacts(list.iteration, list.rest);
}

/** Rows of earlier passes do not speak of this one: the nodes were reset ([LOOP-9]). */
function rowOfPass(view: View, blockId: string, iteration: string): NodeRow | undefined {
  const row = view.rows.get(blockId);
  return row?.iteration === iteration ? row : undefined;
}

function push(view: View, block: Block, facts: NodeFacts): void {
  const { plan, instanceId, createdAt } = view.input;
  const node = plan.nodes.get(block.id);
  if (node === undefined) return;
  const parent = node.parentId === null ? undefined : plan.nodes.get(node.parentId);
  const idOf = (of: PlanNode): string =>
    nodeId({ instanceId, createdAt, position: of.position, blockId: of.block.id });
  view.nodes.push({
    id: idOf(node),
    blockId: block.id,
    parentId: parent === undefined ? null : idOf(parent),
    blockType: block.type,
    branchIndex: parent === undefined ? null : branchIndexOf(parent.block, node.listIndex),
    position: node.index,
    ...facts,
    error: isJsonObject(facts.error) ? mergeObjects(facts.error, { block_id: block.id }) : facts.error,
  });
}

/** 7.2. */
function branchIndexOf(parent: Block, listIndex: number): number | null {
  return parent.type === 'loop' || parent.type === 'for_each' || parent.type === 'cancellation_scope'
    ? null
    : listIndex;
}
