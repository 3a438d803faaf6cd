import type { RetryPolicy } from '../../definition/document.ts';
import type { Failure } from '../../failure.ts';
import { type Json, member } from '../../json.ts';

/**
 * Wait before retry n (n = 1 is the second try), in ms (15.2): grows by the multiplier up to the cap, no jitter. A
 * product above 2^53 counts as the cap.
 */
export function backoffMs(policy: RetryPolicy, retry: number): number {
  const grown = policy.initial_backoff * policy.backoff_multiplier ** (retry - 1);
  const bounded = grown > Number.MAX_SAFE_INTEGER ? policy.max_backoff : Math.min(grown, policy.max_backoff);
  return Math.floor(bounded);
}

/** [RET-4] b: false when the failure carries one of the policy's non-retryable codes. */
export function isRetryableByCode(policy: RetryPolicy, failure: Failure): boolean {
  const codes = policy.non_retryable_codes ?? [];
  const carried = [
    member(failure.details, 'error_code'),
    member(failure.details, 'code'),
    member(failure.details, 'status'),
    failure.code,
  ];
  return !carried.some((value) => value !== undefined && codes.includes(asText(value)));
}

/** Numbers are compared as decimal text; other kinds never match. */
function asText(value: Json): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : '';
}
