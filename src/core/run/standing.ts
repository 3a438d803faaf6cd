import type { Frame } from './frame.ts';
import type { Plan } from './plan.ts';

/** Where a run stands: a draft, or what was folded from its rows. */
export interface Standing {
  readonly plan: Plan;
  readonly frames: ReadonlyMap<string, Frame>;
}
