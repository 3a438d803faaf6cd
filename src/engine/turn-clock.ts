import type { Clock } from '../ports/system.ts';

/** Database time inside a turn: the last answer's instant, carried on by the monotonic clock (RULINGS A25). */
export class TurnClock {
  private readonly clock: Clock;
  private answeredAt: number;
  private monotonicMs: number;

  constructor(clock: Clock, now: number) {
    this.clock = clock;
    this.answeredAt = now;
    this.monotonicMs = clock.monotonicMs();
  }

  /** `heardAtMs`: when the answer with this instant came, on the monotonic clock; default: just now. */
  sync(now: number, heardAtMs: number = this.clock.monotonicMs()): void {
    this.answeredAt = now;
    this.monotonicMs = heardAtMs;
  }

  now(): number {
    return Math.floor(this.answeredAt + this.clock.monotonicMs() - this.monotonicMs);
  }
}
