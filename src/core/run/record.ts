import type { Json, JsonObject } from '../json.ts';
import type { HooksPending } from './hooks/hooks-pending.ts';
import type { InstanceState } from './states.ts';

/** The instance as a turn sees it. Columns of their own so that a step touches few bytes (RULINGS A29). */
export interface InstanceRecord {
  readonly id: string;
  readonly tenantId: string;
  readonly namespace: string;
  readonly sequenceId: string;
  readonly state: InstanceState;
  /** 0 Low to 3 Critical. */
  readonly priority: number;
  readonly timezone: string;
  readonly nextFireAt: number | null;
  readonly data: Json;
  readonly config: JsonObject;
  readonly audit: readonly Json[];
  readonly metadata: JsonObject;
  readonly parent: ParentRef | null;
  /** 0 for a root instance ([SUB-5]). */
  readonly depth: number;
  readonly sessionId: string | null;
  readonly dryRun: boolean;
  readonly dryRunAutoApprove: boolean;
  /** A dry run that keeps its times ([DRY-3]); absent means false. */
  readonly dryRunRealTime?: boolean;
  readonly createdAt: number;
  /** First claim of this run; null before it. */
  readonly startedAt: number | null;
  readonly runNo: number;
  readonly runId: string;
  /** Commits so far under any epoch; the order of rows (RULINGS A8, A35). */
  readonly rev: number;
  readonly totalSteps: number;
  readonly recoveryCount: number;
  readonly cancelRequestedAt: number | null;
  /** Caps ([BUD-1]); null for none. */
  readonly budget: JsonObject | null;
  readonly usage: Usage | null;
  /** Leaf shown as current (sequences.md 11.4). */
  readonly currentStep: CurrentStep | null;
  /** False until the first row or kv entry was written: then nothing needs to be read (frontier reads). */
  readonly hasHistory: boolean;
  /** Changes of what the run is made of (20.4, 20.5); absent when there never was one. */
  readonly shape?: Shape | null;
  /** Cleanup that is left after an end; absent or null when there is none ([HOOK-4]). */
  readonly hooks?: HooksPending | null;
}

/** What a run has used of its budget besides steps and time, and what a resume allows it ([BUD-2], [BUD-4]). */
export interface Usage {
  readonly externalCalls?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** A resume lets leaves begin up to this count of steps although a cap is exceeded; null or absent: none. */
  readonly stepsAllowed?: number | null;
}

/** Injections and migrations are numbered from 1. Those up to `applied` are in the frames, the others wait for a turn. */
export interface Shape {
  readonly accepted: number;
  readonly applied: number;
}

export interface CurrentStep {
  readonly blockId: string;
  readonly startedAt: number;
  readonly attempt: number;
  /** `resource_key` that a pool gave to the attempt; absent or null for none. */
  readonly resource?: string | null;
}

/** Where a child hangs: unique per (parent, node, iteration, entry) (RULINGS A17). */
export interface ParentRef {
  readonly instanceId: string;
  readonly blockId: string;
  readonly iteration: string;
  readonly entry: number;
}

/** A fact from outside, in the order of acceptance (RULINGS A4). `seq` is the instance's wake_seq at acceptance. */
export interface InboxRow {
  readonly seq: number;
  readonly id: string;
  readonly acceptedAt: number;
  readonly fact: Fact;
}

export type Fact =
  | { readonly kind: 'signal'; readonly signalType: string; readonly payload: Json }
  | {
      readonly kind: 'task';
      readonly taskId: string;
      readonly blockId: string;
      readonly outcome: TaskOutcome;
    }
  | {
      readonly kind: 'child';
      readonly childId: string;
      readonly blockId: string;
      readonly state: 'completed' | 'failed' | 'cancelled';
      readonly error: Json;
    }
  /** A wait has all the events that it needs ([WAIT-4]). */
  | { readonly kind: 'event'; readonly waitId: string; readonly blockId: string }
  /** The change of this number was accepted; what it is stands with the changes of the instance. */
  | { readonly kind: 'shape'; readonly change: number }
  /** Timers of the run are over, or a limit has more to give than when it denied a leaf. */
  | ({ readonly kind: 'wake' } & Wake)
  | {
      readonly kind: 'context';
      readonly sections: ContextSections;
      readonly mode: 'replace' | 'merge';
      /** New caps ([BUD-4]); absent: they stay. */
      readonly budget?: JsonObject;
    };

/** What a wake is about. A timer that is not there any more has ended by itself: then nothing happens. */
export interface Wake {
  /** Timers that end now. */
  readonly ends: readonly TimerRef[];
  /** The start that a scheduled run was held back for; null: it is not about that. */
  readonly startAt: number | null;
  /** Leaves that this limit has denied look again; null: it is not about one. */
  readonly limit: LimitRef | null;
}

/** One timer, by where it is and when it would have ended. */
export interface TimerRef {
  readonly blockId: string;
  readonly iteration: string;
  readonly wakeAt: number;
}

/** A rate key, a handler with its circuit breaker, or a pool. */
export interface LimitRef {
  readonly reason: 'rate_limit' | 'breaker' | 'pool';
  readonly name: string;
}

export type TaskOutcome =
  | { readonly ok: true; readonly output: Json }
  | {
      readonly ok: false;
      readonly message: string;
      readonly retryable: boolean;
      readonly code?: string;
      readonly details?: Json;
      /** No report: the worker fell silent over a task that is not offered again ([CON-6]). */
      readonly silent?: true;
    };

export interface ContextSections {
  readonly data?: Json;
  readonly config?: JsonObject;
  readonly audit?: readonly Json[];
}
