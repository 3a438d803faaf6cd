import type { Hints } from '../ports/hints.ts';
import type { Store } from '../ports/store/store.ts';
import type { Claim } from '../ports/store/turn.ts';
import type { Clock } from '../ports/system.ts';
import type { Lease } from './lease.ts';
import type { TurnClock } from './turn-clock.ts';
import type { TurnReads } from './turn-reads.ts';
import { giveLeasesBack } from './turn-effects.ts';
import { untilTold } from './until-answered.ts';

/** What reading again needs of a turn. */
export interface Reading {
  readonly reads: TurnReads;
  readonly store: Pick<Store, 'releaseLeases'>;
  readonly hints: Hints;
  readonly lease: Lease;
  readonly clock: Clock;
  /** Hears the instant of the answer. */
  readonly turnClock: TurnClock;
}

/**
 * RULINGS A24: the lease token claims again what it holds, and reads it afresh. null: the lease is lost. Where it was taken
 * away and the instance is due by now, the claim is a new one that this turn has no use for: it goes back at once.
 */
export async function readAgain(reading: Reading): Promise<Claim | null> {
  const { reads, store, hints, lease, clock, turnClock } = reading;
  const { ref } = lease;
  const answer = await reads.claimOne({
    tenantId: ref.tenantId,
    instanceId: ref.instanceId,
    leaseToken: ref.leaseToken,
    leaseOwner: '',
    leaseMs: Math.max(1, Math.round(lease.leftMs())),
    mode: 'hint',
  });
  if (answer.status !== 'claimed') return null;
  if (answer.claim.epoch !== ref.epoch) {
    await untilTold(clock, () => giveLeasesBack({ store, hints }, [answer.claim]));
    return null;
  }
  turnClock.sync(answer.now);
  return answer.claim;
}
