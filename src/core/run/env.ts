import type { RetryPolicy } from '../definition/document.ts';
import type { Violation } from '../definition/schema/evaluation.ts';
import type { Failure } from '../failure.ts';
import type { Json } from '../json.ts';
import type { ViewOfContext } from './context-section.ts';
import type { Leaf } from './frame.ts';
import type { BreakerRule } from './limits/takes.ts';
import type { WebhookTargets } from '../webhook-events.ts';

/** What the pure core is given instead of a clock and dice. `now` is database time. */
export interface Env {
  now: number;
  readonly newId: () => string;
  readonly uuid: () => string;
  readonly random: () => number;
  readonly maxContextBytes: number;
  readonly maxOutputBytes: number;
  /** What of a value breaks a JSON Schema: results and inputs have contracts. */
  readonly validateAgainst: (schema: Json, value: Json) => readonly Violation[];
  readonly kindOf: (handler: string) => HandlerKind;
  /** Retry policy and timeout that a handler declared for steps that name none. */
  readonly defaultsOf: (handler: string) => { readonly retry?: RetryPolicy; readonly timeoutMs?: number };
  /** What is wrong with the params of a handler that is there, before its gate opens. Absent: nothing is checked. */
  readonly checkParams?: (handler: string, params: Json) => Failure | null;
  /** False for a call that is left for a fresh turn because its timeout ends after this one ([TURN-4]). Absent: never. */
  readonly fits?: (timeoutMs: number | null) => boolean;
  /** Handlers of the tenant whose breaker was not closed at the last answer of the store; absent: none. */
  openBreakers?: ReadonlySet<string>;
  /** When breakers open; absent: 5 failures, 60 s. */
  readonly breakers?: BreakerRule;
  /** Where ends and alerts are told; absent: nowhere (http-api.md 21). */
  readonly webhooks?: WebhookTargets;
  /** Handler attempts of one run; 0 or absent: no limit ([END-1]). */
  readonly maxSteps?: number;
}

/**
 * Who executes a handler name (RULINGS B8): this process (pure or with outside effects), a worker, nobody, or another
 * build that is alive (`elsewhere`): then this process leaves the step to it.
 */
export type HandlerKind = 'pure' | 'effect' | 'worker' | 'elsewhere' | 'unavailable';

/** A leaf whose handler the engine is to call. */
export interface Dispatch {
  readonly frameKey: string;
  readonly blockId: string;
  readonly iteration: string;
  readonly handler: string;
  readonly params: Json;
  readonly attempt: number;
  readonly redelivery: boolean;
  readonly pure: boolean;
  readonly timeoutMs: number | null;
  /** A cancel does not refuse its result (17.3). */
  readonly shielded: boolean;
  /**
   * Made when it is asked for: data, config and audit as they were when the leaf became ready, `runtime` as it is when that is
   * read.
   */
  readonly context: () => ViewOfContext;
  readonly idempotencyKey: string;
  /** The leaf as it is while the call runs. */
  readonly leaf: Leaf;
  /** Its intent must be durable before the first call (RULINGS A22). */
  readonly intentFirst: boolean;
  /** Its trace of `before_step` is still to be written ([INT-2]). */
  readonly before?: { readonly output: Json };
}
