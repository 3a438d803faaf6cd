import type { Json, JsonObject } from '../json.ts';
import type { Changes, FrameWrite, InboxDone, NewTask, SupersedeRows } from './changes.ts';
import type { Dispatch, Env } from './env.ts';
import { type FailedLeaf, type Frame, type Leaf, ROOT_KEY, frameKey } from './frame.ts';
import { rootFrame, unstoredBranches } from './fresh-frames.ts';
import { InstanceDraft } from './instance-draft.ts';
import type { Knowledge } from './knowledge.ts';
import { LostCalls } from './lost-calls.ts';
import { type NewRow, isVisibleToTemplates } from './output-row.ts';
import {
  type Part,
  type PartItem,
  append,
  areWorthACommit,
  noChanges,
  withdrawChild,
  withdrawTask,
} from './pending-changes.ts';
import type { Plan } from './plan.ts';
import type { InboxRow, InstanceRecord } from './record.ts';
import { supersedePending } from './supersede-pending.ts';
import { type InstanceState, isTerminal } from './states.ts';

export type { Dispatch, Env, HandlerKind } from './env.ts';

/**
 * The working copy of one instance inside a turn. The functions of src/core/run change it; `takeChanges` hands out what
 * the next commit must write. It is dropped when a commit is refused or fenced.
 */
