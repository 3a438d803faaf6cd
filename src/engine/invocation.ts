import type { WorkLook } from '../ports/store/sweeps.ts';
import { WATCH_MS, every } from './alarm.ts';
import type { FunctionEngine } from './function-engine.ts';
import { type HintOutcome, type HintTarget, runInRounds } from './hint-rounds.ts';
import { type Invocation, openInvocation } from './open-invocation.ts';
import type { SweepResult, Swept } from './sweep.ts';
import { RESERVE_MS } from './turn-budget.ts';
import type { TurnDeps } from './turn-deps.ts';

export type { HintOutcome, HintTarget } from './hint-rounds.ts';

/**
 * One invocation for queue messages (reliability.md 5.3): a turn for each instance that is due, some at once, suspects after
 * all others (hint-rounds.ts). The outcomes stand in the order of the messages. Hints at what comes next are sent after each commit.
 *
 * @param remainingTimeMs What the host leaves this invocation.
 */
export async function runHints(
  engine: FunctionEngine,
  targets: readonly HintTarget[],
  remainingTimeMs: () => number,
): Promise<readonly HintOutcome[]> {
  const invocation = openInvocation(engine, remainingTimeMs);
  const announced = engine.deps.directory.announceWhenDue();
  const shown = showNode(engine.deps);
  const stopWatching = watch(invocation);
  const outcomes = await runInRounds(invocation, targets, engine.settings.maxTurns);
  stopWatching();
  await sendQueuedWebhooks(invocation);
  await announced;
  await shown;
  await engine.queue.settled();
  return outcomes;
}

export interface SweepOutcome {
  readonly result: SweepResult;
  /** What could not be done, everything else being done; null: nothing. */
  readonly problem: Error | null;
}

/** One invocation of the sweep (sequences.md 6.2). Comes to its end whatever could not be done, and after the turns have ended. */
export async function runSweep(engine: FunctionEngine, remainingTimeMs: () => number): Promise<SweepOutcome> {
  const { result, attempts } = await sweepOnce(engine, remainingTimeMs);
  return { result, problem: attempts.problems[0] ?? null };
}

/**
 * The same for a caller that has looked before.
 *
 * @param seen The look of the sweep, when it was taken before; null: it failed.
 */
export async function sweepOnce(
  engine: FunctionEngine,
  remainingTimeMs: () => number,
  seen?: WorkLook | null,
): Promise<Swept> {
  // A function that only runs turns does without it.
  const { sweepWithin } = await import('./sweep-invocation.ts');
  const invocation = openInvocation(engine, remainingTimeMs);
  const stopWatching = watch(invocation);
  try {
    return await sweepWithin(engine, invocation, seen);
  } finally {
    await invocation.idle();
    stopWatching();
    await engine.queue.settled();
  }
}

/** Ends are told at once; what has to wait for another attempt is left to the sweep, as waiting would be paid for. */
async function sendQueuedWebhooks({ deps, hasQueuedWebhooks, remainingTimeMs }: Invocation): Promise<void> {
  if (!hasQueuedWebhooks()) return;
  try {
    await deps.outbox?.deliverDue((waitMs) => waitMs === 0 && remainingTimeMs() >= RESERVE_MS);
  } catch (error) {
    deps.log.warn('webhooks are left to the sweep', { error: String(error) });
  }
}

/** The deployment is seen to live, and learns whether it is to drain; without the database it goes on as before. */
async function showNode({ node, log }: TurnDeps): Promise<void> {
  try {
    await node?.beatWhenDue();
  } catch (error) {
    log.warn('the sign of life could not be given', { error: String(error) });
  }
}

/** A cancel must reach the handlers that run meanwhile; answers what ends the watch. */
function watch({ deps, runner }: Invocation): () => void {
  const report = (error: unknown): void =>
    deps.log.warn('the inboxes of running steps could not be read', { error: String(error) });
  return every(deps.clock, WATCH_MS, () => runner.watchInboxes(), report);
}
