import type { Clock } from '../../../src/ports/system.ts';
import type { VirtualTime } from './virtual-time.ts';

/**
 * What a simulated process sees of the world. After a crash nothing of it happens any more; while it is frozen nothing
 * happens, and everything that became ready meanwhile happens when it thaws.
 */
export class ProcessGate {
  readonly time: VirtualTime;
  readonly name: string;
  private dead = false;
  private frozenUntil = Number.NEGATIVE_INFINITY;
  private readonly skewMs: number;

  constructor(time: VirtualTime, name: string, skewMs = 0) {
    this.time = time;
    this.name = name;
    this.skewMs = skewMs;
  }

  get isAlive(): boolean {
    return !this.dead;
  }

  get isFrozen(): boolean {
    return this.frozenUntil > this.time.now;
  }

  crash(): void {
    this.dead = true;
  }

  freeze(forMs: number): void {
    this.frozenUntil = Math.max(this.frozenUntil, this.time.now + forMs);
  }

  /** Runs now, when the process thaws, or never. */
  pass(run: () => void): void {
    if (this.dead) return;
    if (this.isFrozen) this.time.at(this.frozenUntil, () => this.pass(run));
    else run();
  }

  readonly clock: Clock = {
    nowMs: () => this.time.now + this.skewMs,
    // The machine has been up for a while; nothing may take it for the wall clock.
    monotonicMs: () => this.time.now - 1_700_000_000_000,
    soon: (callback) => {
      this.time.at(this.time.now, () => this.pass(callback));
    },
    after: (delayMs, callback) =>
      this.time.at(this.time.now + Math.max(0, Math.ceil(delayMs)), () => this.pass(callback)),
  };
}
