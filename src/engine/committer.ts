import { jsonBytes } from '../core/json.ts';
import { StoreUnavailable } from '../ports/store/store.ts';
import type { CommitAnswer, TurnCommit, TurnStore, TurnVerdict } from '../ports/store/turn.ts';
import type { Clock, Log } from '../ports/system.ts';
import { untilAnswered } from './until-answered.ts';

/** Bounds of one statement (RULINGS A15). */
const TURNS_MAX = 500;
const BATCH_BYTES_MAX = 1024 * 1024;
const ALONE_BYTES = 64 * 1024;
/** Tries that a commit gets in any case. */
const ATTEMPTS_MIN = 8;
/** Turns that hear their verdicts in one go. */
const TOLD_AT_ONCE = 64;

export interface Committed {
  /** Database time of the answer, which came at `heardAtMs` on the monotonic clock. */
  readonly now: number;
  readonly heardAtMs: number;
  readonly verdict: TurnVerdict;
}

/** Shares statements among the turns of a process: many commits, one round trip, one flush (DESIGN 4, group commit). */
export interface Committer {
  /**
   * Resolves when it is known what became of the commit; rejects when that cannot be found out.
   *
   * @param mayWait Asked before each repetition after the first few: for how long the outcome matters to the turn.
   */
  commit(turn: TurnCommit, mayWait?: () => boolean): Promise<Committed>;
}

interface Waiting {
  readonly turn: TurnCommit;
  readonly bytes: number;
  readonly mayWait: () => boolean;
  readonly resolve: (committed: Committed) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * While one statement is under way the next commits gather; when it returns they go together. Nothing waits longer than
 * one tick for company, and a lone commit goes at once. What has gathered is sent before the verdicts are told, so that
 * the database works while the turns go on.
 */
export function createCommitter(store: Pick<TurnStore, 'commit'>, clock: Clock, log: Log): Committer {
  const tell = createTeller(clock);
  let queue: Waiting[] = [];
  let flushing = false;
  let armed = false;

  const arm = (): void => {
    if (armed || flushing || queue.length === 0) return;
    armed = true;
    clock.soon(() => {
      armed = false;
      void flush();
    });
  };

  const flush = async (): Promise<void> => {
    const batch = takeBatch(queue);
    queue = queue.slice(batch.length);
    flushing = true;
    const verdicts = await sendTogether({ store, clock, log }, batch);
    flushing = false;
    const isNextReady = queue.length > 0;
    if (isNextReady) void flush();
    tell(verdicts, { later: isNextReady });
  };

  return {
    commit: (turn, mayWait = () => false) =>
      new Promise((resolve, reject) => {
        const waiting: Waiting = { turn, bytes: roughBytes(turn), mayWait, resolve, reject };
        if (travelsAlone(waiting)) void sendAlone({ store, clock, log }, waiting);
        else {
          queue.push(waiting);
          arm();
        }
      }),
  };
}

interface Sending {
  readonly store: Pick<TurnStore, 'commit'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Large turns and turns that lock other instances would hold the others up (RULINGS A15). */
function travelsAlone({ turn, bytes }: Waiting): boolean {
  if (turn.outside !== undefined) return true;
  return bytes > ALONE_BYTES || turn.childrenStarted.length > 0 || turn.childrenCancelled.length > 0;
}

function takeBatch(queue: readonly Waiting[]): readonly Waiting[] {
  const seen = new Set<string>();
  let bytes = 0;
  let count = 0;
  for (const waiting of queue) {
    bytes += waiting.bytes;
    // One entry per instance in a batch (RULINGS A14); a turn waits for its answer before it commits again.
    const full = count >= TURNS_MAX || (count > 0 && bytes > BATCH_BYTES_MAX);
    if (full || seen.has(waiting.turn.instanceId)) break;
    seen.add(waiting.turn.instanceId);
    count += 1;
  }
  return queue.slice(0, count);
}

type Tell = () => void;

/**
 * Tells verdicts in portions, in order, one a tick: all at once would keep this process from the next statement, and the
 * database idle, until every turn has gone on. `later`: what was just sent leaves before the first portion is told.
 */
function createTeller(
  clock: Pick<Clock, 'soon'>,
): (verdicts: readonly Tell[], options: { readonly later: boolean }) => void {
  let untold: readonly Tell[] = [];
  let armed = false;
  const arm = (): void => {
    if (armed || untold.length === 0) return;
    armed = true;
    clock.soon(() => {
      armed = false;
      tellSome();
    });
  };
  const tellSome = (): void => {
    const portion = untold.slice(0, TOLD_AT_ONCE);
    untold = untold.slice(TOLD_AT_ONCE);
    arm();
    for (const tell of portion) tell();
  };
  return (verdicts, { later }) => {
    untold = untold.length === 0 ? verdicts : [...untold, ...verdicts];
    if (later || armed) arm();
    else tellSome();
  };
}

/**
 * Answers how each turn is to be told its verdict. A batch that fails as a whole says nothing about its turns: each goes
 * again by itself, with the same bytes.
 */
async function sendTogether(sending: Sending, batch: readonly Waiting[]): Promise<readonly Tell[]> {
  let answer: CommitAnswer;
  try {
    answer = await sending.store.commit(batch.map((waiting) => waiting.turn));
  } catch (error) {
    sending.log.warn('a group commit failed, its turns are sent one by one', {
      turns: batch.length,
      error: String(error),
    });
    await Promise.all(batch.map((waiting) => sendAlone(sending, waiting)));
    return [];
  }
  const { now, verdicts } = answer;
  const heardAtMs = sending.clock.monotonicMs();
  return batch.map((waiting, index) => () => {
    const verdict = verdicts[index];
    if (verdict === undefined || verdict.verdict === 'busy') void sendAlone(sending, waiting);
    else waiting.resolve({ now, heardAtMs, verdict });
  });
}

/**
 * Sends one turn until its outcome is known (RULINGS A8): byte for byte the same, so that a commit whose answer was lost
 * is recognised and not repeated.
 */
async function sendAlone(sending: Sending, waiting: Waiting): Promise<void> {
  const send = async (): Promise<Committed> => {
    const { now, verdicts } = await sending.store.commit([waiting.turn]);
    const [verdict] = verdicts;
    if (verdict === undefined || verdict.verdict === 'busy') {
      throw new StoreUnavailable('the instance is locked by somebody else', { unknown: false });
    }
    return { now, heardAtMs: sending.clock.monotonicMs(), verdict };
  };
  try {
    const mayWait = (attempts: number): boolean => attempts < ATTEMPTS_MIN || waiting.mayWait();
    waiting.resolve(await untilAnswered(sending.clock, send, mayWait));
  } catch (error) {
    waiting.reject(error);
  }
}

/** Good enough to bound a batch; the exact size is the store's business. Parts that are nearly always empty cost nothing. */
function roughBytes(turn: TurnCommit): number {
  let bytes = 512;
  for (const row of turn.rows) bytes += 256 + (row.bytes ?? jsonBytes(row.output));
  for (const { frame } of turn.frames)
    bytes += frame.detail.kind === 'for_each' ? JSON.stringify(frame).length : 512;
  if (turn.instance.dataSet !== undefined) bytes += JSON.stringify(turn.instance.dataSet).length;
  if (turn.instance.data !== undefined) bytes += JSON.stringify(turn.instance.data).length;
  const rare = [turn.kv, turn.values, turn.tasksCreated, turn.childrenStarted];
  for (const part of rare) if (part.length > 0) bytes += JSON.stringify(part).length;
  return bytes;
}