export class Draft {
  readonly plan: Plan;
  readonly env: Env;
  readonly knowledge: Knowledge;
  /** The columns of the instance with what this turn changed in them. */
  readonly instance: InstanceDraft;
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
  /** Why the run was given up as a whole, with the leaf that is to blame ([REC-3]). */
  givenUp: FailedLeaf | null = null;
  readonly lostCalls = new LostCalls();
  private pending = noChanges();
  private dirty = new Set<string>();
  /** Leaves that run on the strength of the claim and are not stored as dispatched. */
  private claimed = new Set<string>();
  /** Frames the database has a row of. */
  private readonly stored: Set<string>;
  /** True once the tree moved: then a waiting instance becomes running (TURN-1). */
  moved = false;
  /** Leaves that this turn skipped, by block and pass; a saga asks whether its action was. */
  private readonly skipped = new Set<string>();
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
    this.instance = new InstanceDraft(init.record);
    this.state = init.record.state;
    this.frames = new Map(init.frames.map((frame) => [frameKey(frame), frame]));
    this.stored = new Set(this.frames.keys());
  }

  get record(): InstanceRecord {
    return this.instance.record;
  }

  get cancelling(): boolean {
    return this.record.cancelRequestedAt !== null;
  }

  /**
   * Makes the frames that are not stored because they say nothing yet: the root list's, which is open from the first
   * claim on, and those of branches at their start. What lies below a branch is found through its frame.
   */
  ensureRoot(): void {
    for (const frame of this.frames.values()) {
      for (const branch of unstoredBranches(frame)) {
        if (!this.frames.has(frameKey(branch))) this.putUnstored(branch);
      }
    }
    if (!this.frames.has(ROOT_KEY)) this.putUnstored(rootFrame(this.env.now));
  }

  /** Stores a frame; a cancelled intent is forgotten with it. */
  put(frame: Frame): string {
    const key = frameKey(frame);
    this.lostCalls.changed(key, this.pending.rows.length);
    this.frames.set(key, frame);
    this.dirty.add(key);
    this.intents.delete(key);
    this.moved = true;
    return key;
  }

  /** Keeps a frame that says no more than that its list is open at the start; it gets a row when it first matters. */
  putUnstored(frame: Frame): void {
    this.frames.set(frameKey(frame), frame);
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
    this.claimed.delete(key);
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
    this.intents.set(frameKey(frame), { ...frame, leaf });
  }

  markSkipped(blockId: string, iteration: string): void {
    this.skipped.add(`${iteration}\u0000${blockId}`);
  }

  wasSkipped(blockId: string, iteration: string): boolean {
    return this.skipped.has(`${iteration}\u0000${blockId}`);
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

  /** The intents hold: the leaves count as dispatched. The commit that granted them has stored them. */
  grant(): void {
    for (const [key, frame] of this.intents) this.frames.set(key, frame);
    this.intents.clear();
  }

  /**
   * The claim is the intent of the first leaves of a turn (RULINGS A22): they count as dispatched, and no commit is due
   * before their results. One that comes earlier for another reason stores that they run, so that a cancel in it finds
   * them started (17.3).
   */
  grantByClaim(): void {
    for (const key of this.intents.keys()) {
      this.dirty.delete(key);
      this.claimed.add(key);
    }
    this.grant();
  }

  /** Intents that were not granted, or that nobody is going to act on, are dropped; the frames stay as they were. */
  withdraw(): void {
    this.intents.clear();
    this.ready = [];
  }

  addRow(row: Omit<NewRow, 'id'>): void {
    this.pending.rows.push({ ...row, id: this.env.newId() });
    const read = this.plan.readOutputs === 'all' || this.plan.readOutputs.has(row.blockId);
    if (read && isVisibleToTemplates(row.kind)) this.knowledge.setOutput(row.blockId, row.output);
  }

  push<K extends Part>(part: K, ...items: readonly PartItem<K>[]): void {
    append(this.pending, part, items);
  }

  /** Takes rows out of the lists, those of this commit included. */
  supersede(rule: SupersedeRows): void {
    const { rows, rules } = supersedePending(this.pending.rows, rule);
    this.pending.rows = [...rows];
    this.push('supersede', ...rules);
  }

  createTask(task: Omit<NewTask, 'id'>): string {
    const id = this.env.newId();
    this.pending.tasksCreated.push({ ...task, id });
    return id;
  }

  /** Closes the task of a leaf; one that this commit was to create is not created at all. */
  closeTask(taskId: string, event: 'cancelled' | 'timed_out'): void {
    if (withdrawTask(this.pending, taskId)) this.instance.countSteps(-1);
    else this.push('tasksClosed', { taskId, event });
  }

  /** Sends a cancel to a child; one that this commit was to start is not started at all. */
  cancelChild(instanceId: string): void {
    if (withdrawChild(this.pending, instanceId)) return;
    this.push('childrenCancelled', { instanceId, signalId: this.env.newId() });
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
    this.instance.countSteps(1);
  }

  /** Changes the visible state, with the audit row of [AUD-1]. The claim's own scheduled -> running writes none. */
  transition(to: InstanceState, details: JsonObject = {}, blockId: string | null = null): void {
    if (this.state === to) return;
    const silent = this.state === 'scheduled' && to === 'running';
    if (!silent) {
      this.pending.audit.push({ id: this.env.newId(), fromState: this.state, toState: to, blockId, details });
    }
    this.state = to;
    this.instance.setState(to);
  }

  get terminal(): boolean {
    return isTerminal(this.state);
  }

  /** True when something would be lost if the process died now, intents aside. */
  get hasChanges(): boolean {
    const frames = [...this.dirty].some((key) => !this.intents.has(key));
    return frames || this.instance.hasChanges || areWorthACommit(this.pending);
  }

  /** What the next commit writes; the draft then collects anew. */
  takeChanges(): Changes {
    const frames: FrameWrite[] = [];
    for (const key of new Set([...this.dirty, ...this.claimed, ...this.intents.keys()])) {
      const frame = this.frames.get(key);
      if (frame === undefined) continue;
      frames.push({ frame, intent: this.intents.get(key) ?? null });
      this.stored.add(key);
    }
    const changes = this.pending;
    changes.frames = frames;
    changes.instance = this.instance.takePatch();
    this.pending = noChanges();
    this.lostCalls.rowsTaken();
    this.dirty = new Set();
    this.claimed = new Set();
    return changes;
  }
}
