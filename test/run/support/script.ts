import type { Failure } from '../../../src/core/failure.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import type { Injected, KvChange } from '../../../src/core/run/advance.ts';
import type { ViewOfContext } from '../../../src/core/run/context-section.ts';
import type { List } from './blocks.ts';

/** What a handler or a worker answers, and how long it takes on the virtual clock. */
export type Answer = (
  | {
      readonly ok: true;
      readonly output: Json;
      readonly writes: readonly KvChange[];
      readonly stub?: boolean;
      /** As `self_modify` does it. */
      readonly injects?: Injected;
    }
  | { readonly ok: false; readonly failure: Failure }
) & { readonly takesMs: number };

/** One call of a handler, or one task of a worker. */
export interface Call {
  readonly instanceId: string;
  /** Milliseconds after the start of the scenario. */
  readonly atMs: number;
  readonly blockId: string;
  readonly attempt: number;
  readonly iteration: string;
  /** 1 for the first run of the instance, 2 after a retry. */
  readonly runNo: number;
  readonly params: Json;
  readonly context: ViewOfContext;
  readonly idempotencyKey: string;
  readonly redelivery: boolean;
}

/** `silent`: a worker that never reports. */
export type Reaction = Answer | 'silent' | ((call: Call) => Answer | 'silent');

export const ok = (
  output: Json = null,
  options: { takesMs?: number; writes?: readonly KvChange[] } = {},
): Answer => ({
  ok: true,
  output,
  writes: options.writes ?? [],
  takesMs: options.takesMs ?? 0,
});

/** A permanent failure, unless it says otherwise. */
export const fails = (message: string, extra: Partial<Failure> & { takesMs?: number } = {}): Answer => {
  const { takesMs = 0, ...failure } = extra;
  return { ok: false, failure: { message, retryable: false, ...failure }, takesMs };
};

export const retryably = (message: string, extra: Partial<Failure> & { takesMs?: number } = {}): Answer =>
  fails(message, { retryable: true, ...extra });

/** By attempt; the last one is used for all that follow. */
export const byAttempt =
  (...answers: readonly Answer[]): Reaction =>
  ({ attempt }) =>
    answers[Math.min(attempt, answers.length - 1)] ?? ok();

/** By run: the first answer before a retry of the instance, the second after it. */
export const byRun =
  (...answers: readonly Answer[]): Reaction =>
  ({ runNo }) =>
    answers[Math.min(runNo, answers.length) - 1] ?? ok();

/** By the number of the innermost pass. */
export const byPass =
  (...answers: readonly Answer[]): Reaction =>
  ({ iteration }) =>
    answers[Math.min(Number(/(\d+)$/.exec(iteration)?.[1] ?? 0), answers.length - 1)] ?? ok();

/** What happens from outside at an instant of the virtual clock, counted from the start of the run. */
export type Event =
  | { readonly at: number; readonly signal: string; readonly payload?: Json; readonly to?: string }
  | { readonly at: number; readonly report: string; readonly answer: Answer }
  /** A worker takes the task and works on it. */
  | { readonly at: number; readonly claim: string }
  | { readonly at: number; readonly cancelChildren: true }
  | { readonly at: number; readonly patch: JsonObject; readonly mode?: 'replace' | 'merge' }
  | { readonly at: number; readonly operate: 'retry' | 'cancel' };

export interface Scenario {
  readonly blocks: List;
  /** More members of the document, such as cleanup lists. */
  readonly members?: JsonObject;
  /** Other sequences by name, for sub_sequence. */
  readonly sequences?: Readonly<
    Record<
      string,
      { readonly blocks: List; readonly inputSchema?: JsonObject; readonly members?: JsonObject }
    >
  >;
  readonly data?: Json;
  readonly config?: JsonObject;
  readonly audit?: readonly Json[];
  readonly on?: Readonly<Record<string, Reaction>>;
  /** Answers to gates, given so long after the gate opened. */
  readonly answers?: Readonly<Record<string, { readonly payload: Json; readonly afterMs: number }>>;
  /** Events that a gate waits for, by block: they come so long after the wait was registered. */
  readonly arrivals?: Readonly<Record<string, number>>;
  readonly events?: readonly Event[];
  readonly dryRun?: boolean;
  readonly dryRunAutoApprove?: boolean;
  readonly dryRunRealTime?: boolean;
  readonly timezone?: string;
  readonly instanceId?: string;
  readonly startsAt?: number;
  /** When the instance falls due for the first time, after its creation. */
  readonly firstRunMs?: number;
  /** Effect handlers that may run at once. */
  readonly room?: number;
  readonly maxContextBytes?: number;
  readonly maxOutputBytes?: number;
  readonly random?: () => number;
  /** The run is looked at when nothing happens any more before this instant after the start. */
  readonly untilMs?: number;
}

/** Where the process dies: never, after each commit, or with all that a turn has not committed yet. */
export type Crashes = 'none' | 'after_commits' | 'before_commits';

export const signal = (at: number, type: string, payload: Json = null): Event => ({
  at,
  signal: type,
  payload,
});
export const cancelAt = (at: number): Event => signal(at, 'cancel');
export const answerAt = (at: number, blockId: string, payload: Json): Event =>
  signal(at, `custom:human_input:${blockId}`, payload);
export const reportAt = (at: number, blockId: string, answer: Answer): Event => ({
  at,
  report: blockId,
  answer,
});
export const retryAt = (at: number): Event => ({ at, operate: 'retry' });
