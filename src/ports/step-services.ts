import type { JsonObject } from '../core/json.ts';
import type { EmitKey, WantedEvents } from '../core/run/outside.ts';
import type { InstanceState } from '../core/run/states.ts';
import type { FoundBlob, NewBlob } from './store/blobs.ts';
import type { SequenceRecord, TriggerRecord } from './store/catalog.ts';
import type { EventWait, PendingEvent } from './store/events.ts';
import type { InstanceView } from './store/reads.ts';

/**
 * What built-in handlers may read beyond their call; all of it within the tenant of the run. Nothing is written here but
 * artifacts: what a step does to others is returned as a write and lands in its commit ([H-5]). Rejects when the store
 * cannot be asked ([H-4]).
 */
export interface StepServices {
  newId(): string;
  /** 0 switches the check of started contexts off. */
  readonly maxContextBytes: number;
  readonly ownMetadata: JsonObject;
  /** null: there is no such instance for this tenant. */
  stateOf(instanceId: string): Promise<InstanceState | null>;
  instance(instanceId: string): Promise<QueriedInstance | null>;
  trigger(slug: string): Promise<TriggerTarget | null>;
  emitted(key: EmitKey): Promise<{ readonly instanceId: string; readonly sequenceName: string } | null>;
  /** The last wait of this step and pass. */
  eventWait(): Promise<EventWait | null>;
  /** The pending events that a fresh wait would take, in order. */
  matchingEvents(wanted: WantedEvents): Promise<readonly PendingEvent[]>;
  putBlob(blob: NewBlob): Promise<void>;
  getBlob(artifactId: string, maxBytes: number): Promise<FoundBlob | null>;
}

export interface QueriedInstance {
  readonly view: InstanceView;
  readonly completedAt: number | null;
  readonly currentNode: string | null;
}

export interface TriggerTarget {
  readonly trigger: TriggerRecord;
  /** null: no version that could be started. */
  readonly sequence: SequenceRecord | null;
}
