import type { ClaimOneResult } from '../ports/store/turn.ts';
import type { WorkLook } from '../ports/store/sweeps.ts';
import { WATCH_MS, every } from './alarm.ts';
import type { FunctionEngine } from './function-engine.ts';
import { type Invocation, openInvocation } from './open-invocation.ts';
import type { SweepResult, Swept } from './sweep.ts';
import { RESERVE_MS } from './turn-budget.ts';
import type { TurnDeps } from './turn-deps.ts';
import { hintFreed } from './hint-freed.ts';
import { untilAnswered } from './until-answered.ts';

/** A database that wakes up refuses the first connections; that must not send a message back. */
const CLAIM_TRIES_MAX = 8;
/**
 * How long a claim is repeated: the driver may wait at each try (a second on Lambda), and a message that comes back later costs
 * less than an invocation that waits. Once more is always right, as an answer that was lost may have been a lease.
 */
const CLAIM_WITHIN_MS = 3_000;

/** The instance that a message names. */
export interface HintTarget {
  readonly tenantId: string;
  readonly instanceId: string;
}

/**
 * What becomes of a message. `done`: also when there was nothing to do. `retry`: the database could not be asked.
 * `unstarted`: the time was up before its turn came; it is given back at once.
 */
export type HintOutcome = 'done' | 'retry' | 'unstarted';

/**
 * One invocation for queue messages (reliability.md 5.3): a turn for each instance that is due, some at once. The outcomes
 * stand in the order of the messages. Hints at what comes next are sent after each commit.
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
  const outcomes = targets.map((): HintOutcome => 'unstarted');
  const waiting = targets.entries();
  const work = async (): Promise<void> => {
    // The lanes share one iterator: each takes the next message when it is free.
    for (const [index, target] of waiting) outcomes[index] = await runHint(invocation, target);
  };
  const lanes = Math.min(engine.settings.maxTurns, targets.length);
  const stopWatching = watch(invocation);
  await Promise.all(Array.from({ length: lanes }, work));
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

async function runHint(invocation: Invocation, target: HintTarget): Promise<HintOutcome> {
  const { deps, runner, remainingTimeMs } = invocation;
  if (remainingTimeMs() < RESERVE_MS) return 'unstarted';
  // The message is only a hint: whoever works again finds the instance by its row.
  if (deps.node?.isDraining === true) return 'done';
  try {
    const answer = await claim(invocation, target);
    if (answer.status === 'not_due') hintFreed(deps, answer);
    // Not due, held, ended or unknown: there is nothing to do, which is what the message asked (RULINGS B15).
    if (answer.status !== 'claimed') return 'done';
    const end = await runner.run(answer.claim, answer.now);
    return end.kind === 'broken' && end.unavailable ? 'retry' : 'done';
  } catch (error) {
    deps.log.error('an instance could not be looked at', {
      instance_id: target.instanceId,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    return 'retry';
  }
}

/** The token is the same each time, so a claim whose answer was lost is answered again (RULINGS A24). */
function claim({ deps, runner, remainingTimeMs }: Invocation, target: HintTarget): Promise<ClaimOneResult> {
  const request = { ...target, ...runner.newLease(), mode: 'hint' } as const;
  const untilMs = deps.clock.monotonicMs() + CLAIM_WITHIN_MS;
  const mayWait = (tries: number): boolean =>
    tries < CLAIM_TRIES_MAX &&
    (tries === 1 || deps.clock.monotonicMs() < untilMs) &&
    remainingTimeMs() >= RESERVE_MS;
  return untilAnswered(deps.clock, () => deps.store.claimOne(request), mayWait);
}
