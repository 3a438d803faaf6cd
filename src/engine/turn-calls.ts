import { finishCall } from '../core/run/advance.ts';
import type { Dispatch, Draft } from '../core/run/draft.ts';
import { noteLateResult } from '../core/run/leaf/note-cut-calls.ts';
import type { CallOutcome } from './handler-call.ts';
import type { TurnDeps } from './turn-deps.ts';
import type { Lease } from './lease.ts';
import {
  type CallContext,
  type CallSource,
  type RunningCall,
  boundMs,
  callEnded,
  callSource,
  startCall,
} from './turn-effects.ts';
import { TurnNotices } from './turn-notices.ts';

interface Finished {
  readonly call: RunningCall;
  readonly outcome: CallOutcome;
}

/** The handlers that one turn has running, and the answers that are not safe in the database yet. */
export class TurnCalls {
  private readonly deps: TurnDeps;
  private readonly onFinished: () => void;
  private readonly notices: TurnNotices;
  private readonly running = new Map<string, RunningCall>();
  /** Of the draft of the last call. */
  private source: CallSource | null = null;
  private finished: Finished[] = [];
  /** Taken in but not yet committed: what a reload takes in again, so that no result is lost. */
  private uncommitted: Finished[] = [];
  /** Cancelled in the draft; they are stopped when that is committed, and run on when it is refused. */
  private doomed: RunningCall[] = [];

  constructor(deps: TurnDeps, onFinished: () => void) {
    this.deps = deps;
    this.onFinished = onFinished;
    this.notices = new TurnNotices(deps, onFinished);
  }

  get size(): number {
    return this.running.size + this.notices.size;
  }

  /** Nothing runs, and no answer waits for its commit. */
  get areOver(): boolean {
    return this.size + this.finished.length + this.uncommitted.length + this.doomed.length === 0;
  }

  noticesAreDue(draft: Draft): boolean {
    return this.notices.areDue(draft);
  }

  startNotices(draft: Draft, lease: Lease): void {
    if (this.notices.areDue(draft)) this.notices.start(draft, boundMs(this.deps, lease));
  }

  get hasFinished(): boolean {
    return this.finished.length > 0;
  }

  /** The slot of the call has been taken; it is given back when the handler has ended, stopped or not. */
  start(context: CallContext, dispatch: Dispatch): void {
    const call = startCall(this.deps, this.sourceOf(context), dispatch);
    this.running.set(dispatch.frameKey, call);
    void call.outcome.then((outcome) => {
      callEnded(this.deps, call);
      this.deps.steps.release(1);
      this.finished.push({ call, outcome });
      this.onFinished();
    });
  }

  /** Calls a handler and waits for it. */
  async call(context: CallContext, dispatch: Dispatch): Promise<CallOutcome> {
    const call = startCall(this.deps, this.sourceOf(context), dispatch);
    const outcome = await call.outcome;
    callEnded(this.deps, call);
    return outcome;
  }

  private sourceOf(context: CallContext): CallSource {
    if (this.source?.draft !== context.draft) this.source = callSource(context);
    return this.source;
  }

  /** Takes in what has finished since; answers of dropped calls wait until their end is committed. */
  takeFinished(draft: Draft): void {
    this.notices.takeFinished(draft);
    if (this.finished.length === 0) return;
    const early: Finished[] = [];
    for (const done of this.finished) {
      const key = done.call.dispatch.frameKey;
      if (this.doomed.includes(done.call)) early.push(done);
      if (this.running.get(key) !== done.call) continue;
      this.running.delete(key);
      finishCall(draft, done.call.dispatch, done.outcome);
      this.uncommitted.push(done);
    }
    this.finished = early;
  }

  committed(): void {
    if (this.uncommitted.length > 0) this.uncommitted = [];
    if (this.doomed.length === 0) return;
    for (const call of this.doomed) call.controller.abort();
    this.doomed = [];
  }

  /** A new draft of the same turn: the handlers still run, and uncommitted answers are taken in once more. */
  keep(draft: Draft): void {
    for (const call of [...this.doomed, ...this.uncommitted.map((done) => done.call)])
      this.running.set(call.dispatch.frameKey, call);
    this.finished = [...this.uncommitted, ...this.finished];
    this.uncommitted = [];
    this.doomed = [];
    for (const key of this.running.keys()) draft.inFlight.add(key);
  }

  /** Calls whose leaves were cancelled: nobody waits for them, and their signal will fire ([CAN-8], [RACE-3]). */
  dropCancelled(draft: Draft): void {
    for (const key of draft.takeAborted()) {
      const call = this.running.get(key);
      if (call === undefined) continue;
      this.running.delete(key);
      this.doomed.push(call);
      noteLateResult(draft, call.dispatch, null);
    }
  }

  abortAll(): void {
    this.notices.abortAll();
    for (const call of [...this.running.values(), ...this.doomed]) call.controller.abort();
  }
}
