import type { Block } from '../../definition/document.ts';
import { member } from '../../json.ts';
import type { HistoryRow } from '../fold/history-row.ts';
import { numberIn, recordKey } from '../fold/records.ts';

/** A block in a pass, and its item that the run goes back to; absent beside the way to the target. */
export interface At<B extends Block = Block> {
  readonly block: B;
  readonly iteration: string;
  readonly target?: number;
}

/** The latest counter or variant of each block in a pass, the items that it says have ended, and how it ended last. */
export interface Latest {
  readonly marks: ReadonlyMap<string, HistoryRow>;
  readonly items: ReadonlyMap<string, ReadonlySet<number>>;
  readonly ends: ReadonlyMap<string, HistoryRow>;
}

export function latestOf(rows: readonly HistoryRow[]): Latest {
  const of = (kinds: readonly HistoryRow['kind'][]): ReadonlyMap<string, HistoryRow> =>
    new Map(
      rows
        .filter(({ kind, attempt }) => kinds.includes(kind) && attempt >= 0)
        .map((row) => [recordKey(row.blockId, row.iteration), row]),
    );
  return { marks: of(['counter', 'variant']), items: itemsCounted(rows), ends: of(['node']) };
}

/** Each execution of a block begins with a counter of no item. */
function itemsCounted(rows: readonly HistoryRow[]): ReadonlyMap<string, ReadonlySet<number>> {
  const counted = new Map<string, Set<number>>();
  for (const { kind, blockId, iteration, output } of rows) {
    if (kind !== 'counter') continue;
    const key = recordKey(blockId, iteration);
    const item = numberIn(output, '_item', -1);
    const known = counted.get(key);
    if (item === -1 || known === undefined) counted.set(key, new Set(item === -1 ? [] : [item]));
    else known.add(item);
  }
  return counted;
}

/** How many items a for_each has, by its counters or by how it ended. */
export function totalOf({ marks, ends }: Latest, block: Block, iteration: string): number {
  const key = recordKey(block.id, iteration);
  const decision = member(ends.get(key)?.output, 'decision');
  return numberIn(marks.get(key)?.output, '_total', numberIn(decision, 'total', 0));
}
