import type { Draft } from '../core/run/draft.ts';
import type { CallOutcome } from './handler-call.ts';
import type { Lease } from './lease.ts';
import { STEPS_PER_TURN_AT_ONCE, type TurnDeps } from './turn-deps.ts';
import { type PriorityYield, createPriorityYield } from './yield-to-priority.ts';

/** Bounds of what pure leaves may gather before a commit (RULINGS A38). */
const PURE_LEAVES_PER_COMMIT = 64;
const PURE_BYTES_PER_COMMIT = 256 * 1024;
const PURE_MS_PER_COMMIT = 100;
/** No new leaf is started with less than this left of the invocation ([TURN-4]). */
export const RESERVE_MS = 5_000;
/** A fresh invocation offers no more than one that still has this share of its time. */
const FRESH_SHARE = 0.9;

/**
 * A call without a timeout of its own may need as long as a function has. It is begun while this share of the time is left,
 * or a long run would begin its last one with seconds to go, and cut it off.
 */
const UNTIMED_SHARE = 0.5;

/** What a turn may still start: lease, time of the invocation, steps of the invocation, slots of the process. */
export class TurnBudget {
  private readonly deps: TurnDeps;
  private readonly lease: Lease;
  private stepsStarted = 0;
  private pureLeaves = 0;
  private pureBytes = 0;
  private pureSince = 0;
  private stopped = false;
  private readonly priority: PriorityYield;
  /** Nothing is begun until what runs has ended: a migration waits. */
  isHeld = false;

  constructor(deps: TurnDeps, lease: Lease) {
    this.deps = deps;
    this.lease = lease;
    this.priority = createPriorityYield(deps);
  }

  stop(): void {
    this.stopped = true;
  }

  /** Between root blocks: when higher work is due, what is ready is left for a later turn and this one ends (13.1). */
  async yieldToHigher(draft: Draft): Promise<void> {
    if (!(await this.priority.isDue(draft))) return;
    this.stopped = true;
    draft.withdraw();
    draft.runnableLeft = true;
  }

  /** Whether that has to be asked now. */
  mayYield(draft: Draft): boolean {
    return draft.ready.length > 0 && this.priority.mayBeDue(draft);
  }

  mayStart(): boolean {
    const { maxStepsPerTurn, remainingTimeMs } = this.deps.limits;
    if (this.stopped || this.isHeld || !this.lease.maySpend()) return false;
    if (remainingTimeMs !== null && remainingTimeMs() < RESERVE_MS) return false;
    return maxStepsPerTurn === 0 || this.stepsStarted < maxStepsPerTurn;
  }

  /** Effect leaves that may begin beside those that run. */
  room(running: number): number {
    if (!this.mayStart()) return 0;
    const { maxStepsPerTurn } = this.deps.limits;
    const left = maxStepsPerTurn === 0 ? STEPS_PER_TURN_AT_ONCE : maxStepsPerTurn - this.stepsStarted;
    return Math.min(STEPS_PER_TURN_AT_ONCE - running, this.deps.steps.free(), left);
  }

  /**
   * False when the timeout of a call (null: it has none) does not fit into the invocation, while a fresh one would offer more
   * ([TURN-4], RULINGS B5). Then this turn begins nothing else either: it ends when what runs has ended.
   */
  fits(timeoutMs: number | null): boolean {
    const { remainingTimeMs, freshTimeMs } = this.deps.limits;
    if (remainingTimeMs === null) return true;
    const leftMs = remainingTimeMs();
    const neededMs = timeoutMs === null ? freshTimeMs * UNTIMED_SHARE : timeoutMs + RESERVE_MS;
    const fits = neededMs <= leftMs || leftMs > freshTimeMs * FRESH_SHARE;
    if (!fits) this.stopped = true;
    return fits;
  }

  countEffect(): void {
    this.stepsStarted += 1;
  }

  countPure(outcome: CallOutcome): void {
    if (this.pureLeaves === 0) this.pureSince = this.deps.clock.monotonicMs();
    this.stepsStarted += 1;
    this.pureLeaves += 1;
    if (outcome.ok) this.pureBytes += JSON.stringify(outcome.output).length;
  }

  /** Pure leaves have gathered enough: their rows go now. */
  get commitIsDue(): boolean {
    if (this.pureLeaves === 0) return false;
    return (
      this.pureLeaves >= PURE_LEAVES_PER_COMMIT ||
      this.pureBytes >= PURE_BYTES_PER_COMMIT ||
      this.deps.clock.monotonicMs() - this.pureSince >= PURE_MS_PER_COMMIT
    );
  }

  committed(): void {
    this.pureLeaves = 0;
    this.pureBytes = 0;
  }
}
