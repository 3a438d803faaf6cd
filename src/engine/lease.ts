import type { Claim, LeaseRef } from '../ports/store/turn.ts';
import type { Clock } from '../ports/system.ts';

/** After this share of a lease without a renewal nothing new is started (RULINGS A23). */
const SAFE_SHARE = 2 / 3;

/**
 * The lease of a turn as this process sees it. A frozen process wakes up with a lease that may be gone: both clocks are
 * asked, because one may have stood still while the other ran (RULINGS A23).
 */
export interface Lease {
  readonly ref: LeaseRef;
  /** Milliseconds for which a call may still run under this lease; 0 or less: not at all. */
  leftMs(): number;
  /** True while something new may be started. */
  maySpend(): boolean;
  /** The store moved the end of the lease to now + leaseMs. */
  renewed(leaseMs: number): void;
  /** The store no longer knows the lease. */
  lose(): void;
}

export function leaseOf(claim: Claim, now: number, clock: Clock): Lease {
  let lengthMs = claim.leaseUntil - now;
  let monotonicAt = clock.monotonicMs();
  let wallAt = clock.nowMs();
  let lost = false;
  const elapsedMs = (): number => Math.max(clock.monotonicMs() - monotonicAt, clock.nowMs() - wallAt);
  return {
    ref: {
      tenantId: claim.tenantId,
      instanceId: claim.instanceId,
      epoch: claim.epoch,
      leaseToken: claim.leaseToken,
    },
    leftMs: () => (lost ? 0 : lengthMs - elapsedMs()),
    maySpend: () => !lost && elapsedMs() < lengthMs * SAFE_SHARE,
    renewed: (leaseMs) => {
      lengthMs = leaseMs;
      monotonicAt = clock.monotonicMs();
      wallAt = clock.nowMs();
    },
    lose: () => {
      lost = true;
    },
  };
}
