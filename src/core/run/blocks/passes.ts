import type { ForEachBlock, LoopBlock } from '../../definition/document.ts';
import type { Draft } from '../draft.ts';
import type { Frame } from '../frame.ts';
import { descendantIds, passPath } from '../plan.ts';

/**
 * [EACH-3], [EACH-4]: the row that says how many items have ended. Where items have frames of their own it also says which
 * one it was, whether it failed, and how many have failed so far: they do not end in the order of their indexes.
 */
export function addItemCounter(
  draft: Draft,
  block: ForEachBlock,
  frame: Frame,
  of: {
    readonly count: number;
    readonly total: number;
    readonly snapshotKey: string | null;
    readonly item?: number;
    readonly itemFailed?: boolean;
    readonly failed?: number;
  },
): void {
  draft.addRow({
    blockId: block.id,
    iteration: frame.iteration,
    kind: 'counter',
    attempt: of.count,
    output: {
      _index: of.count,
      _total: of.total,
      _item_var: block.item_var,
      _snapshot_ref: of.snapshotKey,
      ...(of.item === undefined ? {} : { _item: of.item }),
      ...(of.itemFailed === true ? { _item_failed: true } : {}),
      ...((of.failed ?? 0) > 0 ? { _failed: of.failed ?? 0 } : {}),
    },
    startedAt: null,
  });
}

/**
 * Takes the counter and variant rows of the pass that is over out of the lists ([LOOP-9]): the next pass writes its
 * own, and a reader must not take the old ones for them.
 */
export function resetCounters(
  draft: Draft,
  blockId: string,
  iteration: string,
  pass: number,
  unlessStored: readonly string[] = [],
): void {
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
    ...(unlessStored.length === 0 ? {} : { unlessStored }),
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
  if (keep > 0 && old >= 0) forgetPass(draft, block, iteration, old);
}

/** Takes the results of one pass out of the lists, the latest one of each block left aside. */
export function forgetPass(
  draft: Draft,
  block: LoopBlock | ForEachBlock,
  iteration: string,
  pass: number,
  unlessStored: readonly string[] = [],
): void {
  // By kind: a pass in which a block left no result must not take away the last result there is.
  for (const kind of ['result', 'node'] as const) {
    draft.supersede({
      blockIds: descendantIds(draft.plan, block.id),
      kinds: [kind],
      iteration: passPath(iteration, block.id, pass),
      keepLatest: true,
      ...(unlessStored.length === 0 ? {} : { unlessStored }),
    });
  }
}
