import type { Block } from '../../src/core/definition/document.ts';
import type { Failure } from '../../src/core/failure.ts';
import type { Json } from '../../src/core/json.ts';
import type { Answer, NodeState, Reason } from './world.ts';

/** One block of one instance. It is reset for every pass (LOOP-9), so there is one per block. */
export interface TreeNode {
  readonly block: Block;
  readonly parent: TreeNode | null;
  /** Index of its list among the lists of its parent (7.2). */
  readonly branch: number;
  readonly lists: readonly (readonly TreeNode[])[];
  state: NodeState;
  reason: Reason | null;
  wakeAt: number | null;
  attempt: number;
  iteration: string;
  decision: number | null;
  enteredAt: number | null;
  error: Failure | null;
  /** A cancel has passed it: it only lives on until what is protected below it has ended (17.3). */
  draining: boolean;
  /** Its lists that had failed before the cancel came: what fails by the cancel counts only from then on (CAN-4). */
  readonly failedBefore: Set<number>;
  /** Branches of a parallel that have ended. */
  readonly ended: Map<number, 'drained' | 'failed' | 'cancelled'>;
  /** A failure below it was absorbed although it failed itself (ERR-ROW-3). */
  absorbed: boolean;
  /** A rollback has answered it: it still fails the saga, but leaves no row (the example of 9.10). */
  rolledBack: boolean;
  leaf: LeafProgress;
  pass: PassProgress;
  phase: PhaseProgress;
}

/** How far a step is in its pipeline (8.1). */
export interface LeafProgress {
  stage: 'when' | 'delay' | 'window' | 'gate' | 'attempt';
  delayTarget: number | null;
  deadlineFrom: number | null;
  gateOpenedAt: number | null;
  /** Stays over a retry of the instance (HI-5). */
  gatePassed: boolean;
  prompt: Json;
  call: Call | null;
}

/** An attempt that has been started and has not been answered. */
export interface Call {
  readonly kind: 'in_process' | 'worker' | 'sleep' | 'child';
  readonly startedAt: number;
  /** null until it has begun, and for what this world does not script. */
  answer: Answer | null;
  readonly cacheKey: string | null;
}

/** Progress of a loop or for_each. */
export interface PassProgress {
  finished: number;
  /** The body of pass `finished` is open. */
  open: boolean;
  openedAt: number | null;
  items: readonly Json[] | null;
}

/** Progress of a try_catch or saga. */
export interface PhaseProgress {
  name: 'first' | 'catch' | 'finally' | 'rollback';
  /** `data._error` as catch, finally and compensations read it. */
  error: Json | undefined;
  tryFailed: boolean;
  catchFailed: boolean;
  cancelled: boolean;
  failedStep: number;
}

export const isTerminal = (state: NodeState): boolean =>
  state === 'completed' || state === 'failed' || state === 'cancelled' || state === 'skipped';

/** The lists of a block in the order of `branch_index`. */
function listsOf(block: Block): readonly (readonly Block[])[] {
  switch (block.type) {
    case 'step':
    case 'sub_sequence':
      return [];
    case 'parallel':
    case 'race':
      return block.branches;
    case 'router':
      return [...block.routes.map((route) => route.blocks), block.default ?? []];
    case 'try_catch':
      return [block.try_block, block.catch_block, block.finally_block ?? []];
    case 'loop':
    case 'for_each':
      return [block.body];
    case 'a_b_split':
      return block.variants.map((variant) => variant.blocks);
    case 'cancellation_scope':
      return [block.blocks];
    case 'saga':
      return block.steps.flatMap((step) => [
        [step.action],
        step.compensation === undefined ? [] : [step.compensation],
      ]);
  }
}

export function buildList(blocks: readonly Block[], parent: TreeNode | null, branch: number): TreeNode[] {
  return blocks.map((block) => {
    const lists: TreeNode[][] = [];
    const node: TreeNode = {
      block,
      parent,
      branch,
      lists,
      iteration: '',
      decision: null,
      enteredAt: null,
      draining: false,
      failedBefore: new Set(),
      ended: new Map(),
      absorbed: false,
      rolledBack: false,
      ...fresh(),
    };
    for (const [index, list] of listsOf(block).entries()) lists.push(buildList(list, node, index));
    return node;
  });
}

type Fresh = Pick<TreeNode, 'state' | 'reason' | 'wakeAt' | 'attempt' | 'error' | 'leaf' | 'pass' | 'phase'>;

function fresh(): Fresh {
  return {
    state: 'pending',
    reason: null,
    wakeAt: null,
    attempt: 0,
    error: null,
    leaf: {
      stage: 'when',
      delayTarget: null,
      deadlineFrom: null,
      gateOpenedAt: null,
      gatePassed: false,
      prompt: null,
      call: null,
    },
    pass: { finished: 0, open: false, openedAt: null, items: null },
    phase: {
      name: 'first',
      error: undefined,
      tryFailed: false,
      catchFailed: false,
      cancelled: false,
      failedStep: -1,
    },
  };
}

/** A node as if it had never been reached in this pass. */
export function resetNode(node: TreeNode): void {
  Object.assign(node, fresh());
  node.decision = null;
  node.enteredAt = null;
  node.draining = false;
  node.failedBefore.clear();
  node.ended.clear();
  node.absorbed = false;
  node.rolledBack = false;
}

export function* subtree(node: TreeNode): Generator<TreeNode> {
  yield node;
  for (const list of node.lists) for (const child of list) yield* subtree(child);
}

export function* nodesOf(roots: readonly TreeNode[]): Generator<TreeNode> {
  for (const root of roots) yield* subtree(root);
}

/** Every node from the parent upwards. */
export function* ancestors(node: TreeNode): Generator<TreeNode> {
  for (let up = node.parent; up !== null; up = up.parent) yield up;
}

/** Path of the passes around a node, `outer:2/inner:0` (5.2). */
export function iterationOf(node: TreeNode): string {
  const parts: string[] = [];
  for (const up of ancestors(node)) {
    if (up.block.type === 'loop' || up.block.type === 'for_each') {
      parts.unshift(`${up.block.id}:${up.pass.finished}`);
    }
  }
  return parts.join('/');
}
