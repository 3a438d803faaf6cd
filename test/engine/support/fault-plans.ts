import type { Store } from '../../../src/ports/store/store.ts';
import type { Fault, FaultPlan } from './fault-store.ts';

/** The nth call (from 0) of an operation since the plan was made meets a fault; the others go through. */
export function faultAt(operation: keyof Store, nth: number, fault: Fault, times = 1): FaultPlan {
  let seen = -1;
  return {
    decide: (call) => {
      if (call.operation !== operation) return null;
      seen += 1;
      return seen >= nth && seen < nth + times ? fault : null;
    },
    onCrash: () => undefined,
  };
}

/** All calls of these operations meet a fault while the switch is on. */
export function outage(operations: readonly (keyof Store)[], fault: Fault): FaultPlan & { on: boolean } {
  const plan = {
    on: true,
    decide: ({ operation }: { readonly operation: keyof Store }) =>
      plan.on && operations.includes(operation) ? fault : null,
    onCrash: () => undefined,
  };
  return plan;
}

/** All calls of these operations fail while the switch is on, and not because the database cannot be asked. */
export function broken(operations: readonly (keyof Store)[]): FaultPlan & { on: boolean } {
  const plan = {
    on: true,
    decide: ({ operation }: { readonly operation: keyof Store }) => {
      if (plan.on && operations.includes(operation)) throw new Error(`${operation} is broken`);
      return null;
    },
    onCrash: () => undefined,
  };
  return plan;
}
