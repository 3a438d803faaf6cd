import type { ForEachBlock } from '../../definition/document.ts';

/**
 * True when the items of the block have frames of their own (RULINGS B25): several run at once, failed ones may be
 * outlived, or their outputs are collected. Without these members the block is the plain one of 9.6.
 */
export function fansOut(block: ForEachBlock): boolean {
  return isConcurrent(block) || mayFail(block) || block.collect === true;
}

/** Several items run side by side: each sees the outputs of its own body blocks only. */
export function isConcurrent(block: ForEachBlock): boolean {
  return (block.concurrency ?? 1) > 1;
}

/** Items may fail without the block failing. */
export function mayFail(block: ForEachBlock): boolean {
  return block.on_item_failure === 'continue' || block.tolerate !== undefined;
}

/** How many items may fail before the block does. A share is rounded down: 10 % of 19 items are one. */
export function toleratedFailures(block: ForEachBlock, total: number): number {
  if (!mayFail(block)) return 0;
  const { count, percent } = block.tolerate ?? {};
  if (count !== undefined) return count;
  return percent === undefined ? total : Math.floor((total * percent) / 100);
}
