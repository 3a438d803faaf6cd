import type { RetryPolicy } from '../core/definition/document.ts';
import type { Failure } from '../core/failure.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { Emit, OutgoingSignal, TakenEvents } from '../core/run/outside.ts';
import type { StepServices } from './step-services.ts';

/**
 * What runs a step. A handler is called with resolved params and answers with a value or a failure; it never touches the
 * store. What it wants written (key/value state) is returned as `writes` and lands in the commit of the step ([H-5]).
 */
export interface StepHandler {
  readonly name: string;
  /**
   * `pure`: no outside effect, may run again at no cost, so its intent is not committed first and results of several
   * share one commit (RULINGS A38, COMMIT-2). `effect`: everything else; its intent is durable before it is called.
   */
  readonly kind: 'pure' | 'effect';
  /** For steps that name none themselves. */
  readonly defaults?: { readonly retry?: RetryPolicy; readonly timeoutMs?: number };
  /** Checks the resolved params before anything is done, also in a dry run ([H-3]); null when they are fine. */
  readonly checkParams?: (params: Json) => Failure | null;
  /** Result in a dry run ([H-8]). Absent: a pure handler runs for real, an effect handler gives the generic stub. */
  readonly dryRun?: (call: StepCall) => Promise<StepOutcome> | StepOutcome;
  /**
   * Called once when a gate of this handler has opened and is stored, before `run` and whatever it answers ([HR-2]); a
   * crash may call it again. Its answer counts for nothing.
   */
  readonly notify?: (call: StepCall) => Promise<StepOutcome> | StepOutcome;
  readonly run: (call: StepCall) => Promise<StepOutcome> | StepOutcome;
}

/** All that a handler is given (sequences.md 8.6). */
export interface StepCall {
  readonly instanceId: string;
  readonly tenantId: string;
  readonly namespace: string;
  readonly blockId: string;
  /** From 0. */
  readonly attempt: number;
  /** Path of the enclosing passes, `outer:2/inner:0`; empty outside loops. */
  readonly iteration: string;
  /** Templates and credentials are already resolved. */
  readonly params: Json;
  /** The view that `context_access` leaves ([ACC-1]..[ACC-4]). */
  readonly context: ContextView;
  /** Latest visible outputs the step refers to; only what `assert`-like handlers need to evaluate expressions. */
  readonly outputs: ReadonlyMap<string, Json>;
  /** The same for all attempts of one leaf in one pass ([IDEM-1]). */
  readonly idempotencyKey: string;
  /** `idempotencyKey` plus the attempt. */
  readonly attemptKey: string;
  /** True when an earlier delivery of this attempt may have started ([REC-2]). */
  readonly redelivery: boolean;
  readonly dryRun: boolean;
  /** Fires on cancel, on timeout and before the invocation's own deadline. */
  readonly signal: AbortSignal;
  /** Milliseconds until the call is cut off. */
  readonly remainingTimeMs: () => number;
  /** The instance's key/value store, reserved prefixes hidden. */
  readonly state: StateReader;
  readonly log: StepLog;
  /** Database time at dispatch, epoch milliseconds. */
  readonly nowMs: number;
  /** The gate of the step (`wait_for_input`), which is behind it; null for a step without one. */
  readonly gate: StepGate | null;
  /** For the built-in handlers. */
  readonly services: StepServices;
}

export interface StepGate {
  readonly choices: readonly { readonly label: string; readonly value: string }[];
  readonly allowComment: boolean;
}

export interface ContextView {
  readonly data: Json;
  readonly config: JsonObject;
  readonly audit: readonly Json[];
  readonly runtime: JsonObject;
}

export interface StateReader {
  get(key: string): Promise<Json | undefined>;
  /** Number of keys stored, reserved ones not counted. */
  count(): Promise<number>;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** One line of the instance's step log; secrets must not be passed. Text over 8 KiB is cut. */
export type StepLog = (level: LogLevel, message: string) => void;

/** What is written in the commit of the step, all or nothing with its result. */
export type StepWrite =
  | { readonly type: 'state_set'; readonly key: string; readonly value: Json }
  | { readonly type: 'state_delete'; readonly key: string }
  /** Into the root list of the own instance ([OP-12]); the step fails when they cannot be injected. */
  | { readonly type: 'inject_blocks'; readonly blocks: Json; readonly position: number | null }
  | { readonly type: 'signal'; readonly signal: OutgoingSignal }
  | { readonly type: 'emit'; readonly emit: Emit }
  | { readonly type: 'take_events'; readonly taken: Omit<TakenEvents, 'blockId' | 'iteration'> };

export type StepOutcome =
  | { readonly ok: true; readonly output: Json; readonly writes?: readonly StepWrite[] }
  | { readonly ok: false; readonly failure: Failure };
