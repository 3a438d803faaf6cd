import type { Json } from '../core/json.ts';
import type { RequestErrorKind } from '../core/request-errors.ts';
import { err } from '../core/result.ts';

/** Why a use case did not do what was asked. The API turns the kind into status and text (http-api.md 1.5). */
export interface Refusal {
  readonly kind: RequestErrorKind;
  /** For people; without the prefix of the kind. Fragments that http-api.md quotes are part of the contract. */
  readonly message: string;
  /** For programs, lower snake case; absent: the kind itself. */
  readonly code?: string;
  readonly details?: Json;
  /** Whole seconds after which it makes sense to try again. */
  readonly retryAfterSecs?: number;
}

/** The failing result with a refusal in it. */
export interface Refused {
  readonly ok: false;
  readonly error: Refusal;
}

export type RefusalExtras = Omit<Refusal, 'kind' | 'message'>;

export function refuse(kind: RequestErrorKind, message: string, extras: RefusalExtras = {}): Refused {
  return err({ kind, message, ...extras });
}

/** The same answer for an unknown id and for an object of another tenant (http-api.md 1.4). */
export function notFound(noun: string, id: string): Refused {
  return refuse('not_found', `${noun} ${id}`);
}

/** 400 for a name that stands in paths and that no URL can hold. */
export function unreachable(field: string): Refused {
  return refuse('invalid_argument', `${field} must not be . or .., which URLs leave out`);
}
