import type { Block } from '../../definition/document.ts';
import type { JsonObject } from '../../json.ts';

/**
 * Where injected blocks stand. `position` is an index in the effective root list at the time of the injection, null for
 * the end. The neighbours of that time say where the blocks belong after a migration has changed the list around them.
 */
export interface InjectionPlace {
  readonly position: number | null;
  readonly before: string | null;
  readonly after: string | null;
}

export interface Injection extends InjectionPlace {
  readonly blocks: readonly Block[];
}

/** An injection as it is stored, in the stored form of blocks. */
export interface NewInjection extends InjectionPlace {
  readonly id: string;
  readonly blocks: readonly JsonObject[];
}

/** What was changed in the run that a plan is of. */
export interface PlanShape {
  /** In the order in which they were made ([OP-10]). */
  readonly injections: readonly Injection[];
  /** The run came from another sequence: blocks that are new to it may have rows of an earlier time. */
  readonly wasMigrated: boolean;
}
