import type { Block } from '../../definition/document.ts';
import { member } from '../../json.ts';
import { fansOut } from '../blocks/items.ts';
import type { HistoryRow } from '../fold/history-row.ts';
import type { Fold } from '../fold/list-frame.ts';
import { numberIn, recordKey, snapshotOf } from '../fold/records.ts';
import type { NewRow } from '../output-row.ts';
import { listsOf, passPath } from '../plan.ts';
import { endedItems } from './ended-items.ts';
import { type At, type Latest, latestOf, totalOf } from './latest-marks.ts';
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
  const latest = latestOf(all);
  const restore = createRestore(kept, latest);
  return target.levels
    .flatMap((level, depth) => {
      if (level.iteration === '') return [];
      const lists = level.owner === null ? [] : listsOf(level.owner);
      const before = (lists[level.listIndex] ?? []).slice(0, level.index);
      const beside = isJoin(level.owner) ? lists.filter((_, index) => index !== level.listIndex).flat() : [];
      return [
        ...[...before, ...beside].flatMap((block) => restore(block, level.iteration)),
        ...openItems(kept, latest, level, target.levels[depth - 1]).flatMap(([block, path]) =>
          restore(block, path),
        ),
      ];
    })
    .concat(
      target.levels.flatMap((level, depth) => ownCounters(kept, latest, level, target.levels[depth + 1])),
    );
}

function isJoin(owner: Block | null): boolean {
  return owner?.type === 'parallel' || owner?.type === 'race';
}

/** The blocks of items beside the target's that have not ended: they begin again where they stopped. */
function openItems(
  kept: Fold,
  latest: Latest,
  { owner, pass, isConcurrent }: Level,
  outer: Level | undefined,
): readonly (readonly [Block, string])[] {
  if (owner?.type !== 'for_each' || !isConcurrent || outer === undefined) return [];
  const total = totalOf(latest, owner, outer.iteration);
  return Array.from({ length: total }, (_, index) => passPath(outer.iteration, owner.id, index))
    .filter((path, index) => index !== pass && kept.list(owner.body, path).end !== 'drained')
    .flatMap((path) => owner.body.map((block) => [block, path] as const));
}

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
          ...(block.type === 'a_b_split' ? missing(kept, latest, { block, iteration }, -1) : []),
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
  // The way to the target says what was chosen.
  if (block.type === 'a_b_split') return missing(kept, latest, { block, iteration }, inner.listIndex);
  if (inner.pass === null) return [];
  return missing(kept, latest, { block, iteration, target: inner.pass }, inner.pass);
}

/** Counters up to a number of passes, or the variant, unless they are there. */
function missing(
  kept: Fold,
  all: Latest,
  { block, iteration, target }: At,
  /** How many passes are over; of an `a_b_split` its variant, where no row says it. */
  count: number,
): readonly Row[] {
  const isThere = kept.records.counterOf(block.id, iteration) ?? kept.records.variantOf(block.id, iteration);
  const known = all.marks.get(recordKey(block.id, iteration));
  if (isThere !== undefined) return [];
  const row = { blockId: block.id, iteration, attempt: 0, startedAt: null };
  const end = all.ends.get(recordKey(block.id, iteration));
  const decision = member(end?.output, 'decision');
  if (block.type === 'a_b_split') {
    const variant = numberIn(known?.output, 'variant_index', numberIn(decision, 'variant', count));
    const name = block.variants[variant]?.name;
    if (name === undefined) return [];
    return [{ ...row, kind: 'variant', output: { variant: name, variant_index: variant } }];
  }
  if (block.type === 'loop') {
    return Array.from({ length: count }, (_, index) => {
      const counter = { ...row, kind: 'counter' as const, attempt: index + 1 };
      return { ...counter, output: { _iterations: index + 1 } };
    });
  }
  const snapshotKey = snapshotOf(known?.output, end);
  if (block.type !== 'for_each' || snapshotKey === null) return [];
  const total = totalOf(all, block, iteration);
  const told = { _total: total, _item_var: block.item_var, _snapshot_ref: snapshotKey };
  const items = fansOut(block)
    ? endedItems(kept, all, { block, iteration, ...(target === undefined ? {} : { target }) }, total)
    : Array.from({ length: Math.min(count, total) }, () => ({}));
  return [{}, ...items].map((item, index) => {
    const counter = { ...row, kind: 'counter' as const, attempt: index };
    return { ...counter, output: { _index: index, ...told, ...item } };
  });
}
