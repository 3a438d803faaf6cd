import { type Store, StoreUnavailable } from '../../../src/ports/store/store.ts';
import type { ProcessGate } from './process-gate.ts';

/**
 * What can become of a call: it fails before or after it was carried out, the process dies or stops there, or it is slow.
 * `fail-before` tells the truth (nothing was done), the others cannot know.
 */
export type FaultKind =
  | 'fail-before'
  | 'fail-unsure'
  | 'fail-after'
  | 'crash-before'
  | 'crash-after'
  | 'freeze-before'
  | 'freeze-after'
  | 'slow-before'
  | 'slow-after';

export interface Fault {
  readonly kind: FaultKind;
  /** Of a frozen process or a slow call. */
  readonly forMs?: number;
}

export interface StoreCall {
  /** From 0, over all processes that share the plan. */
  readonly index: number;
  readonly at: number;
  readonly operation: keyof Store;
  readonly process: string;
  readonly args: readonly unknown[];
  /** What became of it. */
  fault: Fault | null;
}

/** Decides what becomes of each call. */
export interface FaultPlan {
  decide(call: StoreCall): Fault | null;
  /** A process has been crashed by a fault: another one may be started. */
  onCrash(process: string): void;
}

export interface CallLog {
  readonly calls: StoreCall[];
}

/** The store as one process reaches it. All its operations pass through the plan, each one is one fault point. */
export function faultStore(inner: Store, gate: ProcessGate, log: CallLog, plan: FaultPlan): Store {
  const call = (
    operation: keyof Store,
    args: readonly unknown[],
    carryOut: () => Promise<unknown>,
  ): Promise<unknown> => {
    const entry: StoreCall = {
      ...{ index: log.calls.length, at: gate.time.now, operation, process: gate.name, args },
      fault: null,
    };
    if (!gate.isAlive) return never();
    log.calls.push(entry);
    entry.fault = plan.decide(entry);
    return answer(gate, plan, entry.fault, carryOut);
  };
  return new Proxy(inner, {
    get: (target, name) => {
      const method = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      if (name === 'withinBytes') {
        return (maxBytes: number) => faultStore(target.withinBytes(maxBytes), gate, log, plan);
      }
      return (...args: unknown[]) =>
        call(name as keyof Store, args, () => Reflect.apply(method, target, args) as Promise<unknown>);
    },
  });
}

async function answer(
  gate: ProcessGate,
  plan: FaultPlan,
  fault: Fault | null,
  carryOut: () => Promise<unknown>,
): Promise<unknown> {
  const { time } = gate;
  const kind = fault?.kind;
  if (kind === 'fail-before' || kind === 'fail-unsure') {
    await through(gate);
    throw new StoreUnavailable('the call was lost', { unknown: kind === 'fail-unsure' });
  }
  if (kind === 'crash-before') return die(gate, plan);
  if (kind === 'freeze-before') gate.freeze(fault?.forMs ?? 0);
  if (kind === 'slow-before') await later(gate, fault?.forMs ?? 0);
  await through(gate);
  const outcome = await time.track(settled(carryOut()));
  if (kind === 'crash-after') return die(gate, plan);
  if (kind === 'freeze-after') gate.freeze(fault?.forMs ?? 0);
  if (kind === 'slow-after') await later(gate, fault?.forMs ?? 0);
  await through(gate);
  if (kind === 'fail-after') throw new StoreUnavailable('the answer was lost', { unknown: true });
  if (!outcome.ok) throw outcome.error;
  return outcome.value;
}

type Settled =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

const settled = (work: Promise<unknown>): Promise<Settled> =>
  work.then(
    (value) => ({ ok: true, value }),
    (error: unknown) => ({ ok: false, error }),
  );

function die(gate: ProcessGate, plan: FaultPlan): Promise<never> {
  gate.crash();
  plan.onCrash(gate.name);
  return never();
}

/** A process that is gone hears no answer. */
const never = (): Promise<never> => new Promise(() => undefined);

const through = (gate: ProcessGate): Promise<void> => new Promise((resolve) => gate.pass(resolve));

const later = (gate: ProcessGate, ms: number): Promise<void> =>
  new Promise((resolve) => gate.time.at(gate.time.now + ms, resolve));

export const noFaults: FaultPlan = { decide: () => null, onCrash: () => undefined };
