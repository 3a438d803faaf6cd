import type { Json, JsonObject } from '../../core/json.ts';
import type { InstanceState } from '../../core/run/states.ts';

/** What steers many instances of a tenant at once (http-api.md 8), and what tells whether others should go first. */
export interface ManyInstancesStore {
  /** Instances that fit a filter: oldest `updated_at` first, then id, at most `limit`. */
  findInstances(filter: InstanceFilter, limit: number): Promise<readonly FoundInstance[]>;
  /**
   * Sends one signal to several instances of a tenant, each as `signal` does, with one audit row `batch_action` per
   * instance that took it. Answers the instances that did; ended and unknown ones are left out.
   */
  signalMany(request: SignalManyRequest): Promise<ReadonlySet<string>>;
  /** One audit row `batch_action` for each of these instances, which were in `fromState` before it. */
  noteBatchAction(
    tenantId: string,
    instanceIds: readonly string[],
    fromState: InstanceState,
    details: JsonObject,
  ): Promise<void>;
  /** True when an instance of this tenant with a higher priority is due and nobody holds it (13.1). */
  hasHigherDue(tenantId: string, priority: number): Promise<boolean>;
}

/** null and empty members do not restrict. */
export interface InstanceFilter {
  readonly tenantId: string;
  readonly namespace: string | null;
  readonly sequenceId: string | null;
  readonly states: readonly InstanceState[];
  /** Equality of top-level strings, all of them. */
  readonly metadata: ReadonlyArray<readonly [string, string]>;
}

export interface FoundInstance {
  readonly id: string;
  readonly state: InstanceState;
}

export interface SignalManyRequest {
  readonly tenantId: string;
  /** Ids that were made before, so that a repeat of the call sends nothing twice (RULINGS A36). */
  readonly signals: readonly { readonly instanceId: string; readonly signalId: string }[];
  readonly signalType: string;
  readonly payload: Json;
  readonly details: JsonObject;
}
