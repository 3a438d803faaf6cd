import type { Block, SequenceDocument } from '../definition/document.ts';
import { documentLists, walkBlocks } from '../definition/walk.ts';

/** A block by its id: of the main tree, else of a cleanup list, which have ids of their own. */
export function findBlock(document: SequenceDocument, blockId: string): Block | null {
  for (const { blocks } of documentLists(document)) {
    for (const { block } of walkBlocks(blocks)) if (block.id === blockId) return block;
  }
  return null;
}

/** Ids of the root blocks before the one that is, or holds, a block; null when no block of the main tree has the id. */
export function rootIdsBefore({ blocks }: SequenceDocument, blockId: string): ReadonlySet<string> | null {
  for (const { block, parent } of walkBlocks(blocks)) {
    if (block.id !== blockId) continue;
    let root = block;
    for (let outer = parent; outer !== null; outer = outer.parent) root = outer.block;
    const ids = blocks.map(({ id }) => id);
    return new Set(ids.slice(0, ids.indexOf(root.id)));
  }
  return null;
}
