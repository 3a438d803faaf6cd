import type { ForEachBlock } from '../../definition/document.ts';
import { type JsonObject, member } from '../../json.ts';
import { isConcurrent } from '../blocks/items.ts';
import type { Fold } from '../fold/list-frame.ts';
import { endWord, numberIn, recordKey } from '../fold/records.ts';
import { passPath } from '../plan.ts';
import type { At, Latest } from './latest-marks.ts';

/**
 * The items that have ended and stay, in their order; which of them ended first makes no difference any more. Of those
 * that `retain_iterations` has thrown away some rows or all are gone: what is known of them is that they had ended.
 */
export function endedItems(
  kept: Fold,
  all: Latest,
  { block, iteration, target }: At<ForEachBlock>,
  total: number,
): readonly JsonObject[] {
  const key = recordKey(block.id, iteration);
  const end = all.ends.get(key);
  const decision = member(end?.output, 'decision');
  const mayHaveFailed = numberIn(decision, 'failed', 0) > 0;
  const isOver = end !== undefined && endWord(end) === 'completed';
  const isConcurrently = isConcurrent(block);
  const last = numberIn(decision, 'last_pass', 0);
  return Array.from({ length: total }, (_, index) => index).flatMap((index): readonly JsonObject[] => {
    if (target !== undefined && (isConcurrently ? index === target : index >= target)) return [];
    const list = kept.list(block.body, passPath(iteration, block.id, index));
    if (list.end === 'failed') return mayHaveFailed ? [{ _item: index, _item_failed: true }] : [];
    const wasCounted = isConcurrently ? all.items.get(key)?.has(index) === true : index < last;
    const hasEnded = list.end === 'drained' || (list.end === null && (isOver || wasCounted));
    return hasEnded ? [{ _item: index }] : [];
  });
}
