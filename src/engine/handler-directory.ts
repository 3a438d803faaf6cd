import type { HandlerKind } from '../core/run/draft.ts';
import type { Plan } from '../core/run/plan.ts';
import type { AnnouncedHandler, LiveHandlers } from '../ports/store/handler-names.ts';
import type { Store } from '../ports/store/store.ts';
import type { Said } from '../ports/store/sweeps.ts';
import type { Clock, Log } from '../ports/system.ts';
import type { HandlerRegistry } from './handlers/registry.ts';
import { localInstant } from './lease.ts';
import {
  type LiveNames,
  LIVE_WITHIN,
  type NamesMemory,
  ageMs,
  createLiveNames,
  createNamesMemory,
} from './live-names.ts';

/** Processes announce at least this often, well within the time after which their build counts as gone. */
export const ANNOUNCE_EVERY_MS = 60_000;

/**
 * Who runs which handler name (RULINGS B8): this process by its registry, and the others by the table of names, of which
 * the last answer is kept in memory. Turns whose handlers are all in this process never read it.
 */
export interface HandlerDirectory {
  /** Who executes a handler of this name. */
  kindOf(name: string): HandlerKind;
  /** Says which handlers this process has and takes in what the others said. A failure is logged; it never rejects. */
  announce(): Promise<void>;
  /** As `announce`, with a call that says it along. Rejects as the call does. */
  announceWith<T extends { readonly live: LiveHandlers | null }>(
    ask: (announcement: NonNullable<Said['announcement']>) => Promise<T>,
  ): Promise<T>;
  /** As `announce`, for hosts without a loop: does nothing when this process has announced lately. */
  announceWhenDue(): Promise<void>;
  /**
   * False when `kindOf` may not be asked about the handlers of this plan before a `refresh`. `sinceMs` (monotonic) is when
   * the turn began: what nobody had before that is looked for once more.
   */
  isFreshFor(plan: Plan, sinceMs: number): boolean;
  /** Reads the names of the others, not earlier than `sinceMs`; calls share a read. Rejects as the store does. */
  refresh(sinceMs: number): Promise<void>;
}

interface DirectoryParts {
  readonly store: Pick<Store, 'announceHandlers' | 'listLiveHandlers'>;
  readonly handlers: HandlerRegistry;
  readonly buildId: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Default: one of its own. */
  readonly memory?: NamesMemory;
}

export function createHandlerDirectory(parts: DirectoryParts): HandlerDirectory {
  const { store, handlers, buildId, clock, log, memory = createNamesMemory() } = parts;
  const own = handlers.names.map((name): AnnouncedHandler => ({ name, kind: announcedKind(handlers, name) }));
  const foreign = new WeakMap<Plan, readonly string[]>();
  const live = createLiveNames(store, clock, memory);

  const announceWith: HandlerDirectory['announceWith'] = async (ask) => {
    const askedAt = localInstant(clock);
    const answer = await ask({ buildId, handlers: own, within: LIVE_WITHIN });
    if (answer.live !== null) live.takeIn(askedAt, answer.live);
    memory.announcedAt = askedAt;
    return answer;
  };
  const announce = async (): Promise<void> => {
    try {
      await announceWith(async ({ within, ...said }) => ({
        live: await store.announceHandlers(said, within),
      }));
    } catch (error) {
      log.warn('the handlers of this process could not be announced', { error: String(error) });
    }
  };

  return {
    kindOf: (name) => kindOf(handlers, live, name),
    announce,
    announceWith,
    announceWhenDue: () => {
      const { announcedAt } = memory;
      const isDue = announcedAt === null || ageMs(clock, announcedAt) >= ANNOUNCE_EVERY_MS;
      return isDue ? announce() : Promise.resolve();
    },
    isFreshFor: (plan, sinceMs) => {
      const names = foreign.get(plan) ?? foreignNames(plan, handlers);
      foreign.set(plan, names);
      return names.length === 0 || live.areFresh(names, sinceMs);
    },
    refresh: (sinceMs) => live.refresh(sinceMs),
  };
}

function announcedKind(handlers: HandlerRegistry, name: string): AnnouncedHandler['kind'] {
  const found = handlers.lookup(name);
  return found.type === 'handler' ? found.handler.kind : 'effect';
}

/** Names of a plan that this process lacks. */
function foreignNames(plan: Plan, handlers: HandlerRegistry): readonly string[] {
  const names = plan.inOrder.flatMap(({ block }) => (block.type === 'step' ? [block.handler] : []));
  return [...new Set(names)].filter((name) => {
    const { type } = handlers.lookup(name);
    return type === 'unknown' || type === 'unavailable';
  });
}

function kindOf(handlers: HandlerRegistry, live: LiveNames, name: string): HandlerKind {
  const found = handlers.lookup(name);
  switch (found.type) {
    case 'handler':
      // A user's pure handler may take its time: it runs beside the turn like any other call, not inside it.
      return handlers.userNames.includes(name) ? 'effect' : found.handler.kind;
    case 'engine':
      return 'effect';
    case 'unavailable':
      if (live.isAnnounced(name)) return 'elsewhere';
      // A worker may stand in for a built-in of a later version, but not for a plugin.
      return found.failure.code === 'HANDLER_NOT_AVAILABLE' && live.isPolled(name) ? 'worker' : 'unavailable';
    case 'unknown':
      return live.isAnnounced(name) ? 'elsewhere' : 'worker';
  }
}
