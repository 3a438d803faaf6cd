import type { Leaf } from './frame.ts';
import { type NewWait, type Outside, nothingOutside, reachesOut } from './outside.ts';

/** What a draft wants done beyond its own instance with the next commit. */
export class OutsideDraft {
  private gathered = nothingOutside();

  /** What a step reaches is committed before anything else happens. */
  get reaches(): boolean {
    return reachesOut(this.gathered);
  }

  add(outside: Partial<Outside>): void {
    this.gathered.signals.push(...(outside.signals ?? []));
    this.gathered.emits.push(...(outside.emits ?? []));
    this.gathered.takes.push(...(outside.takes ?? []));
  }

  openWait(wait: NewWait): void {
    this.gathered.waits.push(wait);
  }

  /**
   * A leaf that waited for events changes or goes: however its gate was left, nobody matches events with its wait any more
   * ([WAIT-6]). One that this commit was to register is not registered at all.
   */
  leafChanges(before: Leaf | null | undefined, after: Leaf | null): void {
    const left = before?.gate?.waitId;
    if (left === undefined || after?.gate?.waitId === left) return;
    const kept = this.gathered.waits.filter(({ id }) => id !== left);
    if (kept.length === this.gathered.waits.length) this.gathered.waitsClosed.push(left);
    this.gathered.waits = kept;
  }

  /** What the next commit carries; undefined for nothing. */
  take(): Outside | undefined {
    const { gathered } = this;
    const waits = gathered.waits.length + gathered.waitsClosed.length;
    if (waits === 0 && !reachesOut(gathered)) return undefined;
    this.gathered = nothingOutside();
    return gathered;
  }
}
