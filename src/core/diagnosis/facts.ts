import type { JsonObject } from '../json.ts';
import type { Leaf } from '../run/frame.ts';
import type { InboxRow } from '../run/record.ts';
import type { InstanceState } from '../run/states.ts';
import type { Surroundings } from './surroundings.ts';

/** All that a diagnosis is made from, read at one instant. Instants are epoch ms of the database. */
export interface DiagnosisFacts {
  readonly now: number;
  readonly instance: DiagnosedInstance;
  /** Leaves that have begun and not ended, in the order of their passes. */
  readonly leaves: readonly StandingLeaf[];
  /** Loops that wait between two passes. */
  readonly polls: readonly { readonly blockId: string; readonly until: number }[];
  readonly tasks: readonly DiagnosedTask[];
  /** Accepted facts that no turn has processed. */
  readonly inbox: readonly InboxRow[];
  /** `unknown`: it could not be read just now. */
  readonly sequence: 'there' | 'missing' | 'unknown';
  /** null: they could not be read just now. */
  readonly surroundings: Surroundings | null;
}

export interface DiagnosedInstance {
  readonly id: string;
  readonly state: InstanceState;
  readonly sequenceId: string;
  readonly metadata: JsonObject;
  readonly nextFireAt: number | null;
  readonly dueAt: number | null;
  readonly updatedAt: number;
  readonly leaseUntil: number | null;
  readonly cancelRequestedAt: number | null;
  readonly concurrencyKey: string | null;
  readonly maxConcurrency: number | null;
  /** It was due and found no slot of its concurrency key free. */
  readonly waitsForSlot: boolean;
  readonly failure: { readonly blockId: string | null; readonly error: JsonObject } | null;
}

export interface StandingLeaf {
  /** null: the plan that names it could not be read. */
  readonly blockId: string | null;
  readonly iteration: string;
  readonly leaf: Leaf;
  /** Of a step: its handler, and the one that runs in its place. */
  readonly handler: string | null;
  readonly fallbackHandler: string | null;
  /** Tries that its retry policy allows; null without a policy of its own. */
  readonly maxAttempts: number | null;
}

export interface DiagnosedTask {
  readonly id: string;
  readonly blockId: string;
  readonly handlerName: string;
  readonly queueName: string | null;
  readonly state: 'pending' | 'claimed' | 'completed' | 'failed';
  readonly workerId: string | null;
  readonly claimedAt: number | null;
  readonly heartbeatAt: number | null;
  readonly createdAt: number;
}
