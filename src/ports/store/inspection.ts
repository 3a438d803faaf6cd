import type { Json } from '../../core/json.ts';
import type { Surroundings } from '../../core/diagnosis/surroundings.ts';
import type { Frame } from '../../core/run/frame.ts';
import type { InboxDone } from './turn.ts';

/** Reads for people who ask why a run stands where it stands. Every one is a single statement and bounded. */
export interface InspectionStore {
  /** What may keep an instance from going on, beside itself. */
  getSurroundings(request: SurroundingsRequest): Promise<Surroundings>;
  /** Accepted signals, newest first; null: no such instance. */
  listSignals(query: ListSignalsQuery): Promise<readonly SignalRow[] | null>;
  /** The data of the start as it came; `unknown`: none is kept, or there is no such instance. */
  getStartInput(tenantId: string | null, instanceId: string): Promise<{ readonly input: Json } | 'unknown'>;
  /** Of each of these instances the open lists that wait at a leaf or between two passes: gates first, then the earliest. */
  listStanding(
    tenantId: string | null,
    ids: readonly string[],
    perInstance: number,
  ): Promise<ReadonlyMap<string, readonly Frame[]>>;
  /** Concurrency keys that somebody holds or waits for, by tenant and key. */
  listConcurrencyKeys(query: ListConcurrencyQuery): Promise<readonly ConcurrencyKey[]>;
}

export interface SurroundingsRequest {
  readonly tenantId: string;
  readonly instanceId: string;
  /** Workers count when they polled within this time. */
  readonly aliveWithinMs: number;
  readonly handlers: readonly string[];
  readonly childIds: readonly string[];
  readonly rateKeys: readonly string[];
  /** null: nobody asks for its slots. */
  readonly concurrencyKey: string | null;
}

/** Most versions of one handler, breakers and holders that surroundings tell. */
export const SURROUNDINGS_MAX = { versions: 100, breakers: 100, holders: 20 } as const;
/** Counts of holders and waiters go so far and no further. */
export const COUNTED_MAX = 10_000;
/** Larger payloads are left out of the list of signals, bytes of JSON. */
export const SIGNAL_PAYLOAD_SHOWN_MAX = 65_536;

export interface ListSignalsQuery {
  readonly tenantId: string | null;
  readonly instanceId: string;
  readonly limit: number;
  readonly offset: number;
}

export interface SignalRow {
  readonly id: string;
  readonly instanceId: string;
  readonly signalType: string;
  readonly payload: Json;
  /** The payload is too large for the list and stands here as null. */
  readonly isLeftOut: boolean;
  readonly createdAt: number;
  readonly deliveredAt: number | null;
  /** What came of it ([SIG-9]); null while it waits for a turn. */
  readonly disposition: InboxDone['disposition'] | null;
}

export interface ListConcurrencyQuery {
  readonly tenantId: string | null;
  /** null: all of them. */
  readonly key: string | null;
  readonly limit: number;
  readonly offset: number;
  /** Most holders, and most waiters, of each key. */
  readonly perKey: number;
}

export interface ConcurrencyKey {
  readonly tenantId: string;
  readonly key: string;
  /** The largest `max_concurrency` of those that hold or wait; null when none of them has one. */
  readonly max: number | null;
  /** The longest first. */
  readonly holders: readonly SlotHolder[];
  readonly holderCount: number;
  /** In the order in which they are given a slot. */
  readonly waiters: readonly SlotWaiter[];
  readonly waiterCount: number;
}

export interface SlotHolder {
  readonly instanceId: string;
  readonly since: number | null;
}

export interface SlotWaiter {
  readonly instanceId: string;
  readonly priority: number;
  /** Its own limit of the key. */
  readonly max: number | null;
  /** When it looks again, should no slot get free before. */
  readonly retryAt: number | null;
}
