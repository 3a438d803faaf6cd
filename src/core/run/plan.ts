import { type References, expressionReferences, templateReferences } from '../expressions/references.ts';
import type { Block, SequenceDocument } from '../definition/document.ts';
import { type Json, member } from '../json.ts';
import { isConcurrent } from './blocks/items.ts';
import type { Frame } from './frame.ts';
import type { PlanShape } from './reshape/injected.ts';
import { inRunOrder } from './run-order.ts';

/** A block with its place. `listIndex` says which list of the parent it stands in (sequences.md 7.2). */
export interface PlanNode {
  readonly block: Block;
  /** Index in document order, from 0. */
  readonly position: number;
  readonly parentId: string | null;
  readonly listIndex: number;
  readonly index: number;
}

/** A compiled sequence: every block by id, with what its texts may read. Made once per version and shared. */
export interface Plan {
  readonly document: SequenceDocument;
  readonly nodes: ReadonlyMap<string, PlanNode>;
  readonly inOrder: readonly PlanNode[];
  /** What the texts of each block may read when it begins or ends. */
  readonly references: ReadonlyMap<string, References>;
  /** Blocks whose outputs some text reads; only these are worth keeping in memory. */
  readonly readOutputs: ReadonlySet<string> | 'all';
  /** What was changed in the run that this plan is of; absent for a sequence as it was published. */
  readonly shape?: PlanShape;
  /** The `for_each` blocks whose items run side by side. */
  readonly concurrent: ReadonlySet<string>;
}

/** Compiles a valid document. */
export function compilePlan(document: SequenceDocument): Plan {
  const inOrder: PlanNode[] = [];
  const add = (blocks: readonly Block[], parentId: string | null, listIndex: number): void => {
    blocks.forEach((block, index) => {
      inOrder.push({ block, position: inOrder.length, parentId, listIndex, index });
      listsOf(block).forEach((list, inner) => {
        add(list, block.id, inner);
      });
    });
  };
  add(document.blocks, null, 0);
  const nodes = new Map(inOrder.map((node) => [node.block.id, node]));
  const references = new Map(inOrder.map((node) => [node.block.id, blockReferences(node.block)]));
  const around = aroundReferences(document);
  const readOutputs = union([...references.values(), ...around].map((part) => part.outputs));
  const concurrent = inOrder.flatMap(({ block }) =>
    block.type === 'for_each' && isConcurrent(block) ? [block.id] : [],
  );
  return { document, nodes, inOrder, references, readOutputs, concurrent: new Set(concurrent) };
}

/** What cleanup hooks and interceptors read: it has to be in memory as well, since it may not be stored yet. */
function aroundReferences(document: SequenceDocument): readonly References[] {
  const hooks = [...(document.on_failure ?? []), ...(document.on_cancel ?? [])];
  const invoked = Object.values(document.interceptors ?? {}).filter(({ invoke }) => invoke === true);
  return [...hooks.map(blockReferences), ...invoked.map(({ params }) => templateReferences(params ?? null))];
}

/** The lists of a composite, in the order of their indexes; none for a leaf. */
export function listsOf(block: Block): readonly (readonly Block[])[] {
  switch (block.type) {
    case 'step':
    case 'sub_sequence':
      return [];
    case 'parallel':
    case 'race':
      return block.branches;
    case 'router':
      return [...block.routes.map((route) => route.blocks), block.default ?? []];
    case 'a_b_split':
      return block.variants.map((variant) => variant.blocks);
    case 'try_catch':
      return [block.try_block, block.catch_block, block.finally_block ?? []];
    case 'loop':
    case 'for_each':
      return [block.body];
    case 'cancellation_scope':
      return [block.blocks];
    case 'saga':
      return block.steps.flatMap((step) => [[step.action], step.compensation ? [step.compensation] : []]);
  }
}

const TRY_LISTS = { try: 0, catch: 1, finally: 2 } as const;

/** Index of the list that a frame works on; a joining frame (parallel, race) has none. */
export function currentListIndex(frame: Frame): number {
  switch (frame.detail.kind) {
    case 'branch':
      return frame.branch ?? 0;
    case 'router':
      return frame.detail.route;
    case 'a_b_split':
      return frame.detail.variant;
    case 'try_catch':
      return TRY_LISTS[frame.detail.phase];
    case 'saga':
      return frame.detail.step * 2 + (frame.detail.phase === 'rollback' ? 1 : 0);
    case 'root':
    case 'cancellation_scope':
    case 'parallel':
    case 'race':
    case 'loop':
    case 'for_each':
    case 'fan_out':
    case 'item':
      return 0;
  }
}

/** True for a frame that only joins the frames of its lists, which are worked on side by side. */
export function isJoin({ detail }: Frame): boolean {
  return detail.kind === 'parallel' || detail.kind === 'race' || detail.kind === 'fan_out';
}

/** True for the list of a join: it has a frame of its own, and its composite has another. */
export function isJoined({ detail }: Frame): boolean {
  return detail.kind === 'branch' || detail.kind === 'item';
}

/** The list that a frame works on, in the order in which it runs it. */
export function currentList(plan: Plan, frame: Frame): readonly Block[] {
  return inRunOrder(listOf(plan, frame), frame.order);
}

