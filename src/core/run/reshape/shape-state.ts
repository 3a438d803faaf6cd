import type { Shape } from '../record.ts';
import type { Plan } from '../plan.ts';
import type { Injection, NewInjection } from './injected.ts';

/** A change that was accepted and is not in the frames yet. */
export type PendingChange =
  | { readonly kind: 'inject'; readonly change: number; readonly injection: Injection }
  /** `target` is null when the version is gone, which only the end of a cancelled run allows. */
  | { readonly kind: 'migrate'; readonly change: number; readonly target: MigrationTarget | null };

export interface MigrationTarget {
  readonly plan: Plan;
  /** Injected root blocks that give way to blocks of the target with the same ids. */
  readonly replaced: readonly string[];
}

/** What a commit says of the shape of its run. */
export interface ShapeWrite extends Shape {
  /** Blocks that steps of this commit inject ([OP-12]), with their numbers. */
  readonly added?: readonly (NewInjection & { readonly change: number })[];
  /** Migrations that could not be carried out when their turn came. */
  readonly refused?: readonly RefusedChange[];
}

export interface RefusedChange {
  readonly change: number;
  readonly reason: string;
}

/** The shape inside one turn. */
export interface ShapeState {
  /** In order; read by the engine when the claim says that there are any. */
  pending: readonly PendingChange[];
  /** A change was accepted that this turn was not given: it reads itself afresh. */
  isDue: boolean;
  /** A migration waits until the handlers that this turn has running have ended; nothing new is begun till then. */
  isHeld: boolean;
  /** What the next commit says, until then. */
  written: ShapeWrite | null;
  /** Root blocks that were injected from outside and came to stand in the run just now. */
  readonly arrived: Set<string>;
}

export function newShapeState(): ShapeState {
  return { pending: [], isDue: false, isHeld: false, written: null, arrived: new Set() };
}
