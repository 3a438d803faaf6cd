import type { InstanceState } from '../core/run/states.ts';

export type TurnEnd =
  | {
      readonly kind: 'settled';
      readonly state: InstanceState;
      readonly dueAt: number | null;
      readonly now: number;
      /** A step waits for a process that has its handler (RULINGS B8). */
      readonly leftToOthers: boolean;
    }
  /** The lease is somebody else's, who says what comes next. */
  | { readonly kind: 'lost' }
  /** The turn broke off; its lease runs out. `unavailable`: for want of the database, and not for a defect. */
  | { readonly kind: 'broken'; readonly unavailable: boolean };
