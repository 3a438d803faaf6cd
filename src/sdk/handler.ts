import type { RetryPolicy } from '../core/definition/step.ts';
import { durationMs, MAX_DURATION_MS } from '../core/definition/times.ts';
import type { Json } from '../core/json.ts';
import type { ContextView } from '../ports/step-handler.ts';
import { readRetryPolicy, type RetryPolicyDraft } from './retry-policy.ts';
import type { StandardSchema } from './standard-schema.ts';

export { StepError, type StepErrorOptions } from './step-error.ts';

/** What a handler is told about its call, next to its input (sequences.md 8.6). */
export interface HandlerContext {
  readonly instanceId: string;
  readonly blockId: string;
  readonly tenantId: string;
  /** Path of the enclosing loop passes, `outer:2/inner:0`; empty outside loops. */
  readonly iteration: string;
  /** From 0. */
  readonly attempt: number;
  /** The same for all attempts of one step in one pass: hand it to services that support it [IDEM-1]. */
  readonly idempotencyKey: string;
  /** `idempotencyKey` plus the attempt. */
  readonly attemptKey: string;
  /** True when this very attempt may have started before and its outcome is unknown [REC-2]. */
  readonly redelivery: boolean;
  /**
   * Fires when the instance is cancelled, when the step's timeout is near, and before the invocation's deadline. In the
   * last two cases it fires early, by a tenth of the time the call had and at most one second, so that the handler can
   * still tidy up, or return what it has. Hand it to `fetch` and to whatever else takes a signal.
   */
  readonly signal: AbortSignal;
  /** Milliseconds until the call is cut off. */
  readonly remainingTimeMs: () => number;
  /** Writes to the instance's step log; a text over 8 KiB is cut. Never log secrets. */
  readonly log: HandlerLog;
  /** The instance's context as the step's `context_access` leaves it. */
  readonly context: ContextView;
  readonly state: {
    /** A value of the instance's key/value store; undefined when there is none. */
    readonly get: (key: string) => Promise<Json | undefined>;
  };
  /** Only pure handlers run in a dry run; the others are stubbed. */
  readonly dryRun: boolean;
  /** Database time at dispatch, epoch milliseconds. */
  readonly nowMs: number;
}

export interface HandlerLog {
  readonly debug: (message: string) => void;
  readonly info: (message: string) => void;
  readonly warn: (message: string) => void;
  readonly error: (message: string) => void;
}

export interface HandlerOptions<Input, Output> {
  /** Schema of the step's params; what it makes of them (defaults, conversions) is the input. */
  readonly input?: StandardSchema<unknown, Input>;
  /** Schema of the result; what it makes of it is stored. */
  readonly output?: StandardSchema<Output, unknown>;
  /** Retry policy of steps that have none of their own, written as in a document. */
  readonly retry?: RetryPolicyDraft;
  /** Duration of one attempt for steps that have no timeout: whole milliseconds, or seconds with a fraction [DUR-1]. */
  readonly timeout?: number;
  /** The handler has no outside effect: it also runs in dry runs, and may run again at no cost. */
  readonly pure?: boolean;
}

/** Used for steps that say nothing themselves. */
export interface HandlerDefaults {
  readonly retry?: RetryPolicy;
  readonly timeoutMs?: number;
}

const DEFINED_HANDLER = Symbol.for('stepwell.handler');

/** A handler in code; made by `defineHandler`, run by the engine after `toStepHandler`. */
export interface DefinedHandler {
  readonly [DEFINED_HANDLER]: true;
  readonly name: string;
  readonly pure: boolean;
  readonly defaults: HandlerDefaults;
  readonly input: StandardSchema | undefined;
  readonly output: StandardSchema | undefined;
  /**
   * Takes the parsed input; what it returns is checked and turned into JSON by the engine. Written as a method, because
   * the compiler compares the parameters of methods loosely: it is the input schema that says what comes in.
   */
  run(input: unknown, context: HandlerContext): unknown;
}

/**
 * Defines a handler that steps refer to by `name` (handlers.md 12):
 *
 *     export const charge = defineHandler(
 *       'charge',
 *       { input: z.object({ amount: z.number() }), timeout: 10_000 },
 *       async ({ amount }, ctx) => ({ receipt: await pay(amount, ctx.idempotencyKey, ctx.signal) }),
 *     );
 *
 * Params that break `input` fail the step with INVALID_PARAMS, a result that breaks `output` with
 * OUTPUT_CONTRACT_VIOLATION, both permanently. A thrown `StepError` sets the class of the failure; any other error may be
 * tried again and has the code UNHANDLED_EXCEPTION. Throws when the retry policy or the timeout makes no sense.
 */
export function defineHandler<Input = Json, Output = unknown>(
  name: string,
  options: HandlerOptions<Input, Output>,
  run: (input: Input, context: HandlerContext) => Output | Promise<Output>,
): DefinedHandler {
  return {
    [DEFINED_HANDLER]: true,
    name,
    pure: options.pure ?? false,
    defaults: {
      ...(options.retry === undefined ? {} : { retry: retryDefault(name, options.retry) }),
      ...(options.timeout === undefined ? {} : { timeoutMs: timeoutDefault(name, options.timeout) }),
    },
    input: options.input,
    output: options.output,
    run,
  };
}

function retryDefault(name: string, draft: RetryPolicyDraft): RetryPolicy {
  const policy = readRetryPolicy(draft);
  if (policy.ok) return policy.value;
  throw new TypeError(`handler ${name}: retry is not usable: ${policy.error}`);
}

function timeoutDefault(name: string, timeout: number): number {
  const timeoutMs = durationMs(timeout);
  if (timeoutMs >= 0 && timeoutMs <= MAX_DURATION_MS) return timeoutMs;
  throw new TypeError(`handler ${name}: timeout must be a duration of 0 to ten years`);
}

/** True for a handler of any copy of this module. */
export function isDefinedHandler(value: unknown): value is DefinedHandler {
  return typeof value === 'object' && value !== null && DEFINED_HANDLER in value;
}
