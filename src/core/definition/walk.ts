import type { Block, SequenceDocument } from './document.ts';
import type { Path } from './path.ts';

/**
 * One ordered list of blocks inside a composite. `branchIndex` is the column of sequences.md 7.2 (null where a composite
 * has a single list). The action and the compensation of a saga step count as lists of one; `single` says that their
 * path is the path of the block itself.
 */
export interface ChildList {
  readonly blocks: readonly Block[];
  readonly branchIndex: number | null;
  readonly path: Path;
  readonly single: boolean;
}

/** A block and the way to it. Root blocks have depth 0 ([LIM-2]) and no parent. */
export interface BlockVisit {
  readonly block: Block;
  readonly path: Path;
  readonly depth: number;
  readonly parent: BlockVisit | null;
  /** Blocks before and after this one in the same list, itself included. */
  readonly siblings: readonly Block[];
  readonly position: number;
  readonly branchIndex: number | null;
}

/** The lists below a block in document order (sequences.md 7.1); a leaf has none. Absent optional lists are left out. */
export function childLists(block: Block): readonly ChildList[] {
  switch (block.type) {
    case 'step':
    case 'sub_sequence':
      return [];
    case 'parallel':
    case 'race':
      return block.branches.map((blocks, index) => list(blocks, index, ['branches', index]));
    case 'router':
      return [
        ...block.routes.map((route, index) => list(route.blocks, index, ['routes', index, 'blocks'])),
        ...optionalList(block.default, block.routes.length, 'default'),
      ];
    case 'try_catch':
      return [
        list(block.try_block, 0, ['try_block']),
        list(block.catch_block, 1, ['catch_block']),
        ...optionalList(block.finally_block, 2, 'finally_block'),
      ];
    case 'loop':
    case 'for_each':
      return [list(block.body, null, ['body'])];
    case 'a_b_split':
      return block.variants.map((variant, index) =>
        list(variant.blocks, index, ['variants', index, 'blocks']),
      );
    case 'cancellation_scope':
      return [list(block.blocks, null, ['blocks'])];
    case 'saga':
      return block.steps.flatMap((step, index) => [
        single(step.action, 2 * index, ['steps', index, 'action']),
        ...(step.compensation === undefined
          ? []
          : [single(step.compensation, 2 * index + 1, ['steps', index, 'compensation'])]),
      ]);
  }
}

/**
 * Every block of a list and of everything below it, depth-first in document order: a composite comes before its
 * children. Works without recursion, so the depth of the tree costs no stack.
 */
export function* walkBlocks(blocks: readonly Block[], path: Path = ['blocks']): Generator<BlockVisit> {
  const pending = visitsOf(list(blocks, null, path), null, []).reverse();
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    yield visit;
    for (const child of childLists(visit.block).toReversed()) {
      pending.push(...visitsOf(child, visit, visit.path).reverse());
    }
  }
}

/** The lists of a document with their names: the main tree and the cleanup lists that are present. */
export function documentLists(
  document: SequenceDocument,
): readonly { readonly name: 'blocks' | 'on_failure' | 'on_cancel'; readonly blocks: readonly Block[] }[] {
  return [
    { name: 'blocks' as const, blocks: document.blocks },
    { name: 'on_failure' as const, blocks: document.on_failure ?? [] },
    { name: 'on_cancel' as const, blocks: document.on_cancel ?? [] },
  ];
}

function visitsOf(child: ChildList, parent: BlockVisit | null, base: Path): BlockVisit[] {
  return child.blocks.map((block, position) => ({
    block,
    path: child.single ? [...base, ...child.path] : [...base, ...child.path, position],
    depth: parent === null ? 0 : parent.depth + 1,
    parent,
    siblings: child.blocks,
    position,
    branchIndex: child.branchIndex,
  }));
}

function list(blocks: readonly Block[], branchIndex: number | null, path: Path): ChildList {
  return { blocks, branchIndex, path, single: false };
}

function single(block: Block, branchIndex: number, path: Path): ChildList {
  return { blocks: [block], branchIndex, path, single: true };
}

function optionalList(
  blocks: readonly Block[] | undefined,
  branchIndex: number,
  name: string,
): readonly ChildList[] {
  return blocks === undefined ? [] : [list(blocks, branchIndex, [name])];
}
