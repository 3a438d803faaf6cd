import type { ForEachBlock, LoopBlock } from '../../definition/document.ts';
import type { Draft } from '../draft.ts';
import { descendantIds, passPath } from '../plan.ts';

/**
 * Takes the counter and variant rows of the pass that is over out of the lists ([LOOP-9]): the next pass writes its
 * own, and a reader must not take the old ones for them.
 */
export function resetCounters(draft: Draft, blockId: string, iteration: string, pass: number): void {
  const blockIds = descendantIds(draft.plan, blockId).filter((id) => {
    const type = draft.plan.nodes.get(id)?.block.type;
    return type === 'loop' || type === 'for_each' || type === 'a_b_split';
  });
  if (blockIds.length === 0) return;
  draft.supersede({
    blockIds,
    kinds: ['counter', 'variant'],
    iteration: passPath(iteration, blockId, pass),
    keepLatest: false,
  });
  draft.knowledge.removeOutputs(blockIds);
}

/** [LOOP-10]: with `retain_iterations` = n only the newest n result rows of each block stay, the latest one always. */
export function forgetOldPass(
  draft: Draft,
  block: LoopBlock | ForEachBlock,
  iteration: string,
  passes: number,
): void {
  const keep = block.retain_iterations ?? 0;
  const old = passes - keep - 1;
  if (keep === 0 || old < 0) return;
  draft.supersede({
    blockIds: descendantIds(draft.plan, block.id),
    kinds: ['result', 'node'],
    iteration: passPath(iteration, block.id, old),
    keepLatest: true,
  });
}
