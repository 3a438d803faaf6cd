import type { Json } from './json.ts';

/**
 * Why an attempt failed (sequences.md 15.1, handlers.md H-2). `retryable` decides whether the step's retry policy is
 * consulted; `code` is the identity of the failure (see error-codes.ts), `message` is for people only.
 */
export interface Failure {
  readonly message: string;
  readonly retryable: boolean;
  readonly code?: string;
  readonly details?: Json;
  /** Wait at least this long before the next try (HTTP `Retry-After`), capped by the policy's `max_backoff`. */
  readonly retryAfterMs?: number;
}

/** The first line of a message that has any text; empty when it has none. */
export function firstLine(text: string): string {
  return text.trim().split(/[\r\n]/, 1)[0] ?? '';
}
