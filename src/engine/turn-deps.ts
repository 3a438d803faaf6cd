import type { BreakerRule } from '../core/run/limits/takes.ts';
import type { WebhookTargets } from '../core/webhook-events.ts';
import type { Hints } from '../ports/hints.ts';
import type { Seal } from '../ports/seal.ts';
import type { Store } from '../ports/store/store.ts';
import type { Clock, Entropy, Log } from '../ports/system.ts';
import type { NodePresence } from './cluster/cluster-node.ts';
import type { Company } from './company.ts';
import type { Committer } from './committer.ts';
import type { Counters } from './counters.ts';
import type { Definitions } from './definitions.ts';
import type { HandlerDirectory } from './handler-directory.ts';
import type { HandlerRegistry } from './handlers/registry.ts';
import type { IdSource } from './ids.ts';
import type { WebhookSender } from './webhooks/webhook-sender.ts';

/** What turns work with; one per process. */
export interface TurnDeps {
  readonly store: Store;
  readonly committer: Committer;
  readonly counters: Counters;
  readonly definitions: Definitions;
  readonly handlers: HandlerRegistry;
  readonly directory: HandlerDirectory;
  readonly hints: Hints;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  /** Opens credentials; absent: none can be used. */
  readonly seal?: Seal;
  readonly steps: StepSlots;
  readonly company: Company;
  /** This process in the cluster; absent: it is not shown there. */
  readonly node?: NodePresence;
  /** Sends webhooks; absent in a process that has no way to the outside. */
  readonly outbox?: WebhookSender;
  readonly limits: TurnLimits;
}

export interface TurnLimits {
  /** 0 switches the check off. */
  readonly maxContextBytes: number;
  readonly maxOutputBytes: number;
  /** Leaves started in one turn; 0 = no limit, 1 = strictly one step per invocation (RULINGS B5). */
  readonly maxStepsPerTurn: number;
  /** Handler attempts of one run, after which it fails; 0 or absent: no limit ([END-1]). */
  readonly maxStepsPerInstance?: number;
  /** When circuit breakers open, and for how long; absent: 5 failures, 60 s ([CB-2]). */
  readonly breakers?: BreakerRule;
  /** Where ends and alerts are told; absent: nowhere (http-api.md 21). */
  readonly webhooks?: WebhookTargets;
  /** Take-overs in a row before the run is given up; 0 = never ([REC-3]). */
  readonly maxRecoveries: number;
  /** A parked sleep or short wait up to this long is served in place when nothing else can run (RULINGS B6). */
  readonly inPlaceWaitMs: number;
  /** Milliseconds the host leaves this invocation; null in a process that lives on. */
  readonly remainingTimeMs: (() => number) | null;
  /** What the host leaves a fresh invocation. */
  readonly freshTimeMs: number;
}

/** Slots for handlers over all turns of the process (STEPWELL_MAX_CONCURRENT_STEPS). */
export interface StepSlots {
  free(): number;
  /** Takes so many, or none when there are not enough. Taken before the intent is committed: others commit meanwhile. */
  take(count: number): boolean;
  release(count: number): void;
  /** Resolves when a slot has been given back. */
  freed(): Promise<void>;
}

/** Handlers of one turn that run at the same time, on different branches (RULINGS B5). */
export const STEPS_PER_TURN_AT_ONCE = 32;

export function createStepSlots(max: number): StepSlots {
  let taken = 0;
  let waiting: (() => void)[] = [];
  return {
    free: () => Math.max(0, max - taken),
    take: (count) => {
      if (count > max - taken) return false;
      taken += count;
      return true;
    },
    release: (count) => {
      taken -= count;
      if (waiting.length === 0) return;
      const next = waiting;
      waiting = [];
      for (const resolve of next) resolve();
    },
    freed: () => new Promise((resolve) => waiting.push(resolve)),
  };
}
