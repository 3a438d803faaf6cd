import type { Lease } from './lease.ts';
import type { TurnDeps } from './turn-deps.ts';
import { type TurnEnd, giveBack } from './turn-end.ts';

/** Without a commit between them: each means that another fact came in between, or that a change cannot be applied. */
const IN_A_ROW_MAX = 20;
/** In one turn, whatever it commits: then it starts nothing new, so that it comes to its end. */
const IN_A_TURN_MAX = 100;

/** How often a turn has read its instance afresh: it must not do so without end (RULINGS B7). */
export class Rereads {
  private inARow = 0;
  private inThisTurn = 0;

  count(hasCommitted: boolean): void {
    this.inARow = hasCommitted ? 1 : this.inARow + 1;
    this.inThisTurn += 1;
  }

  /** Nothing comes of it. While a handler runs the turn cannot come to its end, so that it may go on. */
  areInVain(calls: { readonly areOver: boolean }): boolean {
    return this.inARow >= IN_A_ROW_MAX || (calls.areOver && this.inThisTurn >= 2 * IN_A_TURN_MAX);
  }

  /** The turn should end and leave what comes next to another one. */
  get areMany(): boolean {
    return this.inThisTurn >= IN_A_TURN_MAX;
  }
}

/**
 * Ends a turn that reads afresh in vain. The lease is given back, and the claim counts as one without a committed change,
 * of which so many in a row pause the run (RULINGS B7). Where something of the turn is stored already, or a handler may
 * have been called, the lease runs out instead: whoever takes the run over is told that it may be a redelivery ([REC-2]).
 */
export async function endInVain(
  deps: TurnDeps,
  lease: Lease,
  now: number,
  { untouched }: { readonly untouched: boolean },
): Promise<TurnEnd> {
  deps.log.warn('a turn read its instance afresh again and again without a commit', {
    instance_id: lease.ref.instanceId,
  });
  if (!untouched) return { kind: 'broken', unavailable: false };
  return giveBack(deps, lease, now, { isHop: true });
}
