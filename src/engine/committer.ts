import type { CommitAnswer, TurnCommit, TurnStore, TurnVerdict } from '../ports/store/turn.ts';
import { StoreUnavailable } from '../ports/store/store.ts';
import type { Clock, Log } from '../ports/system.ts';

/** Bounds of one statement (RULINGS A15). */
const TURNS_MAX = 500;
const BATCH_BYTES_MAX = 1024 * 1024;
const ALONE_BYTES = 64 * 1024;
const ATTEMPTS_MAX = 8;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 2_000;

export interface Committed {
  readonly now: number;
  readonly verdict: TurnVerdict;
}

/** Shares statements among the turns of a process: many commits, one round trip, one flush (DESIGN 4, group commit). */
export interface Committer {
  /** Resolves when it is known what became of the commit; rejects when that cannot be found out. */
  commit(turn: TurnCommit): Promise<Committed>;
}

interface Waiting {
  readonly turn: TurnCommit;
  readonly bytes: number;
  readonly resolve: (committed: Committed) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * While one statement is under way the next commits gather; when it returns they go together. Nothing waits longer than
 * one tick for company, and a lone commit goes at once.
 */
export function createCommitter(store: Pick<TurnStore, 'commit'>, clock: Clock, log: Log): Committer {
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
    try {
      await sendTogether({ store, clock, log }, batch);
    } finally {
      flushing = false;
      arm();
    }
  };

  return {
    commit: (turn) =>
      new Promise((resolve, reject) => {
        const waiting: Waiting = { turn, bytes: roughBytes(turn), resolve, reject };
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

/** A batch that fails as a whole says nothing about its turns: each goes again by itself, with the same bytes. */
async function sendTogether(sending: Sending, batch: readonly Waiting[]): Promise<void> {
  let answer: CommitAnswer;
  try {
    answer = await sending.store.commit(batch.map((waiting) => waiting.turn));
  } catch (error) {
    sending.log.warn('a group commit failed, its turns are sent one by one', {
      turns: batch.length,
      error: String(error),
    });
    await Promise.all(batch.map((waiting) => sendAlone(sending, waiting)));
    return;
  }
  batch.forEach((waiting, index) => {
    const verdict = answer.verdicts[index];
    if (verdict === undefined || verdict.verdict === 'busy') void sendAlone(sending, waiting);
    else waiting.resolve({ now: answer.now, verdict });
  });
}

/**
 * Sends one turn until its outcome is known (RULINGS A8): byte for byte the same, so that a commit whose answer was lost
 * is recognised and not repeated.
 */
async function sendAlone(sending: Sending, waiting: Waiting): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { now, verdicts } = await sending.store.commit([waiting.turn]);
      const [verdict] = verdicts;
      if (verdict !== undefined && verdict.verdict !== 'busy') {
        waiting.resolve({ now, verdict });
        return;
      }
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || attempt >= ATTEMPTS_MAX) {
        waiting.reject(error);
        return;
      }
    }
    await new Promise<void>((resume) => {
      sending.clock.after(pauseMs, resume);
    });
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/** Good enough to bound a batch; the exact size is the store's business. Parts that are nearly always empty cost nothing. */
function roughBytes(turn: TurnCommit): number {
  let bytes = 512;
  for (const row of turn.rows) bytes += 256 + JSON.stringify(row.output).length;
  for (const { frame } of turn.frames)
    bytes += frame.detail.kind === 'for_each' ? JSON.stringify(frame).length : 512;
  if (turn.instance.dataSet !== undefined) bytes += JSON.stringify(turn.instance.dataSet).length;
  if (turn.instance.data !== undefined) bytes += JSON.stringify(turn.instance.data).length;
  const rare = [turn.kv, turn.values, turn.tasksCreated, turn.childrenStarted];
  for (const part of rare) if (part.length > 0) bytes += JSON.stringify(part).length;
  return bytes;
}
