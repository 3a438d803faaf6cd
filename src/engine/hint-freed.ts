import type { Hints } from '../ports/hints.ts';
import type { FreedSlots } from '../ports/store/turn.ts';

/** Who got a concurrency slot that a claim or a release has freed is due now ([CONC-3]). */
export function hintFreed({ hints }: { readonly hints: Hints }, { given = [] }: FreedSlots): void {
  if (given.length > 0) hints.send(given.map((target) => ({ ...target, delayMs: 0 })));
}
