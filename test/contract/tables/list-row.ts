import type { Body } from '../../api/support/api-fixture.ts';
import type { Seed } from '../support/list-seeds.ts';

/** `-name`: descending. */
export type OrderKey = string;

/** A list of http-api.md with its bounds and its order. */
export interface ListRow {
  readonly route: string;
  /** How many rows are shown when nothing is said; null: the list takes no limit. */
  readonly standard: number | null;
  readonly most: number;
  /** `limit=0` is cut to this; absent: an empty page. */
  readonly least?: number;
  readonly parameter?: string;
  readonly hasOffset: boolean;
  /** By what it is ordered, the tie-breaker last. */
  readonly order: readonly OrderKey[];
  readonly rowsOf?: (body: Body) => readonly Body[];
  readonly seed: Seed;
}
