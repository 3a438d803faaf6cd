import type { JsonObject } from '../json.ts';
import { choiceRow } from './choice-row.ts';
import type { Changes } from './changes.ts';
import { DraftRecords } from './draft-records.ts';
import type { Dispatch, Env } from './env.ts';
import { type FailedLeaf, type Frame, type FrameNote, type Leaf, ROOT_KEY, frameKey } from './frame.ts';
import { rootFrame, unstoredBranches } from './fresh-frames.ts';
import { Gathered } from './gathered.ts';
import type { Knowledge } from './knowledge.ts';
import { type Asking, Intents } from './limits/intents.ts';
import type { TakeAnswer } from './limits/takes.ts';
import { LostCalls } from './lost-calls.ts';
import { OutsideDraft } from './outside-draft.ts';
import { orderKept } from './order-kept.ts';
import type { Plan } from './plan.ts';
import type { InboxRow, InstanceRecord } from './record.ts';
import { newShapeState } from './reshape/shape-state.ts';
import { type InstanceState, isTerminal } from './states.ts';

export type { Dispatch, Env, HandlerKind } from './env.ts';

/**
 * The working copy of one instance inside a turn. The functions of src/core/run change it; `takeChanges` hands out what
 * the next commit must write. It is dropped when a commit is refused or fenced.
 */
export class Draft extends DraftRecords {
  state: InstanceState;
  frames: Map<string, Frame>;
  /** Leaves whose handlers run in this process right now. */
  readonly inFlight = new Set<string>();
  private readonly aborted = new Gathered<string>();
  ready: Dispatch[] = [];
  /** How many more effect leaves may be dispatched now; what does not fit waits for the next round. */
  room = 0;
  runnableLeft = false;
  /** A leaf was held back by the budget or by the limit of steps (13.6, [END-1]). */
  overLimit: 'budget' | 'steps' | null = null;
  rootEnd: 'drained' | 'failed' | 'cancelled' | null = null;
  /** Why the run was given up as a whole, with the leaf that is to blame ([REC-3]). */
  givenUp: FailedLeaf | null = null;
  readonly lostCalls = new LostCalls();
  /** Accepted changes of what the run is made of, and whether the turn has to read itself afresh for them. */
  readonly shape = newShapeState();
  readonly outside = new OutsideDraft();
  private readonly dirty = new Set<string>();
  /** Leaves that run on the strength of the claim and are not stored as dispatched. */
  private readonly claimed = new Set<string>();
  /** Frames the database has a row of. */
  private readonly stored: Set<string>;
  /** True once the tree moved: then a waiting instance becomes running (TURN-1). */
  moved = false;
  /** A wake came to a scheduled run: only the next claim may run the tree, since that one finds it a slot ([CONC-2]). */
  waitsForClaim = false;
  /** The run has a concurrency key with a limit. */
  sharesSlots = false;
  /** Leaves that this turn skipped, by block and pass; a saga asks whether its action was. */
  private readonly skipped = new Set<string>();
  /** Answers to gates that are not open yet, by block ([HI-6]). */
  readonly earlyAnswers = new Map<string, InboxRow[]>();
  readonly intents = new Intents();

  constructor(init: {
    plan: Plan;
    env: Env;
    knowledge: Knowledge;
    record: InstanceRecord;
    frames: readonly Frame[];
  }) {
    super(init);
    this.state = init.record.state;
    this.frames = new Map(init.frames.map((frame) => [frameKey(frame), frame]));
    this.stored = new Set(this.frames.keys());
  }

  get cancelling(): boolean {
    return this.record.cancelRequestedAt !== null;
  }

  get needsClaim(): boolean {
    return this.waitsForClaim || this.lacksSlot;
  }

  /** It has no slot of its concurrency key, and only a claim gives it one ([CONC-1]). A cancel drains without. */
  get lacksSlot(): boolean {
    return this.sharesSlots && !this.cancelling && (this.state === 'waiting' || this.state === 'scheduled');
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
    this.outside.leafChanges(this.frames.get(key)?.leaf, frame.leaf);
    this.lostCalls.changed(key, this.rowCount);
    this.frames.set(key, frame.order === undefined ? frame : orderKept(this.frames.get(key), frame));
    this.dirty.add(key);
    this.intents.delete(key);
    this.moved = true;
    return key;
  }

  /** Stores a frame as it stands in another plan: the run has not moved. */
  replant(frame: Frame): void {
    this.frames.set(frameKey(frame), frame);
    this.dirty.add(frameKey(frame));
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
    this.outside.leafChanges(frame.leaf, null);
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

  /** The frame as it becomes when the next commit grants its intent and limits, if asked, give what it needs. */
  intend(frame: Frame, leaf: Leaf, asking: Asking | null = null): void {
    this.intents.add(frame, leaf, asking);
  }

  markSkipped(blockId: string, iteration: string): void {
    this.skipped.add(`${iteration}\u0000${blockId}`);
  }

  wasSkipped(blockId: string, iteration: string): boolean {
    return this.skipped.has(`${iteration}\u0000${blockId}`);
  }

  /** The leaf of a running handler was cancelled: its answer will not count. */
  abort(key: string): void {
    this.inFlight.delete(key);
    this.aborted.push(key);
  }

  takeAborted(): readonly string[] {
    return this.aborted.takeAll();
  }

  /** The intents hold, except what limits denied: the leaves count as dispatched, as the commit has stored them. */
  grant(answers: readonly TakeAnswer[] = []): void {
    this.intents.grant(this.frames, answers);
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

  /** Notes something in a frame, and in its intent, that does not move the run on. */
  annotate(key: string, note: FrameNote & Partial<Pick<Frame, 'leaf'>>): void {
    const frame = this.frames.get(key);
    if (frame === undefined) return;
    this.frames.set(key, { ...frame, ...note });
    this.intents.annotate(key, note);
    this.dirty.add(key);
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
    for (const key of this.dirty) if (!this.intents.has(key)) return true;
    return this.hasRecords;
  }

  /** What the next commit writes; the draft then collects anew. */
  takeChanges(): Changes {
    for (const key of this.claimed) this.dirty.add(key);
    for (const key of this.intents.keys()) this.dirty.add(key);
    const frames: Frame[] = [];
    for (const key of this.dirty) {
      const frame = this.frames.get(key);
      if (frame === undefined) continue;
      frames.push(frame);
      if (this.stored.has(key)) continue;
      const choice = choiceRow(frame);
      if (choice !== null) this.addRow(choice);
      this.stored.add(key);
    }
    this.shape.written = null;
    const changes = this.takePending();
    changes.frames = this.intents.write(frames);
    changes.instance = this.instance.takePatch();
    const outside = this.outside.take();
    if (outside !== undefined) changes.outside = outside;
    this.lostCalls.rowsTaken();
    this.dirty.clear();
    this.claimed.clear();
    return changes;
  }
}
