import { finishCall } from '../../../src/core/run/advance.ts';
import { noteLateResult } from '../../../src/core/run/leaf/note-cut-calls.ts';
import type { Dispatch, Draft } from '../../../src/core/run/draft.ts';
import type { Claim } from '../../../src/ports/store/turn.ts';
import type { Answer } from './script.ts';
import type { World } from './world.ts';

export interface Running {
  readonly dispatch: Dispatch;
  readonly answer: Answer;
  readonly finishAt: number;
}

/** What a turn holds besides its draft; a crash forgets all of it. */
export interface TurnState {
  readonly world: World;
  readonly claim: Claim;
  readonly draft: Draft;
  readonly running: Map<string, Running>;
  rev: number;
  seenSeq: number;
  mayRun: boolean;
  committedOnce: boolean;
}

/** Ends the calls whose time has come, the earliest first. */
export function takeFinished(state: TurnState): void {
  const { draft, running, world } = state;
  const over = [...running.values()].filter((done) => done.finishAt <= world.now);
  for (const { dispatch, answer } of over.sort((a, b) => a.finishAt - b.finishAt)) {
    // An earlier answer of the same round may have cancelled this call.
    if (!running.delete(dispatch.frameKey)) continue;
    finishCall(draft, dispatch, answer);
  }
}

/** A call that nobody waits for any more. */
export function dropCall(state: TurnState, key: string): void {
  const call = state.running.get(key);
  if (call === undefined) return;
  state.running.delete(key);
  noteLateResult(state.draft, call.dispatch, null);
}
