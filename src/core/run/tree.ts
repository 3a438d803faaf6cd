import type { Block } from '../definition/document.ts';
import { type Json, type JsonObject, isJsonObject, member } from '../json.ts';
import { errorObject } from './failures.ts';
import { type Frame, type FrameDetail, ROOT_KEY, frameKey } from './frame.ts';
import { nodeId } from './node-id.ts';
import type { NodeRow } from './output-row.ts';
import { type Plan, type PlanNode, currentListIndex, innerIteration, listsOf, passPath } from './plan.ts';
import type { NodeState } from './states.ts';

/** A node of the tree view (sequences.md 5.2). Instants are epoch ms. */
export interface TreeNode {
  readonly id: string;
  readonly blockId: string;
  readonly parentId: string | null;
  readonly blockType: string;
  readonly branchIndex: number | null;
  readonly position: number;
  readonly state: NodeState;
  readonly reason: string | null;
  readonly wakeAt: number | null;
  readonly attempt: number;
  readonly iteration: string;
  readonly error: Json;
  readonly decision: Json;
  readonly startedAt: number | null;
  readonly completedAt: number | null;
}

export interface TreeInput {
  readonly plan: Plan;
  readonly instanceId: string;
  readonly createdAt: number;
  readonly frames: readonly Frame[];
  readonly rows: readonly NodeRow[];
}

interface View {
  readonly input: TreeInput;
  readonly frames: ReadonlyMap<string, Frame>;
  readonly rows: ReadonlyMap<string, NodeRow>;
  readonly nodes: TreeNode[];
}

type Facts = Pick<
  TreeNode,
  'state' | 'reason' | 'wakeAt' | 'attempt' | 'iteration' | 'error' | 'decision' | 'startedAt' | 'completedAt'
>;

/** How the nodes of a list that left no trace ended, or that they have not begun. */
type Untouched = 'pending' | 'skipped' | 'cancelled';

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
  const root = view.frames.get(ROOT_KEY);
  addList(view, input.plan.document.blocks, '', root ?? null, root === undefined ? 'pending' : restOf(root));
  return view.nodes;
}

/** What became of the elements of an open list that the cursor has not reached. */
function restOf(frame: Frame): Untouched {
  if (frame.state === 'failed') return 'skipped';
  return frame.state === 'cancelled' ? 'cancelled' : 'pending';
}

function addList(
  view: View,
  blocks: readonly Block[],
  iteration: string,
  frame: Frame | null,
  untouched: Untouched,
): void {
  blocks.forEach((block, index) => {
    const atCursor = frame !== null && frame.cursor === index;
    addBlock(view, block, iteration, atCursor ? frame : null, untouched);
  });
}

function addBlock(
  view: View,
  block: Block,
  iteration: string,
  list: Frame | null,
  untouched: Untouched,
): void {
  const own = view.frames.get(frameKey({ blockId: block.id, branch: null, iteration }));
  const row = rowOfPass(view, block.id, iteration);
  const facts =
    own !== undefined && own.state === 'open'
      ? frameFacts(own)
      : list !== null && list.leaf !== null && own === undefined
        ? leafFacts(list)
        : (rowFacts(row) ?? untouchedFacts(iteration, untouched));
  push(view, block, facts);
  const lists = listsOf(block);
  lists.forEach((blocks, index) => {
    const inner = innerOf(view, block, index, { own, row, facts, iteration });
    addList(view, blocks, inner.iteration, inner.frame, inner.untouched);
  });
}

interface Owner {
  readonly own: Frame | undefined;
  readonly row: NodeRow | undefined;
  readonly facts: Facts;
  readonly iteration: string;
}

/** The frame, the pass and the default state of one list of a composite. */
function innerOf(
  view: View,
  block: Block,
  index: number,
  owner: Owner,
): { readonly frame: Frame | null; readonly iteration: string; readonly untouched: Untouched } {
  const iteration = innerPath(block, owner);
  if (owner.own !== undefined && (block.type === 'parallel' || block.type === 'race')) {
    const branch = view.frames.get(
      frameKey({ blockId: block.id, branch: index, iteration: owner.iteration }),
    );
    const end = endOf(owner.own.detail, index);
    const untouched = branch !== undefined ? restOf(branch) : end === null ? 'pending' : 'cancelled';
    return { frame: branch ?? null, iteration, untouched };
  }
  if (owner.own !== undefined) {
    const current = currentListIndex(owner.own) === index;
    if (current) return { frame: owner.own, iteration, untouched: restOf(owner.own) };
    return { frame: null, iteration, untouched: otherList(block, owner.own, index) };
  }
  return { frame: null, iteration, untouched: closedList(block, owner, index) };
}

function endOf(detail: FrameDetail, branch: number): unknown {
  return detail.kind === 'parallel' || detail.kind === 'race' ? (detail.ends[branch] ?? null) : null;
}

