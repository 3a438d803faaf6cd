import type { RetryPolicy } from '../definition/document.ts';
import type { Json, JsonObject } from '../json.ts';
import { isJsonObject, jsonObject, mergeObjects } from '../json.ts';
import type { Changes, FrameWrite, InboxDone, InstancePatch, NewTask } from './changes.ts';
import { type Frame, type Leaf, ROOT_KEY, frameKey } from './frame.ts';
import type { ViewOfContext } from './context-section.ts';
import type { Knowledge } from './knowledge.ts';
import { type NewRow, isVisibleToTemplates } from './output-row.ts';
import type { Plan } from './plan.ts';
import type { InboxRow, InstanceRecord } from './record.ts';
import { type InstanceState, isTerminal } from './states.ts';

/** What the pure core is given instead of a clock and dice. `now` is database time. */
export interface Env {
  now: number;
  readonly newId: () => string;
  readonly uuid: () => string;
  readonly random: () => number;
  readonly maxContextBytes: number;
  readonly maxOutputBytes: number;
  readonly kindOf: (handler: string) => HandlerKind;
  /** Retry policy and timeout that a handler declared for steps that name none. */
  readonly defaultsOf: (handler: string) => { readonly retry?: RetryPolicy; readonly timeoutMs?: number };
}

/** Who executes a handler name: this process (pure or with outside effects), a worker, or nobody (RULINGS B8). */
export type HandlerKind = 'pure' | 'effect' | 'worker' | 'unavailable';

/** A leaf whose handler the engine is to call. */
export interface Dispatch {
  readonly frameKey: string;
  readonly blockId: string;
  readonly iteration: string;
  readonly handler: string;
  readonly params: Json;
  readonly attempt: number;
  readonly redelivery: boolean;
  readonly pure: boolean;
  readonly timeoutMs: number | null;
  /** A cancel does not refuse its result (17.3). */
  readonly shielded: boolean;
  readonly context: ViewOfContext;
  readonly idempotencyKey: string;
  /** The leaf as it is while the call runs. */
  readonly leaf: Leaf;
  /** Its intent must be durable before the first call (RULINGS A22). */
  readonly intentFirst: boolean;
}

type Pending = { -readonly [K in keyof Changes]: Changes[K] extends readonly (infer T)[] ? T[] : Changes[K] };

/**
 * The working copy of one instance inside a turn. The functions of src/core/run change it; `takeChanges` hands out what
 * the next commit must write. It is dropped when a commit is refused or fenced.
 */
export class Draft {
  readonly plan: Plan;
  readonly env: Env;
  readonly knowledge: Knowledge;
  record: InstanceRecord;
  state: InstanceState;
  frames: Map<string, Frame>;
  /** Leaves whose handlers run in this process right now. */
  readonly inFlight = new Set<string>();
  private aborted: string[] = [];
  ready: Dispatch[] = [];
  /** Escalation handlers to call once, best effort, after the commit ([HI-10]). */
  escalations: { readonly handler: string; readonly params: Json }[] = [];
  /** How many more effect leaves may be dispatched now; what does not fit waits for the next round. */
  room = 0;
  runnableLeft = false;
  rootEnd: 'drained' | 'failed' | 'cancelled' | null = null;
  /** True in the first round after a lease was taken over: everything dispatched may have run before ([REC-2]). */
  takenOver = false;
  private pending: Pending = emptyChanges();
  private patch: { -readonly [K in keyof InstancePatch]: InstancePatch[K] } = {};
  private dirty = new Set<string>();
  /** Frames the database has a row of. */
  private readonly stored: Set<string>;
  /** True once the tree moved: then a waiting instance becomes running (TURN-1). */
  moved = false;
  /** Blocks that this turn skipped; a saga asks whether its action was. */
  readonly skipped = new Set<string>();
  /** Answers to gates that are not open yet, by block ([HI-6]). */
  readonly earlyAnswers = new Map<string, InboxRow[]>();
  private intents = new Map<string, Frame>();

