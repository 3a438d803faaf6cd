import { type Json, type JsonObject, isJsonObject, jsonObject, mergeObjects } from '../json.ts';
import type { InstancePatch } from './changes.ts';
import type { CurrentStep, InstanceRecord } from './record.ts';
import type { InstanceState } from './states.ts';

/** The columns of one instance inside a turn, with the patch that the next commit writes. */
export class InstanceDraft {
  /** A copy of our own that is changed in place: each step changes it several times. */
  private readonly current: { -readonly [K in keyof InstanceRecord]: InstanceRecord[K] };
  private patch: { -readonly [K in keyof InstancePatch]: InstancePatch[K] } = {};

  constructor(record: InstanceRecord) {
    this.current = { ...record };
  }

  /** The columns as they will be; its `state` is the one of the claim (see `Draft.state`). */
  get record(): InstanceRecord {
    return this.current;
  }

  get hasChanges(): boolean {
    for (const _ in this.patch) return true;
    return false;
  }

  takePatch(): InstancePatch {
    const taken = this.patch;
    this.patch = {};
    return taken;
  }

  /** Only the patch: the visible state of the working copy is the draft's. */
  setState(state: InstanceState): void {
    this.patch.state = state;
  }

  /** The commit carries the count as a difference of its own. */
  countSteps(difference: number): void {
    this.current.totalSteps += difference;
  }

  /** As `set`; written out because every step does it. */
  setCurrentStep(step: CurrentStep): void {
    this.current.currentStep = step;
    this.patch.currentStep = step;
  }

  set(change: Omit<InstancePatch, 'state' | 'dataSet' | 'dataRemoved' | 'data' | 'newRun'>): void {
    Object.assign(this.current, change);
    Object.assign(this.patch, change);
  }

  /** [OP-2]: what the run before counted is over, and so is a cancel of it. */
  beginRun(run: { readonly runNo: number; readonly runId: string }): void {
    Object.assign(this.current, run);
    this.current.totalSteps = 0;
    this.current.recoveryCount = 0;
    this.current.startedAt = null;
    this.current.cancelRequestedAt = null;
    this.current.currentStep = null;
    this.current.usage = null;
    delete this.patch.usage;
    this.patch.newRun = run;
  }

  /** The settle of a turn that may not run the tree makes it due at this instant. */
  startAt(at: number): void {
    this.current.nextFireAt = at;
  }

  /** Sets top-level keys of data ([CTX-2], [CTX-4]). */
  setData(keys: JsonObject): void {
    const base = isJsonObject(this.current.data) ? this.current.data : {};
    this.current.data = mergeObjects(base, keys);
    this.patch.dataSet = mergeObjects(this.patch.dataSet ?? {}, keys);
    const removed = this.patch.dataRemoved?.filter((key) => !Object.hasOwn(keys, key));
    if (removed !== undefined) this.patch.dataRemoved = removed;
  }

  removeData(key: string): void {
    if (!isJsonObject(this.current.data) || !Object.hasOwn(this.current.data, key)) return;
    this.current.data = without(this.current.data, key);
    this.patch.dataRemoved = [...(this.patch.dataRemoved ?? []), key];
    if (this.patch.dataSet !== undefined) this.patch.dataSet = without(this.patch.dataSet, key);
  }

  replaceData(data: Json): void {
    this.current.data = data;
    this.patch.data = data;
    delete this.patch.dataSet;
    delete this.patch.dataRemoved;
  }
}

function without(object: JsonObject, key: string): JsonObject {
  return jsonObject(Object.entries(object).filter(([name]) => name !== key));
}
