import type { Json } from '../../core/json.ts';
import type { CollectedItem } from '../../core/run/fan-out-knowledge.ts';
import type { NodeRow } from '../../core/run/output-row.ts';
import type { InstanceKey } from './reads.ts';

export type { CollectedItem } from '../../core/run/fan-out-knowledge.ts';

/**
 * Reads of blocks whose items run side by side (RULINGS B25). A pass stands for itself and for the passes inside it. What
 * each of them costs does not depend on the number of items.
 */
export interface ItemStore {
  /** As `readOutputs`, each block as one pass sees it; a block without a row there is absent. One statement. */
  readOutputsWithin(key: InstanceKey, wanted: readonly WithinPass[]): Promise<readonly OutputWithin[]>;
  /** Values whose keys are `prefix` and digits, from the key `from` on, in the order of the keys. */
  readValues(
    key: InstanceKey,
    range: { readonly prefix: string; readonly from: string; readonly count: number },
  ): Promise<readonly { readonly key: string; readonly value: Json }[]>;
  /**
   * What the items from..from+count-1 have put out, in that order. The member `error` of a stored failure comes before any
   * row.
   */
  readCollected(key: InstanceKey, query: CollectedQuery): Promise<readonly CollectedItem[]>;
  /** As `listNodeRows`, each block as one pass sees it. null: no such instance. */
  listNodeRowsWithin(
    tenantId: string | null,
    id: string,
    wanted: readonly WithinPass[],
  ): Promise<readonly NodeRow[] | null>;
}

export interface WithinPass {
  readonly pass: string;
  readonly blockId: string;
}

export interface OutputWithin extends WithinPass {
  readonly output: Json;
}

export interface CollectedQuery {
  /** Path of a pass of the block without its number: `each:`. */
  readonly start: string;
  readonly from: number;
  readonly count: number;
  /** Blocks whose `result` or `escalation` rows count, in document order; the last one that has a row speaks. */
  readonly blocks: readonly string[];
  /** Beginning of the keys under which failed items are stored; their index follows in six digits. */
  readonly failed: string;
}