  constructor(init: {
    plan: Plan;
    env: Env;
    knowledge: Knowledge;
    record: InstanceRecord;
    frames: readonly Frame[];
  }) {
    this.plan = init.plan;
    this.env = init.env;
    this.knowledge = init.knowledge;
    this.record = init.record;
    this.state = init.record.state;
    this.frames = new Map(init.frames.map((frame) => [frameKey(frame), frame]));
    this.stored = new Set(this.frames.keys());
  }

  get cancelling(): boolean {
    return this.record.cancelRequestedAt !== null;
  }

  /** The root list is open from the first claim on; its frame is stored when it first says something. */
  ensureRoot(): void {
    if (this.frames.has(ROOT_KEY)) return;
    this.putUnstored({
      blockId: '',
      branch: null,
      iteration: '',
      cursor: 0,
      leaf: null,
      detail: { kind: 'root' },
      state: 'open',
      startedAt: this.env.now,
    });
  }

  /** Stores a frame; a cancelled intent is forgotten with it. */
  put(frame: Frame): string {
    const key = frameKey(frame);
    this.frames.set(key, frame);
    this.dirty.add(key);
    this.intents.delete(key);
    this.moved = true;
    return key;
  }

  /** Keeps a frame that says no more than that its list is open at the start; it gets a row when it first matters. */
  putUnstored(frame: Frame): string {
    const key = frameKey(frame);
    this.frames.set(key, frame);
    return key;
  }

  /** Changes the leaf at the cursor of a frame. */
  putLeaf(frame: Frame, leaf: Leaf | null): Frame {
    const next = { ...frame, leaf };
    this.put(next);
    return next;
  }

  remove(key: string): void {
    const frame = this.frames.get(key);
    if (frame === undefined) return;
    this.frames.delete(key);
    this.dirty.delete(key);
    this.intents.delete(key);
    this.moved = true;
    if (!this.stored.delete(key)) return;
    this.pending.framesDeleted.push({
      blockId: frame.blockId,
      branch: frame.branch,
      iteration: frame.iteration,
    });
  }

  /** The frame as it becomes when the next commit grants its intent. */
  intend(frame: Frame, leaf: Leaf): void {
    const key = frameKey(frame);
    this.dirty.add(key);
    this.intents.set(key, { ...frame, leaf });
  }

  /** Rows that wait for the next commit; the walk pauses when there are many (RULINGS A38). */
  get pendingRows(): number {
    return this.pending.rows.length;
  }

  /** The leaf of a running handler was cancelled: its answer will not count. */
  abort(key: string): void {
    this.inFlight.delete(key);
    this.aborted.push(key);
  }

  takeAborted(): readonly string[] {
    const keys = this.aborted;
    this.aborted = [];
    return keys;
  }

  takeEscalations(): Draft['escalations'] {
    const due = this.escalations;
    this.escalations = [];
    return due;
  }

  /** The intents hold: the leaves count as dispatched. */
  grant(): void {
    for (const [key, frame] of this.intents) this.frames.set(key, frame);
    this.intents.clear();
  }

  /** Drops intents that were not granted; the frames stay as they were. */
  withdraw(): void {
    this.intents.clear();
    this.ready = [];
  }

  addRow(row: Omit<NewRow, 'id'>): void {
    this.pending.rows.push({ ...row, id: this.env.newId() });
    const read = this.plan.readOutputs === 'all' || this.plan.readOutputs.has(row.blockId);
    if (read && isVisibleToTemplates(row.kind)) this.knowledge.setOutput(row.blockId, row.output);
  }

  push<
    K extends
      | 'supersede'
      | 'kv'
      | 'values'
      | 'tasksClosed'
      | 'childrenStarted'
      | 'childrenCancelled'
      | 'logs',
  >(part: K, ...items: Pending[K]): void {
    // The union of array types is not narrowed by K; each part only ever receives its own items.
    (this.pending[part] as Pending[K][number][]).push(...items);
  }

  createTask(task: Omit<NewTask, 'id'>): string {
    const id = this.env.newId();
    this.pending.tasksCreated.push({ ...task, id });
    return id;
  }

  note(kind: string, details: JsonObject): void {
    this.pending.journal.push({ id: this.env.newId(), kind, details });
  }

  finishInbox(done: InboxDone): void {
    this.pending.inboxDone.push(done);
  }

