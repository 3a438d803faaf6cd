import { isJsonObject } from '../../json.ts';
import type { Block } from '../../definition/document.ts';
import type { Fold } from '../fold/list-frame.ts';
import type { NewRow } from '../output-row.ts';
import { listsOf } from '../plan.ts';
import { inRunOrder } from '../run-order.ts';
import type { Target } from './target.ts';

type Row = Omit<NewRow, 'id'>;

/**
 * Blocks of the target's lists that failed or were cancelled before its turn: the run goes on behind them, and they stay
 * what they are ([OP-6]). Those that were never reached are skipped, but for those that came after the end ([OP-11]).
 *
 * @param isOver The run has ended: a list that had not come to its end by then was cut.
 * @param arrived Root blocks that were injected since.
 */
export function passedOverRows(
  fold: Fold,
  target: Target,
  { isOver, arrived }: { readonly isOver: boolean; readonly arrived: ReadonlySet<string> },
): readonly Row[] {
  return target.levels.flatMap((level) => {
    const list =
      level.owner === null ? fold.plan.document.blocks : (listsOf(level.owner)[level.listIndex] ?? []);
    const { end, cursor, order } = fold.list(list, level.iteration);
    const isCut = isOver && end === null;
    if (end !== 'failed' && end !== 'cancelled' && !isCut) return [];
    // The cursor counts in the order of the run, which injected blocks have changed ([OP-10]).
    const behind = new Set(list.slice(level.index));
    const open = inRunOrder(list, order ?? undefined).slice(cursor);
    return open
      .filter((block) => !behind.has(block) && (level.owner !== null || !arrived.has(block.id)))
      .map((block): Row => passedOver(fold, block, level.iteration));
  });
}

function passedOver(fold: Fold, block: Block, iteration: string): Row {
  const end = fold.records.endOf(block.id, iteration);
  const row = { blockId: block.id, iteration, kind: 'node' as const };
  if (end === undefined) return { ...row, attempt: 0, output: { state: 'skipped' }, startedAt: null };
  const output = isJsonObject(end.output) ? end.output : {};
  return { ...row, attempt: end.attempt, output: { ...output, passed_over: true }, startedAt: end.startedAt };
}
