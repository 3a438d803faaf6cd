import type { JsonObject } from '../core/json.ts';
import type { InstanceState } from '../core/run/states.ts';
import type { Store } from '../ports/store/store.ts';
import type { Claim, NewLease } from '../ports/store/turn.ts';
import type { ResumeAnswer, ResumeOrder } from './resume-order.ts';

/**
 * Runs turns in this process. Use cases that accept a fact call it afterwards, so that the fact takes effect at once;
 * when they do not (or the process dies in between) the sweep does (DESIGN 5: the queue is a hint, the row is the truth).
 */
export interface TurnRunner {
  /** True when a start may take the lease here: the process lives on and has room (RULINGS A37). */
  hasRoom(): boolean;
  /** Lease to take with a start; its claim is then handed to `adopt`. */
  newLease(): NewLease;
  /** Runs a claimed instance in the background. */
  adopt(claim: Claim): void;
  /**
   * Looks at one instance now. Resolves when a turn here has processed its inbox and either settled or begun a handler,
   * or when another turn holds the lease, at the latest after `withinMs` (default 2000).
   */
  nudge(target: InstanceTarget, withinMs?: number): Promise<void>;
  /** Carries out an operator's command under a lease of its own; takes a live lease over where the command says so. */
  operate(target: InstanceTarget, operation: Operation, within?: Attempt): Promise<OperationAnswer>;
  /** Lets a run that stands still go on from a block (20.2), under a lease of its own. */
  resume(target: InstanceTarget, order: ResumeOrder, within?: Attempt): Promise<ResumeAnswer>;
}

/** The attempt of a request with an Idempotency-Key: a command of it goes through the store that records its calls. */
export interface Attempt {
  readonly store: Store;
  /** There were attempts before; the command may have been carried out long ago. */
  readonly isRepeat: boolean;
}

/** `tenantId` null: an administrator who knows just the id. */
export interface InstanceTarget {
  readonly tenantId: string | null;
  readonly instanceId: string;
}

export type Operation =
  /** [OP-1] to [OP-4]: only from `failed`. Members of `metadata` are set with it. */
  | { readonly kind: 'retry'; readonly metadata?: JsonObject }
  /** [INS-12], [CAN-7]: any transition a person may make; `cancelled` has immediate effect. */
  | { readonly kind: 'set_state'; readonly state: InstanceState; readonly nextFireAt: number | null }
  /** 12.5: moves the time of a `scheduled` instance, its timers included. */
  | { readonly kind: 'reschedule'; readonly offsetMs: number };

export type OperationAnswer =
  | { readonly status: 'done'; readonly state: InstanceState }
  | { readonly status: 'not_found' }
  | { readonly status: 'illegal'; readonly from: InstanceState }
  /** A turn held the instance for longer than the caller may wait. */
  | { readonly status: 'busy' };