  markStrict(): void {
    this.pending.strict = true;
  }

  countResult(options: { readonly shielded: boolean }): void {
    this.pending.hasResult = true;
    if (options.shielded) this.pending.protectedResult = true;
  }

  countStep(): void {
    this.pending.stepsDelta += 1;
    this.record = { ...this.record, totalSteps: this.record.totalSteps + 1 };
  }

  patchRecord(change: Omit<InstancePatch, 'state' | 'dataSet' | 'dataRemoved' | 'data' | 'newRun'>): void {
    this.record = { ...this.record, ...change };
    Object.assign(this.patch, change);
  }

  newRun(run: { readonly runNo: number; readonly runId: string }): void {
    this.record = {
      ...this.record,
      ...run,
      totalSteps: 0,
      recoveryCount: 0,
      startedAt: null,
      cancelRequestedAt: null,
    };
    this.patch.newRun = run;
  }

  /** Sets top-level keys of data ([CTX-2], [CTX-4]). */
  setData(keys: JsonObject): void {
    const base = isJsonObject(this.record.data) ? this.record.data : {};
    this.record = { ...this.record, data: mergeObjects(base, keys) };
    this.patch.dataSet = mergeObjects(this.patch.dataSet ?? {}, keys);
    const removed = this.patch.dataRemoved?.filter((key) => !Object.hasOwn(keys, key));
    if (removed !== undefined) this.patch.dataRemoved = removed;
  }

  removeData(key: string): void {
    if (!isJsonObject(this.record.data) || !Object.hasOwn(this.record.data, key)) return;
    const without = (object: JsonObject): JsonObject =>
      jsonObject(Object.entries(object).filter(([name]) => name !== key));
    this.record = { ...this.record, data: without(this.record.data) };
    this.patch.dataRemoved = [...(this.patch.dataRemoved ?? []), key];
    if (this.patch.dataSet !== undefined) this.patch.dataSet = without(this.patch.dataSet);
  }

  replaceData(data: Json): void {
    this.record = { ...this.record, data };
    this.patch.data = data;
    delete this.patch.dataSet;
    delete this.patch.dataRemoved;
  }

  /** Changes the visible state, with the audit row of [AUD-1]. The claim's own scheduled -> running writes none. */
  transition(to: InstanceState, details: JsonObject = {}, blockId: string | null = null): void {
    if (this.state === to) return;
    const silent = this.state === 'scheduled' && to === 'running';
    if (!silent) {
      this.pending.audit.push({ id: this.env.newId(), fromState: this.state, toState: to, blockId, details });
    }
    this.state = to;
    this.patch.state = to;
  }

  get terminal(): boolean {
    return isTerminal(this.state);
  }

  /** True when something would be lost if the process died now, intents aside. */
  get hasChanges(): boolean {
    const p = this.pending;
    return (
      this.dirty.size > this.intents.size ||
      p.rows.length + p.framesDeleted.length + p.inboxDone.length + p.tasksCreated.length > 0 ||
      p.childrenStarted.length + p.audit.length + p.supersede.length + p.kv.length > 0 ||
      Object.keys(this.patch).length > 0
    );
  }

  /** What the next commit writes; the draft then collects anew. */
  takeChanges(): Changes {
    const frames: FrameWrite[] = [];
    for (const key of this.dirty) {
      const frame = this.frames.get(key);
      if (frame === undefined) continue;
      frames.push({ frame, intent: this.intents.get(key) ?? null });
      this.stored.add(key);
    }
    const changes: Changes = { ...this.pending, frames, instance: this.patch };
    this.pending = emptyChanges();
    this.patch = {};
    this.dirty = new Set();
    return changes;
  }
}

function emptyChanges(): Pending {
  return {
    strict: false,
    protectedResult: false,
    hasResult: false,
    stepsDelta: 0,
    rows: [],
    supersede: [],
    frames: [],
    framesDeleted: [],
    inboxDone: [],
    instance: {},
    kv: [],
    values: [],
    tasksCreated: [],
    tasksClosed: [],
    childrenStarted: [],
    childrenCancelled: [],
    audit: [],
    journal: [],
    logs: [],
  };
}
