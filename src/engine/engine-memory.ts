import type { Store } from '../ports/store/store.ts';
import type { Clock, Entropy } from '../ports/system.ts';
import { type Company, createCompany } from './company.ts';
import { createNodePresence, type NodePresence, type NodeSettings } from './cluster/cluster-node.ts';
import { type Counters, createCounters } from './counters.ts';
import { createPlanMemory, type PlanMemory } from './definitions.ts';
import { createIdSource, type IdSource } from './ids.ts';
import { createNamesMemory, type NamesMemory } from './live-names.ts';

/**
 * What a process keeps from one invocation to the next. No promise is among it: some hosts tie all IO to the invocation
 * that began it, and whoever waits for the IO of another one waits for ever once that one is ended.
 */
export interface EngineMemory {
  readonly plans: PlanMemory;
  readonly names: NamesMemory;
  readonly counters: Counters;
  readonly ids: IdSource;
  readonly company: Company;
  /** Absent: the process is not shown in the cluster. */
  readonly node?: NodePresence;
}

export function createEngineMemory(
  { store, clock, entropy }: { readonly store: Store; readonly clock: Clock; readonly entropy: Entropy },
  node?: NodeSettings,
): EngineMemory {
  const ids = createIdSource(clock, entropy);
  return {
    plans: createPlanMemory(),
    names: createNamesMemory(),
    counters: createCounters(),
    ids,
    company: createCompany(clock),
    ...(node === undefined ? {} : { node: createNodePresence(store, clock, { id: ids.newId(), ...node }) }),
  };
}
