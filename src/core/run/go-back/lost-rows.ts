import type { Block } from '../../definition/document.ts';
import { isJsonObject, member } from '../../json.ts';
import type { HistoryRow } from '../fold/history-row.ts';
import type { Fold } from '../fold/list-frame.ts';
import { numberIn, recordKey } from '../fold/records.ts';
import type { NewRow } from '../output-row.ts';
import { listsOf, passPath } from '../plan.ts';
import type { Level, Target } from './target.ts';

type Row = Omit<NewRow, 'id'>;

/**
 * The rows that have to be written anew, so that what stays says what it said when the run stood at the target: counters
 * and variants of blocks in an earlier pass, which the passes after it have taken out of the lists ([LOOP-9]).
 *
 * @param kept What the rows that stay say.
 * @param all All rows there ever were; the latest of a block in a pass are about the execution that counts.
 */
export function lostCounters(kept: Fold, all: readonly HistoryRow[], target: Target): readonly Row[] {
  const latest = new Map(
    all
      .filter(({ kind }) => kind === 'counter' || kind === 'variant')
      .map((row) => [recordKey(row.blockId, row.iteration), row]),
  );
  const restore = createRestore(kept, latest);
  return target.levels
    .flatMap((level) => {
      if (level.iteration === '') return [];
      const lists = level.owner === null ? [] : listsOf(level.owner);
      const before = (lists[level.listIndex] ?? []).slice(0, level.index);
      const beside = isJoin(level.owner) ? lists.filter((_, index) => index !== level.listIndex).flat() : [];
      return [...before, ...beside].flatMap((block) => restore(block, level.iteration));
    })
    .concat(
      target.levels.flatMap((level, depth) => ownCounters(kept, latest, level, target.levels[depth + 1])),
    );
}

function isJoin(owner: Block | null): boolean {
  return owner?.type === 'parallel' || owner?.type === 'race';
}

type Latest = ReadonlyMap<string, HistoryRow>;

/** The rows that a block and what is inside it have lost, where its end says that it had them. */
function createRestore(kept: Fold, latest: Latest): (block: Block, iteration: string) => readonly Row[] {
  const restore = (block: Block, iteration: string): readonly Row[] => {
    if (!kept.records.isTouched(block.id, iteration)) return [];
    const end = kept.records.endOf(block.id, iteration);
    switch (block.type) {
      case 'loop':
      case 'for_each': {
        const passes = numberIn(member(end?.output, 'decision'), 'passes', 0);
        const own = missing(kept, latest, { block, iteration }, passes);
        const last = passPath(iteration, block.id, Math.max(0, passes - 1));
        return [...own, ...block.body.flatMap((inner) => restore(inner, last))];
      }
      case 'a_b_split':
      case 'cancellation_scope':
      case 'parallel':
      case 'race':
      case 'router':
      case 'saga':
      case 'step':
      case 'sub_sequence':
      case 'try_catch':
        return [
          ...(block.type === 'a_b_split' ? missing(kept, latest, { block, iteration }, 0) : []),
          ...listsOf(block)
            .flat()
            .flatMap((inner) => restore(inner, iteration)),
        ];
    }
  };
  return restore;
}

/** A loop around the target in an earlier pass has lost its counters to the passes around it. */
function ownCounters(kept: Fold, latest: Latest, level: Level, inner: Level | undefined): readonly Row[] {
  const { block, iteration } = level;
  if (inner === undefined || iteration === '') return [];
  if (block.type === 'a_b_split') return missing(kept, latest, { block, iteration }, 0);
  if (inner.pass === null || inner.hasItemFrames) return [];
  return missing(kept, latest, { block, iteration }, inner.pass);
}

/** Counters up to a number of passes, or the variant, unless they are there. */
function missing(
  kept: Fold,
  latest: Latest,
  { block, iteration }: { readonly block: Block; readonly iteration: string },
  passes: number,
): readonly Row[] {
  const isThere = kept.records.counterOf(block.id, iteration) ?? kept.records.variantOf(block.id, iteration);
  const known = latest.get(recordKey(block.id, iteration));
  if (isThere !== undefined) return [];
  const row = { blockId: block.id, iteration, attempt: 0, startedAt: null };
  if (block.type === 'a_b_split') {
    return known === undefined ? [] : [{ ...row, kind: 'variant', output: known.output }];
  }
  if (block.type === 'loop') {
    return Array.from({ length: passes }, (_, index) => {
      const counter = { ...row, kind: 'counter' as const, attempt: index + 1 };
      return { ...counter, output: { _iterations: index + 1 } };
    });
  }
  const snapshot = member(known?.output, '_snapshot_ref');
  if (block.type !== 'for_each' || known === undefined || typeof snapshot !== 'string') return [];
  const total = numberIn(known.output, '_total', 0);
  return Array.from({ length: Math.min(passes, total) + 1 }, (_, index) => ({
    ...row,
    kind: 'counter' as const,
    attempt: index,
    output: { _index: index, _total: total, _item_var: block.item_var, _snapshot_ref: snapshot },
  }));
}

/**
 * Blocks of the target's lists that failed or were cancelled before its turn: the run goes on behind them, and they stay
 * what they are ([OP-6]). Those that were never reached are skipped.
 *
 * @param isOver The run has ended: a list that had not come to its end by then was cut.
 */
export function passedOverRows(fold: Fold, target: Target, isOver: boolean): readonly Row[] {
  return target.levels.flatMap((level) => {
    const list =
      level.owner === null ? fold.plan.document.blocks : (listsOf(level.owner)[level.listIndex] ?? []);
    const { end, cursor } = fold.list(list, level.iteration);
    const isCut = isOver && end === null;
    if (end !== 'failed' && end !== 'cancelled' && !isCut) return [];
    return list.slice(cursor, level.index).map((block): Row => passedOver(fold, block, level.iteration));
  });
}

function passedOver(fold: Fold, block: Block, iteration: string): Row {
  const end = fold.records.endOf(block.id, iteration);
  const row = { blockId: block.id, iteration, kind: 'node' as const };
  if (end === undefined) return { ...row, attempt: 0, output: { state: 'skipped' }, startedAt: null };
  const output = isJsonObject(end.output) ? end.output : {};
  return { ...row, attempt: end.attempt, output: { ...output, passed_over: true }, startedAt: end.startedAt };
}
