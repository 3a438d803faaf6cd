import type { Json, JsonObject } from '../../src/core/json.ts';

/**
 * A deterministic world: which sequences run, what their handlers and workers answer and when, and what arrives from
 * outside at which instant. Everything is JSON, so that a case can be printed, kept and run again.
 *
 * All instants are milliseconds since the start of the case.
 */
export interface World {
  /** What is started, and what `sub_sequence` blocks name. */
  readonly main: SequenceSource;
  readonly others: readonly SequenceSource[];
  readonly data: JsonObject;
  /** Answers of a block in the order of its calls within one instance; the last one repeats. */
  readonly answers: { readonly [blockId: string]: readonly Answer[] };
  /** Happenings at the first instance, in order of time. */
  readonly happenings: readonly Happening[];
}

/** The parts of a sequence that a case varies. `blocks` is the wire form. */
export interface SequenceSource {
  readonly name: string;
  readonly blocks: Json;
}

/** What one call answers, `takeMs` after it began (in process) or after its task was created (worker). */
export type Answer =
  | { readonly kind: 'ok'; readonly takeMs: number; readonly output: Json }
  | {
      readonly kind: 'fail';
      readonly takeMs: number;
      readonly retryable: boolean;
      readonly code?: string;
      readonly details?: Json;
    }
  /** A worker that is never heard of; a handler that never returns. */
  | { readonly kind: 'silent' };

export type Happening =
  | { readonly at: number; readonly kind: 'signal'; readonly type: SignalType; readonly payload: Json }
  | { readonly at: number; readonly kind: 'set_state'; readonly state: 'cancelled' | 'paused' | 'scheduled' }
  | {
      readonly at: number;
      readonly kind: 'patch_context';
      readonly data: JsonObject;
      readonly mode: 'replace' | 'merge';
    }
  | { readonly at: number; readonly kind: 'retry' };

export type SignalType = 'pause' | 'resume' | 'cancel' | 'update_context' | { readonly custom: string };

export type InstanceState =
  | 'scheduled'
  | 'running'
  | 'waiting'
  | 'paused'
  | 'completed'
  | 'failed'
  | 'cancelled';

export type NodeState = 'pending' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'skipped';

export type Reason =
  | 'delay'
  | 'send_window'
  | 'rate_limit'
  | 'retry'
  | 'breaker'
  | 'poll'
  | 'worker'
  | 'input'
  | 'event'
  | 'child'
  | 'sleep';

/** Handlers that the engine has in itself and that take no time; all others are answered by the case. */
export const PURE_HANDLERS: readonly string[] = [
  'noop',
  'log',
  'transform',
  'fail',
  'assert',
  'set_state',
  'get_state',
];

/** Served by workers: the engine knows no handler of this name. */
export const isWorkerHandler = (handler: string): boolean => handler.startsWith('worker_');

/** What a case shows once nothing more can happen: compared as a whole between the two implementations. */
export interface Outcome {
  readonly state: InstanceState;
  readonly data: Json;
  readonly tree: readonly NodeView[];
  readonly rows: readonly RowView[];
  readonly effects: readonly Effect[];
  /** Children in the order in which they were started. */
  readonly children: readonly ChildView[];
}

export interface ChildView {
  readonly sequence: string;
  readonly outcome: Outcome;
}

export interface NodeView {
  readonly block: string;
  readonly state: NodeState;
  readonly reason: string | null;
  readonly attempt: number;
  readonly iteration: string;
  /** Route, variant or winner; null for other blocks. */
  readonly decision: number | null;
  /** Code of the error, for leaves and sagas; null when there is none or it has no code. */
  readonly code: string | null;
}

export interface RowView {
  readonly block: string;
  readonly output: Json;
  readonly ref: string | null;
  readonly attempt: number;
  readonly iteration: string;
}

/** One call of a handler or one task of a worker. */
export interface Effect {
  readonly at: number;
  readonly handler: string;
  readonly block: string;
  readonly attempt: number;
  readonly iteration: string;
  readonly params: Json;
}
