import type { Block } from '../../definition/document.ts';
import { member } from '../../json.ts';
import type { Leaf } from '../frame.ts';
import { freshLeaf } from '../leaf/fresh-leaf.ts';
import { standIn } from '../run-order.ts';
import { foldComposite } from './fold-composite.ts';
import type { HistoryRow } from './history-row.ts';
import { type BlockFold, type Fold, type ListFold, UNTOUCHED, failureIn } from './list-frame.ts';
import { endWord, isPassedOver } from './records.ts';

const OVER: BlockFold = { state: 'over', leaf: null, frames: [] };
const PENDING: BlockFold = { state: 'pending', leaf: null, frames: [] };

/** The list rules ([LIST-1] to [LIST-5]), read from rows. */
export function foldList(fold: Fold, blocks: readonly Block[], iteration: string): ListFold {
  const folded = blocks.map((block) => ({ block, of: foldBlock(fold, block, iteration) }));
  const left = folded.filter(({ of }) => of.state !== 'over');
  const begun = left.find(({ of }) => of.state !== 'pending');
  const next = begun ?? left[0];
  if (next === undefined) return { ...UNTOUCHED, end: 'drained', cursor: blocks.length };
  const { state, leaf, frames } = next.of;
  const end = state === 'failed' || state === 'cancelled' ? state : null;
  const list = { ...UNTOUCHED, end, leaf, below: frames };
  const over = folded.filter(({ of }) => of.state === 'over').map(({ block }) => block.id);
  if (blocks[over.length]?.id === next.block.id) return { ...list, cursor: over.length };
  // Blocks came to stand before others that had ended, or had begun ([OP-10]).
  const current = begun?.block.id ?? null;
  return { ...list, ...standIn(blocks, { done: new Set(over), current, held: null }) };
}

function foldBlock(fold: Fold, block: Block, iteration: string): BlockFold {
  const end = fold.records.endOf(block.id, iteration);
  const word = end === undefined ? null : endWord(end);
  if (word === 'completed' || word === 'skipped') return OVER;
  if (end !== undefined && isPassedOver(end)) return OVER;
  if (block.type !== 'step' && block.type !== 'sub_sequence' && !(end !== undefined && isGivenUp(end))) {
    const entered = end !== undefined || fold.records.isTouched(block.id, iteration);
    return entered ? foldComposite(fold, block, iteration, end) : PENDING;
  }
  if (word === 'failed' && end !== undefined) {
    return { state: 'failed', leaf: failedLeaf(end), frames: [] };
  }
  return word === 'cancelled' ? { state: 'cancelled', leaf: null, frames: [] } : PENDING;
}

/**
 * A run may be given up at a block that has stored no list of its own yet: that then carries the failure as a leaf does
 * ([REC-3]). A composite that fails by itself says in its row what it had decided.
 */
function isGivenUp({ output }: HistoryRow): boolean {
  return member(output, 'error') !== undefined && member(output, 'decision') === undefined;
}

function failedLeaf(row: HistoryRow): Leaf {
  return {
    ...freshLeaf(row.startedAt ?? row.createdAt),
    state: 'failed',
    attempt: row.attempt,
    error: failureIn(row.output),
  };
}
