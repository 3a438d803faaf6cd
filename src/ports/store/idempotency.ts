/**
 * What the header Idempotency-Key needs (RULINGS B13). A request takes its key before it does anything, does everything
 * through the store of its attempt, and leaves its answer. An attempt that gets no answer (a crash, a lost database) is
 * made again under the same seed: what it has done already is told to it and not done twice. `S` is the store itself.
 */
export interface IdempotencyStore<S> {
  /** Takes a key. The same request again after a lost answer of the store, by its own `seed`, is the same attempt. */
  reserveKey(reservation: KeyReservation): Promise<ReservedKey>;
  /**
   * The stores through which an attempt works. What changes something is recorded with what it answered in one
   * transaction, together with all that was read before; a later attempt, which asks the same in the same order, is told
   * the same.
   */
  openAttempt(attempt: KeyAttempt): Promise<AttemptStores<S>>;
  /**
   * Keeps the answer for 24 hours. Of two attempts the first to end counts, so the answer may be another one; null when
   * the key is not this request's any more.
   */
  finishAttempt(attempt: KeyAttempt, answer: KeptAnswer): Promise<KeptAnswer | null>;
  /** Gives the key back: the next attempt need not wait for the end of the lease. */
  releaseAttempt(attempt: KeyAttempt): Promise<void>;
}

export interface KeyReservation {
  /** Empty for callers that belong to no tenant. */
  readonly tenantId: string;
  /** SHA-256 of the key, in hex. */
  readonly keyHash: string;
  /** What was asked: a key stands for one request only. */
  readonly fingerprint: string;
  /** UUID from which this request makes its ids, unless an earlier attempt has left another one. */
  readonly seed: string;
  /** After this time without an answer the next attempt may begin. */
  readonly leaseMs: number;
}

export type ReservedKey =
  | { readonly status: 'taken'; readonly seed: string; readonly number: number }
  /** An attempt is under way. */
  | { readonly status: 'running' }
  /** The key stands for another request. */
  | { readonly status: 'mismatch' }
  | { readonly status: 'answered'; readonly answer: KeptAnswer };

export interface KeyAttempt {
  readonly tenantId: string;
  readonly keyHash: string;
  readonly seed: string;
  /** From 1. */
  readonly number: number;
}

export interface KeptAnswer {
  readonly status: number;
  /** Media type; null without a body. */
  readonly type: string | null;
  readonly body: string | null;
}

export interface AttemptStores<S> {
  /** Calls that go side by side need scopes of their own, so that each is told what it was told before. */
  of(scope: string): S;
}