/** Lists that an open composite does not work on now: not taken, already over, or still to come. */
function otherList(block: Block, frame: Frame, index: number): Untouched {
  if (block.type === 'router' || block.type === 'a_b_split') return 'skipped';
  const later = index > currentListIndex(frame);
  if (block.type === 'saga') {
    const rollback = frame.detail.kind === 'saga' && frame.detail.phase === 'rollback';
    return rollback ? (index % 2 === 0 || !later ? 'pending' : 'skipped') : 'pending';
  }
  if (block.type !== 'try_catch') return 'pending';
  const passedOver = index === 1 && frame.detail.kind === 'try_catch' && frame.detail.phase === 'finally';
  if (passedOver)
    return frame.detail.kind === 'try_catch' && frame.detail.tryEnd === 'cancelled' ? 'cancelled' : 'skipped';
  return later ? 'pending' : 'skipped';
}

/** Lists of a composite that is over, or that was never entered. */
function closedList(block: Block, owner: Owner, index: number): Untouched {
  const { state } = owner.facts;
  if (state === 'pending' || state === 'running' || state === 'waiting') return 'pending';
  if (block.type === 'race' && owner.row !== undefined) {
    return member(decisionOf(owner.row), 'winner') === index ? 'skipped' : 'cancelled';
  }
  return state === 'cancelled' ? 'cancelled' : 'skipped';
}

/** Path of the blocks in a composite's lists: of the open pass, else of the last one that ran. */
function innerPath(block: Block, owner: Owner): string {
  if (block.type !== 'loop' && block.type !== 'for_each') return owner.iteration;
  if (owner.own !== undefined) {
    const { detail } = owner.own;
    const between = (detail.kind === 'loop' || detail.kind === 'for_each') && !detail.inPass;
    const last =
      detail.kind === 'loop' ? detail.passes - 1 : detail.kind === 'for_each' ? detail.index - 1 : 0;
    return between ? passPath(owner.iteration, block.id, last) : innerIteration(owner.own);
  }
  const last = owner.row === undefined ? null : member(decisionOf(owner.row), 'last_pass');
  return passPath(owner.iteration, block.id, typeof last === 'number' ? last : 0);
}

/** Rows of earlier passes do not speak of this one: the nodes were reset ([LOOP-9]). */
function rowOfPass(view: View, blockId: string, iteration: string): NodeRow | undefined {
  const row = view.rows.get(blockId);
  return row?.iteration === iteration ? row : undefined;
}

function decisionOf(row: NodeRow): JsonObject {
  const decision = member(row.node, 'decision');
  return isJsonObject(decision) ? decision : {};
}

function frameFacts(frame: Frame): Facts {
  const polls = frame.detail.kind === 'loop' ? frame.detail.pollUntil : null;
  return {
    state: polls === null ? 'running' : 'waiting',
    reason: polls === null ? null : 'poll',
    wakeAt: polls,
    attempt: 0,
    iteration: frame.iteration,
    error: null,
    decision: openDecision(frame.detail),
    startedAt: frame.startedAt,
    completedAt: null,
  };
}

function openDecision(detail: FrameDetail): Json {
  switch (detail.kind) {
    case 'router':
      return { route: detail.route };
    case 'a_b_split':
      return { variant: detail.variant };
    case 'loop':
      return { passes: detail.passes };
    case 'for_each':
      return { passes: detail.index, total: detail.total };
    case 'root':
    case 'branch':
    case 'cancellation_scope':
    case 'parallel':
    case 'race':
    case 'try_catch':
    case 'saga':
      return null;
  }
}

function leafFacts(list: Frame): Facts {
  const { leaf } = list;
  if (leaf === null) return untouchedFacts(innerIteration(list), 'pending');
  return {
    state: leaf.state,
    reason: leaf.reason,
    wakeAt: leaf.wakeAt,
    attempt: leaf.attempt,
    iteration: innerIteration(list),
    error: leaf.error === null ? null : { ...errorObject(leaf.error), retryable: leaf.error.retryable },
    decision: leaf.childId === null ? null : { child_instance_id: leaf.childId },
    startedAt: leaf.startedAt,
    completedAt: leaf.state === 'failed' || leaf.state === 'cancelled' ? list.startedAt : null,
  };
}

function rowFacts(row: NodeRow | undefined): Facts | null {
  if (row === undefined) return null;
  const state = row.kind === 'result' ? 'completed' : member(row.node, 'state');
  if (!isNodeState(state)) return null;
  return {
    state,
    reason: null,
    wakeAt: null,
    attempt: row.attempt,
    iteration: row.iteration,
    error: member(row.node, 'error') ?? null,
    decision: member(row.node, 'decision') ?? null,
    startedAt: row.startedAt,
    completedAt: row.createdAt,
  };
}

function isNodeState(state: Json | undefined): state is NodeState {
  return state === 'completed' || state === 'failed' || state === 'cancelled' || state === 'skipped';
}

function untouchedFacts(iteration: string, state: Untouched): Facts {
  return {
    state,
    reason: null,
    wakeAt: null,
    attempt: 0,
    iteration,
    error: null,
    decision: null,
    startedAt: null,
    completedAt: null,
  };
}

function push(view: View, block: Block, facts: Facts): void {
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
  });
}

/** 7.2. */
function branchIndexOf(parent: Block, listIndex: number): number | null {
  return parent.type === 'loop' || parent.type === 'for_each' || parent.type === 'cancellation_scope'
    ? null
    : listIndex;
}
