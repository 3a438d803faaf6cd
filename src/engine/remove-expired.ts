import type { Store } from '../ports/store/store.ts';

/** Rows of each kind that one statement removes. */
const ROWS = 1000;
/**
 * Statements of one sweep. One alone would be outrun by 17 requests a second with an idempotency key where sweeps come once a
 * minute; so many keep up with 330.
 */
const ROUNDS_MAX = 20;

/**
 * Removes what has expired, as long as there is more and time for it. The rest is left to the next sweep.
 *
 * @param hasTime Asked before each further statement.
 */
export async function removeExpired(
  store: Pick<Store, 'removeExpired'>,
  hasTime: () => boolean,
): Promise<void> {
  for (let round = 1; ; round += 1) {
    // A kind that is full alone makes the sum of all kinds as large; others may do so too, which costs one statement in vain.
    const removed = await store.removeExpired(ROWS);
    if (removed < ROWS || round >= ROUNDS_MAX || !hasTime()) return;
  }
}
