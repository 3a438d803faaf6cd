import type { InstanceState } from '../core/run/states.ts';

export type TurnEnd =
  | {
      readonly kind: 'settled';
      readonly state: InstanceState;
      readonly dueAt: number | null;
      readonly now: number;
    }
  /** The lease is somebody else's, or the turn broke off; the row says what comes next. */
  | { readonly kind: 'lost' };
