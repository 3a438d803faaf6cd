import type { Store } from '../../src/ports/store/store.ts';

/** A store whose reads are not bounded, so that what a test changes of it holds for them too. */
export function wholeReads(store: Store): Store {
  const whole: Store = { ...store, withinBytes: () => whole };
  return whole;
}
