import type { Json } from '../../core/json.ts';

export interface ApiErrorParts {
  readonly status: number;
  readonly code: string;
  readonly details?: Json | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly repeated?: boolean;
  readonly cause?: unknown;
}

/**
 * Why a call of the client failed. `code` says what for, by the server's own word (`not_found`, `already_exists`,
 * `stale_claim`, ...), or one of ours: `no_answer` (nobody answered, status 0), `timeout` (not in time, status 0),
 * `unexpected_answer` (it is not one of Stepwell).
 */
export class ApiError extends Error {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly code: string;
  /** What the server adds for programs, such as the list of problems of a document. */
  readonly details: Json | undefined;
  /** For the log of the server. */
  readonly requestId: string | undefined;
  /** How long the server asks to wait before the next try. */
  readonly retryAfterMs: number | undefined;
  /** True when an earlier try of the same call had no clear answer: this one may be refused because that one was heard. */
  readonly repeated: boolean;

  constructor(message: string, parts: ApiErrorParts) {
    super(message, { cause: parts.cause });
    this.name = 'ApiError';
    this.status = parts.status;
    this.code = parts.code;
    this.details = parts.details;
    this.requestId = parts.requestId;
    this.retryAfterMs = parts.retryAfterMs;
    this.repeated = parts.repeated ?? false;
  }

  /** True when the same call may succeed later without anybody changing anything. */
  get isPassing(): boolean {
    // An earlier try of the same call is still being carried out.
    if (this.code === 'idempotency_key_in_use') return true;
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }

  /** The same, after an earlier try without a clear answer. */
  asRepeat(): ApiError {
    const { status, code, details, requestId, retryAfterMs, cause } = this;
    return new ApiError(this.message, {
      status,
      code,
      details,
      requestId,
      retryAfterMs,
      cause,
      repeated: true,
    });
  }
}
