import type { Json, JsonObject } from '../../core/json.ts';
import type { InjectionPlace } from '../../core/run/reshape/injected.ts';
import type { InstanceKey } from './reads.ts';

/** What a run is made of: injected blocks and migrations (sequences.md 20.4, 20.5), and checkpoints (20.6). */
export interface ShapeStore {
  /**
   * Accepts a change, provided that no other one was accepted since `expected` (compare and set under the row lock), and
   * wakes the instance. Into a terminal instance it is stored without a wake ([OP-11]). A repeat of `id` answers as the
   * first did.
   */
  acceptChange(request: ChangeRequest): Promise<ChangeAnswer>;
  /** All changes of an instance, refused ones included, by number. */
  listShapeChanges(key: InstanceKey): Promise<readonly ShapeChange[]>;
  /** False: no such instance. In every state. */
  addCheckpoint(checkpoint: NewCheckpoint): Promise<boolean>;
  /** Newest first by (created_at, id). null: no such instance. */
  listCheckpoints(
    tenantId: string | null,
    instanceId: string,
    limit: number,
  ): Promise<readonly Checkpoint[] | null>;
  /** Keeps the newest `keep` rows, whoever else prunes meanwhile; answers how many are gone. null: no such instance. */
  pruneCheckpoints(tenantId: string | null, instanceId: string, keep: number): Promise<number | null>;
}

export type NewChange =
  | ({ readonly kind: 'inject'; readonly blocks: readonly JsonObject[] } & InjectionPlace)
  /** `replaced`: injected root blocks that give way to blocks of the target with the same ids. */
  | { readonly kind: 'migrate'; readonly sequenceId: string; readonly replaced: readonly string[] };

export interface ShapeChange {
  /** From 1. Those up to `applied` of the instance have taken effect, unless refused. */
  readonly number: number;
  readonly change: NewChange;
  /** Why it could not be carried out when its turn came; null when it was, or is still to come. */
  readonly refused: string | null;
}

export interface ChangeRequest {
  readonly tenantId: string | null;
  readonly instanceId: string;
  readonly id: string;
  /** Number of changes that the caller knew of. */
  readonly expected: number;
  readonly change: NewChange;
}

/**
 * `stale`: another change was accepted first. `terminal`: a migration of an instance that has ended. `no_sequence`: the
 * target is gone; it is held against deletion as long as an accepted migration leads to it.
 */
export type ChangeAnswer =
  | { readonly status: 'accepted'; readonly number: number; readonly isTerminal: boolean }
  | { readonly status: 'stale' | 'not_found' | 'terminal' | 'no_sequence' };

export interface NewCheckpoint {
  readonly tenantId: string | null;
  readonly instanceId: string;
  readonly id: string;
  readonly data: Json;
}

export interface Checkpoint {
  readonly id: string;
  readonly instanceId: string;
  readonly data: Json;
  readonly createdAt: number;
}
