import type { Store } from '../ports/store/store.ts';
import type { Clock } from '../ports/system.ts';
import type { Lease } from './lease.ts';
import { untilAnswered } from './until-answered.ts';

/** What a turn reads between claim and settle. */
export type TurnReads = Pick<
  Store,
  | 'claimOne'
  | 'readOutputs'
  | 'readOutputsWithin'
  | 'readState'
  | 'countState'
  | 'readItems'
  | 'readValues'
  | 'readCollected'
  | 'findSequence'
  | 'listOutputs'
>;

/**
 * The reads of a turn: each is asked again while the lease lives. Among them is the named claim under a token that is
 * held already, which is a read as well (RULINGS A24).
 */
export function turnReads(store: TurnReads, clock: Clock, lease: Lease): TurnReads {
  const ask = <T>(call: () => Promise<T>): Promise<T> => untilAnswered(clock, call, () => lease.leftMs() > 0);
  return {
    claimOne: (request) => ask(() => store.claimOne(request)),
    readOutputs: (key, blockIds) => ask(() => store.readOutputs(key, blockIds)),
    readState: (key, keys) => ask(() => store.readState(key, keys)),
    countState: (key) => ask(() => store.countState(key)),
    readItems: (key, snapshotKey, from, count) => ask(() => store.readItems(key, snapshotKey, from, count)),
    readOutputsWithin: (key, wanted) => ask(() => store.readOutputsWithin(key, wanted)),
    readValues: (key, range) => ask(() => store.readValues(key, range)),
    readCollected: (key, query) => ask(() => store.readCollected(key, query)),
    findSequence: (name) => ask(() => store.findSequence(name)),
    listOutputs: (tenantId, id, include) => ask(() => store.listOutputs(tenantId, id, include)),
  };
}
