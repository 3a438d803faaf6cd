/** Lets everything run that is ready now: all microtasks, and what they start. */
const turnOfEvents = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/**
 * Time of a simulated world. It stands still while anything can happen, and then jumps to the next event. Calls that
 * really take time (a database) are tracked: time stands still until they have answered.
 */
export class VirtualTime {
  now: number;
  private events: Event[] = [];
  private order = 0;
  private readonly underWay = new Set<Promise<unknown>>();
  private readonly onAdvance: (ms: number) => Promise<void>;

  constructor(startAt: number, onAdvance: (ms: number) => Promise<void> = () => Promise.resolve()) {
    this.now = startAt;
    this.onAdvance = onAdvance;
  }

  /** Runs a callback at an instant; answers what cancels it. */
  at(instant: number, run: () => void): () => void {
    this.order += 1;
    const event: Event = { at: Math.max(instant, this.now), order: this.order, run };
    this.insert(event);
    return () => {
      const index = this.events.indexOf(event);
      if (index >= 0) this.events.splice(index, 1);
    };
  }

  /** Time stands still until this has settled. */
  track<T>(work: Promise<T>): Promise<T> {
    const settled = work.then(
      () => undefined,
      () => undefined,
    );
    this.underWay.add(settled);
    void settled.then(() => this.underWay.delete(settled));
    return work;
  }

  /** Lets happen all that can happen at this instant. */
  async calm(): Promise<void> {
    for (;;) {
      await turnOfEvents();
      if (this.underWay.size > 0) await Promise.race(this.underWay);
      else if (this.events[0] !== undefined && this.events[0].at <= this.now) this.events.shift()?.run();
      else return;
    }
  }

  /** Lets time pass until something holds; false when it does not by then. */
  async until(holds: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
    const end = this.now + withinMs;
    for (;;) {
      await this.calm();
      if (await holds()) return true;
      const next = this.events[0];
      if (next === undefined || next.at > end) break;
      await this.moveTo(next.at);
    }
    await this.moveTo(end);
    await this.calm();
    return holds();
  }

  async pass(ms: number): Promise<void> {
    await this.until(() => false, ms);
  }

  private async moveTo(instant: number): Promise<void> {
    const ms = instant - this.now;
    if (ms <= 0) return;
    this.now = instant;
    await this.onAdvance(ms);
  }

  /** Events are kept in order; most are set for the near future, but timers for the next sweep are not. */
  private insert(event: Event): void {
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.events[middle];
      if (other !== undefined && other.at <= event.at) low = middle + 1;
      else high = middle;
    }
    this.events.splice(low, 0, event);
  }
}