/** The list that a frame works on, as it stands in the document. */
function listOf(plan: Plan, frame: Frame): readonly Block[] {
  if (frame.detail.kind === 'root') return plan.document.blocks;
  // A joining frame has no list of its own; its branches have frames.
  if (isJoin(frame)) return [];
  const owner = plan.nodes.get(frame.blockId);
  return owner === undefined ? [] : (listsOf(owner.block)[currentListIndex(frame)] ?? []);
}

/** Iteration path of the blocks in the frame's list: passes add `block:n` ([5.2] of sequences.md). */
export function innerIteration(frame: Frame): string {
  if (frame.detail.kind === 'loop') return passPath(frame.iteration, frame.blockId, frame.detail.passes);
  if (frame.detail.kind === 'for_each') return passPath(frame.iteration, frame.blockId, frame.detail.index);
  if (frame.detail.kind === 'item') return passPath(frame.iteration, frame.blockId, frame.branch ?? 0);
  return frame.iteration;
}

export function passPath(iteration: string, blockId: string, pass: number): string {
  return iteration === '' ? `${blockId}:${pass}` : `${iteration}/${blockId}:${pass}`;
}

/** Cuts `/block:n` from the end. The id is known, so an id that holds `/` or `:` cannot mislead. */
export function outerIteration(iteration: string, blockId: string): string {
  const start = iteration.lastIndexOf(':') - blockId.length;
  return start <= 0 ? '' : iteration.slice(0, start - 1);
}

/** Number of the innermost pass of a path. */
export function lastPass(iteration: string): number {
  return Number(iteration.slice(iteration.lastIndexOf(':') + 1));
}

/** Ids of all blocks below a composite, itself not included. */
export function descendantIds(plan: Plan, blockId: string): readonly string[] {
  const node = plan.nodes.get(blockId);
  if (node === undefined) return [];
  const ids: string[] = [];
  for (let at = node.position + 1; at < plan.inOrder.length; at += 1) {
    const candidate = plan.inOrder[at];
    if (candidate === undefined || !isBelow(plan, candidate, blockId)) break;
    ids.push(candidate.block.id);
  }
  return ids;
}

/** True when a block lies inside a composite, in any of its lists. */
export function isInside(plan: Plan, blockId: string, ancestorId: string): boolean {
  const node = plan.nodes.get(blockId);
  return node !== undefined && isBelow(plan, node, ancestorId);
}

function isBelow(plan: Plan, node: PlanNode, ancestorId: string): boolean {
  for (let id = node.parentId; id !== null; id = plan.nodes.get(id)?.parentId ?? null) {
    if (id === ancestorId) return true;
  }
  return false;
}

/** True when the frame lies inside the composite `blockId` (any of its lists), the composite's own frame excluded. */
export function frameIsBelow(plan: Plan, frame: Frame, blockId: string): boolean {
  if (frame.detail.kind === 'root') return false;
  if (frame.blockId === blockId) return isJoined(frame);
  const node = plan.nodes.get(frame.blockId);
  return node !== undefined && isBelow(plan, node, blockId);
}

/** Only the block's own texts: the blocks of its lists have references of their own. */
export function blockReferences(block: Block): References {
  return mergeReferences(textsOf(block));
}

function textsOf(block: Block): readonly References[] {
  switch (block.type) {
    case 'step':
      return [
        templateReferences(block.params ?? null),
        templateReferences(block.cache_key ?? null),
        templateReferences(block.wait_for_input?.prompt ?? null),
        expressionReferences(block.when ?? ''),
        expressionReferences(block.retry?.retry_if ?? ''),
        ...(block.handler === 'assert' ? assertReferences(block.params ?? null) : []),
      ];
    case 'sub_sequence':
      return [templateReferences(block.input)];
    case 'router':
      return block.routes.map((route) => expressionReferences(route.condition));
    case 'loop':
      return [expressionReferences(block.condition), expressionReferences(block.break_on ?? '')];
    case 'for_each':
      return [collectionReferences(block.collection)];
    case 'parallel':
    case 'race':
    case 'a_b_split':
    case 'try_catch':
    case 'cancellation_scope':
    case 'saga':
      return [];
  }
}

/** The condition of `assert` is an expression inside a param; one that a template makes up may read anything. */
function assertReferences(params: Json): readonly References[] {
  const condition = member(params, 'condition');
  if (typeof condition !== 'string') return [];
  return condition.includes('{{') ? [EVERYTHING] : [expressionReferences(condition)];
}

const EVERYTHING: References = { outputs: 'all', state: new Set() };

/** A template, or a dotted path whose block id may hold characters that no expression allows ([EACH-1]). */
function collectionReferences(collection: string): References {
  if (collection.includes('{{')) return templateReferences(collection);
  const [root, blockId] = collection.split('.');
  const reads = (root === 'outputs' || root === 'steps') && blockId !== undefined;
  return { outputs: new Set(reads ? [blockId] : []), state: new Set() };
}

function mergeReferences(parts: readonly References[]): References {
  return { outputs: union(parts.map((part) => part.outputs)), state: union(parts.map((part) => part.state)) };
}

function union(sets: readonly (ReadonlySet<string> | 'all')[]): ReadonlySet<string> | 'all' {
  const merged = new Set<string>();
  for (const set of sets) {
    if (set === 'all') return 'all';
    for (const id of set) merged.add(id);
  }
  return merged;
}
