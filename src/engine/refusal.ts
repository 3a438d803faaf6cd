import type { Json } from '../core/json.ts';
import { err } from '../core/result.ts';

/** Why a use case did not do what was asked. The API turns the kind into status and text prefix (http-api.md 1.5). */
export type RefusalKind =
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'exists'
  | 'conflict'
  | 'too_large'
  | 'unsupported_media_type'
  | 'unprocessable'
  | 'rate_limited'
  | 'unavailable';

export interface Refusal {
  readonly kind: RefusalKind;
  /** For people; without the prefix of the kind. Fragments that http-api.md quotes are part of the contract. */
  readonly message: string;
  /** For programs, lower snake case; absent: the general code of the kind. */
  readonly code?: string;
  readonly details?: Json;
  /** Whole seconds after which it makes sense to try again. */
  readonly retryAfterSecs?: number;
}

export type RefusalExtras = Omit<Refusal, 'kind' | 'message'>;

/** The failing result with a refusal in it. */
export function refuse(
  kind: RefusalKind,
  message: string,
  extras: RefusalExtras = {},
): { readonly ok: false; readonly error: Refusal } {
  return err({ kind, message, ...extras });
}

/** The same answer for an unknown id and for an object of another tenant (http-api.md 1.4). */
export function notFound(noun: string, id: string): { readonly ok: false; readonly error: Refusal } {
  return refuse('not_found', `${noun} ${id}`);
}
