import { finishCall, noteLateResult } from '../core/run/advance.ts';
import type { Dispatch, Draft } from '../core/run/draft.ts';
import type { CallOutcome } from './call-handler.ts';
import type { Lease } from './lease.ts';
import type { TurnDeps } from './turn-deps.ts';
import { type RunningCall, startCall } from './turn-effects.ts';

interface Finished {
  readonly call: RunningCall;
  readonly outcome: CallOutcome;
}

/** The handlers that one turn has running, and the answers that are not safe in the database yet. */
export class TurnCalls {
  private readonly deps: TurnDeps;
  private readonly onFinished: () => void;
  private readonly running = new Map<string, RunningCall>();
  private finished: Finished[] = [];
  /** Taken in but not yet committed: what a reload takes in again, so that no result is lost. */
  private uncommitted: Finished[] = [];

  constructor(deps: TurnDeps, onFinished: () => void) {
    this.deps = deps;
    this.onFinished = onFinished;
  }

  get size(): number {
    return this.running.size;
  }

  get hasFinished(): boolean {
    return this.finished.length > 0;
  }

  start(draft: Draft, lease: Lease, dispatch: Dispatch): void {
    const call = startCall(this.deps, draft, lease, dispatch);
    this.running.set(dispatch.frameKey, call);
    this.deps.steps.take();
    void call.outcome.then((outcome) => {
      this.deps.steps.release();
      this.finished.push({ call, outcome });
      this.onFinished();
    });
  }

  /** Takes in what has finished since; answers of aborted calls are dropped. */
  takeFinished(draft: Draft): void {
    for (const done of this.finished) {
      const key = done.call.dispatch.frameKey;
      if (this.running.get(key) !== done.call) continue;
      this.running.delete(key);
      finishCall(draft, done.call.dispatch, done.outcome);
      this.uncommitted.push(done);
    }
    this.finished = [];
  }

  committed(): void {
    this.uncommitted = [];
  }

  /** A new draft of the same turn: the handlers still run, and uncommitted answers are taken in once more. */
  keep(draft: Draft): void {
    this.finished = [...this.uncommitted, ...this.finished];
    this.uncommitted = [];
    for (const { call } of this.finished) this.running.set(call.dispatch.frameKey, call);
    for (const key of this.running.keys()) draft.inFlight.add(key);
  }

  /** Calls whose leaves were cancelled: their signal fires and nobody waits for them ([CAN-8], [RACE-3]). */
  abortCancelled(draft: Draft): void {
    for (const key of draft.takeAborted()) {
      const call = this.running.get(key);
      if (call === undefined) continue;
      call.controller.abort();
      this.running.delete(key);
      noteLateResult(draft, call.dispatch, null);
    }
  }

  abortAll(): void {
    for (const call of this.running.values()) call.controller.abort();
  }
}
