import type { Clock } from '../ports/system.ts';

/** Where a turn waits, and where others wait for it. */
export class TurnWaits {
  private readonly clock: Clock;
  private resume: (() => void) | null = null;
  private calmed: (() => void)[] = [];
  private over = false;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  get isWaiting(): boolean {
    return this.resume !== null;
  }

  /** Nothing of the turn comes any more. */
  get isOver(): boolean {
    return this.over;
  }

  /** Ends the wait of the turn, if it waits. */
  interrupt(): void {
    this.resume?.();
  }

  /** Resolves when the turn waits next, or is over. */
  calm(): Promise<void> {
    return this.over ? Promise.resolve() : new Promise<void>((resolve) => this.calmed.push(resolve));
  }

  /** The turn is over: nobody waits for it any more. */
  end(): void {
    this.over = true;
    this.becomeCalm();
  }

  private becomeCalm(): void {
    const waiting = this.calmed;
    this.calmed = [];
    for (const resolve of waiting) resolve();
  }

  /** Waits for an interruption, or for so many milliseconds. */
  async wait(delayMs: number | null): Promise<void> {
    this.becomeCalm();
    let disarm = (): void => undefined;
    await new Promise<void>((resolve) => {
      this.resume = resolve;
      if (delayMs !== null) disarm = this.clock.after(delayMs, resolve);
    });
    disarm();
    this.resume = null;
  }
}
