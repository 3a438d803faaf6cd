import type { HandlerAnnouncement, LiveHandlers, LiveWithin } from './handler-names.ts';

/** What a sweep asks first: which kinds of work there are. */
export interface SweepStore {
  /**
   * One statement, whose cost does not depend on how much there is. What a process has to say goes along: its handlers
   * (as `announceHandlers`) and its sign of life (as `heartbeatNode`). Nothing else is changed.
   */
  lookForWork(said: Said): Promise<WorkLook>;
}

export interface Said {
  /** `within`: which handlers count as alive afterwards. */
  readonly announcement?: HandlerAnnouncement & { readonly within: LiveWithin };
  readonly beat?: NodeBeat;
}

export interface NodeBeat {
  readonly id: string;
  readonly name: string;
  /** Nodes that were silent for so long are stopped; null: they are not looked for. */
  readonly silentMs: number | null;
}

/** Instants of database time; null where there is nothing of the kind. */
export interface WorkLook {
  readonly now: number;
  /** The least `due_at` of the instances without a lease, and the least that is still to come. */
  readonly dueAt: number | null;
  readonly laterAt: number | null;
  readonly leaseUntil: number | null;
  /** When the first schedule has to be looked at. */
  readonly scheduleAt: number | null;
  /** The last sign of life of the claimed worker task that has been silent for longest. */
  readonly taskHeardAt: number | null;
  /** When the first webhook is to be sent, or its sender counts as dead. */
  readonly webhookAt: number | null;
  /** There is something for `removeExpired`. */
  readonly hasExpired: boolean;
  /** What is alive after an announcement; null without one. */
  readonly live: LiveHandlers | null;
  /** Whether the node is to drain; null without a sign of life. */
  readonly drains: boolean | null;
}
