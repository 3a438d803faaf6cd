/**
 * Which handlers run in process somewhere (RULINGS B8). Names belong to the installation and not to a tenant. A name is
 * alive as long as a build that has it goes on announcing it; nobody takes names back.
 */
export interface HandlerNameStore {
  /**
   * Writes down that a process of this build has these handlers now, and answers what is alive after that, its own names
   * included. A name that was announced less than 10 s ago may keep the instant of that announcement. Names that nobody
   * has announced for a day are forgotten.
   */
  announceHandlers(announcement: HandlerAnnouncement, within: LiveWithin): Promise<LiveHandlers>;
  /** Names of all builds and workers that are alive, over all tenants. One round trip. */
  listLiveHandlers(within: LiveWithin): Promise<LiveHandlers>;
}

export interface HandlerAnnouncement {
  /** The same in all processes that run the same handlers. */
  readonly buildId: string;
  readonly handlers: readonly AnnouncedHandler[];
}

export interface AnnouncedHandler {
  readonly name: string;
  /** `pure` has no outside effect; what runs by the engine itself (`sleep`) is an `effect`. */
  readonly kind: 'pure' | 'effect';
}

/** How long ago a sign of life may be, in milliseconds of database time; exactly so long ago still counts. */
export interface LiveWithin {
  readonly announcedWithinMs: number;
  readonly polledWithinMs: number;
}

/** Each list is sorted by code points, without repeats, and holds at most 10 000 names. */
export interface LiveHandlers {
  /** A process of some build runs these. */
  readonly announced: readonly string[];
  /** A worker polled for these. */
  readonly polled: readonly string[];
}
