import type * as z from 'zod';
import type { RetryPolicy } from '../core/definition/step.ts';
import { durationMs } from '../core/definition/times.ts';
import { err, ok, type Result } from '../core/result.ts';

/** A retry policy as in a document: back-offs are durations ([DUR-1]). */
export type RetryPolicyDraft = z.input<typeof RetryPolicy>;

const BACKOFF_MULTIPLIER = 2;

/**
 * The stored form of a retry policy, or what is wrong with it. As the schema of documents reads it, but without a schema
 * library, which a handlers file would bring into every function.
 */
export function readRetryPolicy(draft: RetryPolicyDraft): Result<RetryPolicy, string> {
  const { max_attempts, initial_backoff, max_backoff, backoff_multiplier = BACKOFF_MULTIPLIER } = draft;
  const { retry_if, non_retryable_codes } = draft;
  if (!Number.isSafeInteger(max_attempts)) return err('max_attempts must be a whole number');
  if (max_attempts < 1) return err('max_attempts counts all tries and must be at least 1');
  if (!isDuration(initial_backoff)) return err('initial_backoff must be a duration');
  if (!isDuration(max_backoff)) return err('max_backoff must be a duration');
  if (!Number.isFinite(backoff_multiplier)) return err('backoff_multiplier must be a number');
  if (retry_if !== undefined && typeof retry_if !== 'string') return err('retry_if must be a text');
  if (non_retryable_codes !== undefined && !isTexts(non_retryable_codes)) {
    return err('non_retryable_codes must be a list of texts');
  }
  return ok({
    max_attempts,
    initial_backoff: durationMs(initial_backoff),
    max_backoff: durationMs(max_backoff),
    backoff_multiplier,
    ...(retry_if === undefined ? {} : { retry_if }),
    ...(non_retryable_codes === undefined ? {} : { non_retryable_codes }),
  });
}

function isDuration(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
