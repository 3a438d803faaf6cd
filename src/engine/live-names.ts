import type { LiveHandlers, LiveWithin } from '../ports/store/handler-names.ts';
import type { Store } from '../ports/store/store.ts';
import type { Clock } from '../ports/system.ts';
import { type LocalInstant, localInstant } from './lease.ts';

/** A build that nobody announced for 90 s is gone; a worker that polled within 120 s serves its names (RULINGS B8). */
export const LIVE_WITHIN: LiveWithin = { announcedWithinMs: 90_000, polledWithinMs: 120_000 };
/** Age at which the names are read again by a turn that needs one of them. */
const FRESH_MS = 5_000;

/** The handler names of all processes and workers, as the store last told them. */
export interface LiveNames {
  isAnnounced(name: string): boolean;
  isPolled(name: string): boolean;
  /**
   * False when these names must be read first: the answer is old, or it came before `sinceMs` (monotonic) and knows nobody
   * who has one of them. Since then a build may have come that has it.
   */
  areFresh(names: readonly string[], sinceMs: number): boolean;
  /** Reads the names, not earlier than `sinceMs`; calls share a read. Rejects as the store does. */
  refresh(sinceMs: number): Promise<void>;
  /** Takes an answer in, unless that of a later question is there already. */
  takeIn(askedAt: LocalInstant, answer: LiveHandlers): void;
}

interface Known {
  readonly askedAt: LocalInstant;
  readonly announced: ReadonlySet<string>;
  readonly polled: ReadonlySet<string>;
}

/** What a process last learned and said. Nothing in it is under way: invocations may share it. */
export interface NamesMemory {
  known: Known | null;
  announcedAt: LocalInstant | null;
}

export function createNamesMemory(): NamesMemory {
  return { known: null, announcedAt: null };
}

export function createLiveNames(
  store: Pick<Store, 'listLiveHandlers'>,
  clock: Clock,
  memory = createNamesMemory(),
): LiveNames {
  let reading: { readonly askedAtMs: number; readonly done: Promise<void> } | null = null;

  const isAnnounced = (name: string): boolean => memory.known?.announced.has(name) ?? false;
  const isPolled = (name: string): boolean => memory.known?.polled.has(name) ?? false;

  const takeIn: LiveNames['takeIn'] = (askedAt, { announced, polled }) => {
    const { known } = memory;
    if (known !== null && known.askedAt.monotonicMs > askedAt.monotonicMs) return;
    memory.known = { askedAt, announced: new Set(announced), polled: new Set(polled) };
  };

  return {
    isAnnounced,
    isPolled,
    takeIn,
    areFresh: (names, sinceMs) => {
      const { known } = memory;
      if (known === null || ageMs(clock, known.askedAt) >= FRESH_MS) return false;
      const isServed = (name: string): boolean => isAnnounced(name) || isPolled(name);
      return known.askedAt.monotonicMs >= sinceMs || names.every(isServed);
    },
    refresh: (sinceMs) => {
      if (reading !== null && reading.askedAtMs >= sinceMs) return reading.done;
      const askedAtMs = clock.monotonicMs();
      const askedAt = localInstant(clock);
      const read = async (): Promise<void> => takeIn(askedAt, await store.listLiveHandlers(LIVE_WITHIN));
      const mine = { askedAtMs, done: read() };
      const forget = (): void => {
        if (reading === mine) reading = null;
      };
      mine.done.then(forget, forget);
      reading = mine;
      return mine.done;
    },
  };
}

/** The monotonic clock of a host may stand still while it is suspended; the wall clock does not. */
export function ageMs(clock: Clock, at: LocalInstant): number {
  return Math.max(clock.monotonicMs() - at.monotonicMs, clock.nowMs() - at.wallMs);
}
