import type { InstanceState } from '../core/run/states.ts';

/** What one instance hangs on (DESIGN promise 2). Instants are epoch milliseconds of the database. */
export interface Explanation {
  readonly instanceId: string;
  readonly state: InstanceState;
  /** One plain sentence for people. */
  readonly summary: string;
  readonly observedAt: number;
  /** Most telling first; empty for an ended instance. */
  readonly waitingOn: readonly Wait[];
  readonly lease: { readonly owner: string; readonly until: number; readonly expired: boolean } | null;
  readonly next: NextStep | null;
  /** Accepted facts that no turn has processed yet. */
  readonly inboxPending: number;
  /** Of the newest accepted signals those that nothing waits for or no gate takes, newest first; empty for an ended instance. */
  readonly unheard: readonly UnheardSignal[];
  /** Claims so far, and those of them in a row that took over from a turn that did not end. */
  readonly claims: { readonly count: number; readonly takeOversInRow: number };
}

/** An accepted custom signal without effect. */
export interface UnheardSignal {
  readonly signalId: string;
  /** Its name, without `custom:`. */
  readonly name: string;
  readonly acceptedAt: number;
  /** A clause for people: "there is no block 'aprove', so nothing waits for it; did you mean 'human_input:approve'?". */
  readonly detail: string;
}

/**
 * `timer`: an instant. `limit`: a rate limit, circuit breaker, pool or concurrency key, until an instant. `task`: an external worker. `gate`: a person's answer. `child`: a sub_sequence. `event`: an event.
 * `lease`: a turn that works on it, or on this block of it. `pause`: somebody who resumes it. `due`: a turn that claims it.
 */
export type WaitKind = 'timer' | 'limit' | 'task' | 'gate' | 'child' | 'event' | 'lease' | 'pause' | 'due';

export interface Wait {
  readonly kind: WaitKind;
  readonly blockId: string | null;
  /** Path of the enclosing passes; empty outside loops. */
  readonly iteration: string;
  readonly since: number;
  /** When the wait ends by itself; null when it does not. */
  readonly until: number | null;
  /** A clause for people: "waits for a worker that serves 'parcel_lookup'". */
  readonly detail: string;
}

/**
 * `turn`: the turn that holds the lease goes on; `at` is when another one may take over if it dies. `take_over`: the lease
 * has expired. `claim`: a turn claims it at `at`. `fact`: only something from outside moves it. `resume`: only a person.
 */
export interface NextStep {
  readonly action: 'turn' | 'take_over' | 'claim' | 'fact' | 'resume';
  /** null: no instant is known. */
  readonly at: number | null;
}
