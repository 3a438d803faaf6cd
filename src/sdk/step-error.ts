/**
 * Marks our errors and handlers. A registered symbol and not `instanceof`, because the user's file may load another copy
 * of this module than the engine did.
 */
const STEP_ERROR = Symbol.for('stepwell.StepError');

export interface StepErrorOptions {
  /** Whether the step's retry policy is consulted; default true. `false` is final. */
  readonly retryable?: boolean;
  /** Identity of the failure, for `non_retryable_codes` and catch blocks; default `UNHANDLED_EXCEPTION`. */
  readonly code?: string;
  /** Any JSON; what cannot be stored is left out. Never put secrets here. */
  readonly details?: unknown;
  /** Wait at least so many milliseconds before the next try, capped by the policy's `max_backoff`. */
  readonly retryAfterMs?: number;
  /** What led to it; goes to the log only. */
  readonly cause?: unknown;
}

/**
 * Thrown by a handler to say how its attempt failed (sequences.md 15.1).
 *
 *     throw new StepError('card declined', { retryable: false, code: 'DECLINED', details: { card: 'x-1' } });
 */
export class StepError extends Error {
  readonly [STEP_ERROR] = true;
  readonly retryable: boolean;
  readonly code: string | undefined;
  readonly details: unknown;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: StepErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'StepError';
    this.retryable = options.retryable ?? true;
    this.code = options.code;
    this.details = options.details;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** True for a StepError of any copy of this module. */
export function isStepError(error: unknown): error is StepError {
  return typeof error === 'object' && error !== null && STEP_ERROR in error;
}
