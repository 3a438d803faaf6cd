import type { Block } from '../../definition/document.ts';
import type { Leaf } from '../frame.ts';
import { freshLeaf } from '../leaf/fresh-leaf.ts';
import { foldComposite } from './fold-composite.ts';
import type { HistoryRow } from './history-row.ts';
import { type BlockFold, type Fold, type ListFold, failureIn } from './list-frame.ts';
import { endWord, isPassedOver } from './records.ts';

const OVER: BlockFold = { state: 'over', leaf: null, frames: [] };
const PENDING: BlockFold = { state: 'pending', leaf: null, frames: [] };

/** The list rules ([LIST-1] to [LIST-5]), read from rows. */
export function foldList(fold: Fold, blocks: readonly Block[], iteration: string): ListFold {
  for (const [cursor, block] of blocks.entries()) {
    const { state, leaf, frames } = foldBlock(fold, block, iteration);
    if (state === 'over') continue;
    const end = state === 'failed' || state === 'cancelled' ? state : null;
    return { end, cursor, leaf, below: frames };
  }
  return { end: 'drained', cursor: blocks.length, leaf: null, below: [] };
}

function foldBlock(fold: Fold, block: Block, iteration: string): BlockFold {
  const end = fold.records.endOf(block.id, iteration);
  const word = end === undefined ? null : endWord(end);
  if (word === 'completed' || word === 'skipped') return OVER;
  if (end !== undefined && isPassedOver(end)) return OVER;
  if (block.type !== 'step' && block.type !== 'sub_sequence') {
    const entered = end !== undefined || fold.records.isTouched(block.id, iteration);
    return entered ? foldComposite(fold, block, iteration, end) : PENDING;
  }
  if (word === 'failed' && end !== undefined) {
    return { state: 'failed', leaf: failedLeaf(end), frames: [] };
  }
  return word === 'cancelled' ? { state: 'cancelled', leaf: null, frames: [] } : PENDING;
}

function failedLeaf(row: HistoryRow): Leaf {
  return {
    ...freshLeaf(row.startedAt ?? row.createdAt),
    state: 'failed',
    attempt: row.attempt,
    error: failureIn(row.output),
  };
}
