import type { Store } from '../../src/ports/store/store.ts';

/** A store with a clock in the test's hands: it stands still but for `advanceClock`, so that instants can be exact. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Moves the store's clock forward. */
  readonly advanceClock: (ms: number) => Promise<void>;
  /** Rows per table that no read shows; a store that cannot count leaves it out. */
  rawCounts?(): Promise<Readonly<Record<string, number>>>;
  /** Empties all tables, where that is cheaper than a new store. Without it every test gets a new one. */
  reset?(): Promise<void>;
  close(): Promise<void>;
}

export type MakeStore = () => Promise<StoreUnderTest>;
