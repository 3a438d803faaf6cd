import type { HandlerKind } from '../core/run/draft.ts';
import type { Plan } from '../core/run/plan.ts';
import type { AnnouncedHandler, LiveHandlers, LiveWithin } from '../ports/store/handler-names.ts';
import type { Store } from '../ports/store/store.ts';
import type { Clock, Log } from '../ports/system.ts';
import type { HandlerRegistry } from './handlers/registry.ts';

/** A build that nobody announced for 90 s is gone; a worker that polled within 120 s serves its names (RULINGS B8). */
export const LIVE_WITHIN: LiveWithin = { announcedWithinMs: 90_000, polledWithinMs: 120_000 };
/** Processes announce at least this often, well within the time after which they count as gone. */
export const ANNOUNCE_EVERY_MS = 60_000;
/** Age of the names at which a turn that needs a foreign one has them read again. */
const FRESH_MS = 5_000;

/**
 * Who runs which handler name (RULINGS B8): this process by its registry, and the others by the table of names, of which
 * the last answer is kept in memory. Turns whose handlers are all in this process never read it.
 */
export interface HandlerDirectory {
  /** Who executes a handler of this name. */
  kindOf(name: string): HandlerKind;
  /** Says which handlers this process has and takes in what the others said. A failure is logged; it never rejects. */
  announce(): Promise<void>;
  /** As `announce`, for hosts without a loop: does nothing when this process has announced lately. */
  announceWhenDue(): Promise<void>;
  /** False when `kindOf` may not be asked about the handlers of this plan before a `refresh`. */
  isFreshFor(plan: Plan): boolean;
  /** Reads the names of the others; calls at the same time share one read. Rejects as the store does. */
  refresh(): Promise<void>;
}

export interface DirectoryParts {
  readonly store: Pick<Store, 'announceHandlers' | 'listLiveHandlers'>;
  readonly handlers: HandlerRegistry;
  readonly buildId: string;
  readonly clock: Clock;
  readonly log: Log;
}

interface Known {
  readonly askedAt: number;
  readonly announced: ReadonlySet<string>;
  readonly polled: ReadonlySet<string>;
}

export function createHandlerDirectory({
  store,
  handlers,
  buildId,
  clock,
  log,
}: DirectoryParts): HandlerDirectory {
  const own = handlers.names.map((name): AnnouncedHandler => ({ name, kind: announcedKind(handlers, name) }));
  const foreign = new WeakMap<Plan, boolean>();
  let known: Known | null = null;
  let announcedAt: number | null = null;
  let reading: Promise<void> | null = null;

  const takeIn = async (ask: () => Promise<LiveHandlers>): Promise<void> => {
    const askedAt = clock.monotonicMs();
    const { announced, polled } = await ask();
    // Answers may come in another order than they were asked for.
    if (known !== null && known.askedAt > askedAt) return;
    known = { askedAt, announced: new Set(announced), polled: new Set(polled) };
  };

  const announce = async (): Promise<void> => {
    const askedAt = clock.monotonicMs();
    try {
      await takeIn(() => store.announceHandlers({ buildId, handlers: own }, LIVE_WITHIN));
      announcedAt = askedAt;
    } catch (error) {
      log.warn('the handlers of this process could not be announced', { error: String(error) });
    }
  };

  return {
    kindOf: (name) => kindOf(handlers, known, name),
    announce,
    announceWhenDue: () => {
      const due = announcedAt === null || clock.monotonicMs() - announcedAt >= ANNOUNCE_EVERY_MS;
      return due ? announce() : Promise.resolve();
    },
    isFreshFor: (plan) => {
      const hasForeign = foreign.get(plan) ?? usesForeignNames(plan, handlers);
      foreign.set(plan, hasForeign);
      return !hasForeign || (known !== null && clock.monotonicMs() - known.askedAt < FRESH_MS);
    },
    refresh: () => {
      reading ??= takeIn(() => store.listLiveHandlers(LIVE_WITHIN)).finally(() => {
        reading = null;
      });
      return reading;
    },
  };
}

function announcedKind(handlers: HandlerRegistry, name: string): AnnouncedHandler['kind'] {
  const found = handlers.lookup(name);
  return found.type === 'handler' ? found.handler.kind : 'effect';
}

function usesForeignNames(plan: Plan, handlers: HandlerRegistry): boolean {
  return [...plan.nodes.values()].some(({ block }) => {
    if (block.type !== 'step') return false;
    const { type } = handlers.lookup(block.handler);
    return type === 'unknown' || type === 'unavailable';
  });
}

function kindOf(handlers: HandlerRegistry, known: Known | null, name: string): HandlerKind {
  const found = handlers.lookup(name);
  switch (found.type) {
    case 'handler':
      // A user's pure handler may take its time: it runs beside the turn like any other call, not inside it.
      return handlers.userNames.includes(name) ? 'effect' : found.handler.kind;
    case 'engine':
      return 'effect';
    case 'unavailable':
      if (known?.announced.has(name) === true) return 'elsewhere';
      // A worker may stand in for a built-in of a later version, but not for a plugin.
      return found.failure.code === 'HANDLER_NOT_AVAILABLE' && known?.polled.has(name) === true
        ? 'worker'
        : 'unavailable';
    case 'unknown':
      return known?.announced.has(name) === true ? 'elsewhere' : 'worker';
  }
}
