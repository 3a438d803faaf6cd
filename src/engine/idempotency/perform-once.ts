import { sha256Hex } from '../../core/digest.ts';
import { ok, type Result } from '../../core/result.ts';
import type { KeptAnswer, KeyAttempt } from '../../ports/store/idempotency.ts';
import { StoreUnavailable } from '../../ports/store/store.ts';
import { refuse, type Refusal } from '../refusal.ts';
import { askTwice } from '../until-answered.ts';
import type { UseCaseDeps } from '../use-case.ts';
import { type AttemptDeps, attemptDeps } from './attempt-deps.ts';

/** A request with a key. */
export interface OnceRequest {
  /** Whose key it is; empty for callers of no tenant. */
  readonly tenantId: string;
  readonly key: string;
  readonly fingerprint: string;
  /** What the caller has shown to be let in; with the key it makes what is drawn at random a secret. */
  readonly credential: string;
  /** The answer shows a secret: it is kept sealed, or not at all. */
  readonly isSecret: boolean;
}

export interface Performed {
  readonly answer: KeptAnswer;
  /** False for an answer that asks for another try: the key is free then. */
  readonly isFinal: boolean;
}

/** `isRepeat`: the answer is that of an earlier call. */
export interface OnceAnswer {
  readonly answer: KeptAnswer;
  readonly isRepeat: boolean;
}

/**
 * How long a request may be under way before it counts as lost. Attempts side by side do each other no harm (they are told
 * the same), so it need not cover the slowest of them.
 */
const LEASE_MS = 20_000;

/**
 * Carries a request out once for its key (RULINGS B13): 422 when the key stands for another request, 409 while it is under
 * way, after its end the same answer for 24 hours. Whatever stops an attempt, the next one neither loses nor doubles what
 * was done: its ids are the same and its calls are recorded with their effects.
 */
export async function performOnce(
  deps: UseCaseDeps,
  request: OnceRequest,
  perform: (parts: AttemptDeps) => Promise<Performed>,
): Promise<Result<OnceAnswer, Refusal>> {
  const { tenantId, fingerprint } = request;
  const keyHash = sha256Hex(request.key);
  const reservation = { tenantId, keyHash, fingerprint, seed: deps.ids.newId(), leaseMs: LEASE_MS };
  const reserved = await askTwice(() => deps.store.reserveKey(reservation));
  switch (reserved.status) {
    case 'mismatch':
      return refuse('unprocessable_entity', 'the Idempotency-Key was used for another request', {
        code: 'idempotency_key_reused',
      });
    case 'running':
      return refuse('conflict', 'the request with this Idempotency-Key is still being carried out', {
        code: 'idempotency_key_in_use',
        retryAfterSecs: 1,
      });
    case 'answered':
      return repeated(deps, request, keyHash, reserved.answer);
    case 'taken': {
      const attempt = { tenantId, keyHash, seed: reserved.seed, number: reserved.number };
      return attemptOnce(deps, request, attempt, perform);
    }
  }
}

async function attemptOnce(
  deps: UseCaseDeps,
  request: OnceRequest,
  attempt: KeyAttempt,
  perform: (parts: AttemptDeps) => Promise<Performed>,
): Promise<Result<OnceAnswer, Refusal>> {
  try {
    const stores = await deps.store.openAttempt(attempt);
    const secret = `${request.credential}\n${request.key}`;
    const { answer, isFinal } = await perform(attemptDeps(deps, attempt, stores, secret));
    if (!isFinal) {
      await release(deps, attempt);
      return ok({ answer, isRepeat: false });
    }
    const kept = keptForm(deps, request, attempt.keyHash, answer);
    // Nothing is answered before it is kept: the caller could not be told the same again.
    const stored = await askTwice(() => deps.store.finishAttempt(attempt, kept));
    if (stored === null)
      throw new StoreUnavailable('the key was taken by another request', { unknown: false });
    const isOwn = stored.body === kept.body && stored.status === kept.status;
    return isOwn ? ok({ answer, isRepeat: false }) : repeated(deps, request, attempt.keyHash, stored);
  } catch (error) {
    await release(deps, attempt);
    throw error;
  }
}

/** Best effort: what stays reserved is free when its lease is over. */
async function release(deps: UseCaseDeps, attempt: KeyAttempt): Promise<void> {
  try {
    await deps.store.releaseAttempt(attempt);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    deps.log.warn('a key of a request could not be given back', { error: error.message });
  }
}

function keptForm(deps: UseCaseDeps, request: OnceRequest, keyHash: string, answer: KeptAnswer): KeptAnswer {
  if (!request.isSecret || answer.body === null) return answer;
  const body = deps.seal?.seal(answer.body, sealContext(request.tenantId, keyHash)) ?? null;
  return { ...answer, body };
}

function repeated(
  deps: UseCaseDeps,
  request: OnceRequest,
  keyHash: string,
  kept: KeptAnswer,
): Result<OnceAnswer, Refusal> {
  if (!request.isSecret || kept.type === null) return ok({ answer: kept, isRepeat: true });
  const context = sealContext(request.tenantId, keyHash);
  const body = kept.body === null ? null : (deps.seal?.open(kept.body, context) ?? null);
  if (body !== null) return ok({ answer: { ...kept, body }, isRepeat: true });
  return refuse('conflict', 'the request was carried out, but its answer holds a secret and was not kept', {
    code: 'idempotent_answer_not_kept',
  });
}

function sealContext(tenantId: string, keyHash: string): string {
  return `idempotency|${tenantId}|${keyHash}`;
}
