import type { Claim, LeaseRef, TurnStore } from '../ports/store/turn.ts';
import type { Clock } from '../ports/system.ts';
import { uuidTimeMs } from './ids.ts';

/** After this share of a lease without a renewal nothing new is started (RULINGS A23). */
const SAFE_SHARE = 2 / 3;

/** An instant on both clocks of this process. */
export interface LocalInstant {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export function localInstant(clock: Clock): LocalInstant {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
}

/**
 * The lease of a turn as this process sees it. A frozen process wakes up with a lease that may be gone: both clocks are
 * asked, because one may have stood still while the other ran (RULINGS A23).
 */
export interface Lease {
  readonly ref: LeaseRef;
  /** Milliseconds for which a call may still run under this lease; 0 or less: not at all. */
  leftMs(): number;
  /** How long it was given for, at the claim or by the last renewal. */
  readonly lengthMs: number;
  /** True while something new may be started. */
  maySpend(): boolean;
  /** The store moved the end of the lease to now + leaseMs; it was asked at `askedAt`. */
  renewed(leaseMs: number, askedAt: LocalInstant): void;
  /** The store no longer knows the lease. */
  lose(): void;
  readonly isLost: boolean;
}

/**
 * The lease of a claim. It began when the claim was asked for, not when the answer came: a process that was frozen in
 * between holds nothing any more. The token was made right before the claim and says when that was (RULINGS A24).
 */
export function leaseOf(claim: Claim, now: number, clock: Clock): Lease {
  let lengthMs = claim.leaseUntil - now;
  let since: LocalInstant = { monotonicMs: clock.monotonicMs(), wallMs: uuidTimeMs(claim.leaseToken) };
  let lost = false;
  const elapsedMs = (): number =>
    Math.max(clock.monotonicMs() - since.monotonicMs, clock.nowMs() - since.wallMs);
  return {
    ref: {
      tenantId: claim.tenantId,
      instanceId: claim.instanceId,
      epoch: claim.epoch,
      leaseToken: claim.leaseToken,
    },
    get lengthMs() {
      return lengthMs;
    },
    leftMs: () => (lost ? 0 : lengthMs - elapsedMs()),
    maySpend: () => !lost && elapsedMs() < lengthMs * SAFE_SHARE,
    renewed: (leaseMs, askedAt) => {
      lengthMs = leaseMs;
      since = askedAt;
    },
    lose: () => {
      lost = true;
    },
    get isLost() {
      return lost;
    },
  };
}

/**
 * True when something new may be started, if need be after the store has prolonged the lease: while nobody has taken it
 * over, a late commit is still taken, and it must not say of a call that it could not be made. Rejects when the store does
 * not answer.
 */
export async function mayStillSpend(
  { store, clock }: { readonly store: Pick<TurnStore, 'renewLeases'>; readonly clock: Clock },
  lease: Lease,
): Promise<boolean> {
  if (lease.maySpend() || lease.isLost) return !lease.isLost;
  const askedAt = localInstant(clock);
  const kept = await store.renewLeases([lease.ref], lease.lengthMs);
  if (!kept.has(lease.ref.instanceId)) return false;
  lease.renewed(lease.lengthMs, askedAt);
  return lease.maySpend();
}
