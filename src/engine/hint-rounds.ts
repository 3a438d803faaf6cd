import type { ClaimOneResult } from '../ports/store/turn.ts';
import { hintFreed } from './hint-freed.ts';
import { FRESH_SHARE, isFresh } from './local-runner.ts';
import type { Invocation } from './open-invocation.ts';
import { RESERVE_MS } from './turn-budget.ts';
import { untilAnswered } from './until-answered.ts';

/** A database that wakes up refuses the first connections; that must not send a message back. */
const CLAIM_TRIES_MAX = 8;
/**
 * How long a claim is repeated: the driver may wait at each try (a second on Lambda), and a message that comes back later costs
 * less than an invocation that waits. Once more is always right, as an answer that was lost may have been a lease.
 */
const CLAIM_WITHIN_MS = 3_000;
/** Before a suspect is looked at again that the present invocation had no time for. */
const SUSPECT_AGAIN_MS = 1_000;
/** The same when this process has others at work. */
const CROWDED_AGAIN_MS = 10_000;
/** Nothing new begins here until it has come again: events share a process on Workers, which is never idle under load. */
const WAY_MS = 15_000;

/** Of the time: who is not alone is not blamed for being ended, but comes back in even smaller company. */
const HALF = 0.5;

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

/** It may not be in the company of this round. */
interface Suspect {
  readonly company: number;
}

interface Waiting {
  readonly index: number;
  readonly target: HintTarget;
  readonly company: number;
}

/**
 * Turns for the targets, at most `lanes` at once; the outcomes stand in their order. Runs that lost a lease come after all
 * others, in rounds of ever smaller company, down to those that have to be alone: what ends the process then is the run
 * itself. One that this invocation has no time for has another message, which counts for nothing.
 */
export async function runInRounds(
  invocation: Invocation,
  targets: readonly HintTarget[],
  lanes: number,
): Promise<readonly HintOutcome[]> {
  const outcomes = targets.map((): HintOutcome => 'unstarted');
  let waiting: readonly Waiting[] = targets.map((target, index) => ({ index, target, company: lanes }));
  while (waiting.length > 0) {
    const company = waiting.reduce((most, next) => Math.max(most, next.company), 1);
    const round = waiting.filter((next) => next.company === company);
    const later: Waiting[] = waiting.filter((next) => next.company < company);
    const among = company === 1 ? 1 : Math.max(2, Math.min(company, round.length));
    const next = round.values();
    const work = async (): Promise<void> => {
      // The lanes share one iterator: each takes the next message when it is free.
      for (const { index, target } of next) {
        const outcome = await runHint(invocation, target, among, company < lanes);
        if (typeof outcome === 'string') outcomes[index] = outcome;
        else later.push({ index, target, company: Math.min(outcome.company, company - 1) });
      }
    };
    await Promise.all(Array.from({ length: Math.min(company, round.length) }, work));
    waiting = later;
  }
  return outcomes;
}

async function runHint(
  invocation: Invocation,
  target: HintTarget,
  roundOf: number,
  isSuspect: boolean,
): Promise<HintOutcome | Suspect> {
  const { deps, runner, remainingTimeMs } = invocation;
  const among = deps.company.awaits(target.instanceId) ? 1 : roundOf;
  if (remainingTimeMs() < RESERVE_MS) return 'unstarted';
  // The message is only a hint: whoever works again finds the instance by its row.
  if (deps.node?.isDraining === true) return 'done';
  // What is ended by the host in the middle of its turn would look guilty.
  if (isSuspect && !isFresh(deps, among === 1 ? FRESH_SHARE : HALF))
    return comeAgain(invocation, target, SUSPECT_AGAIN_MS);
  if (!deps.company.admits(among)) {
    if (among === 1) deps.company.makeWay(target.instanceId, WAY_MS);
    return comeAgain(invocation, target, CROWDED_AGAIN_MS);
  }
  try {
    const answer = await claim(invocation, target, among);
    if (answer.status === 'not_due') hintFreed(deps, answer);
    if (answer.status === 'suspect') return { company: answer.company };
    // Not due, held, ended or unknown: there is nothing to do, which is what the message asked (RULINGS B15).
    if (answer.status !== 'claimed') return 'done';
    const end = await runner.run(answer.claim, answer.now);
    if (end.kind === 'crowded') return comeAgain(invocation, target, CROWDED_AGAIN_MS);
    return end.kind === 'broken' && end.unavailable ? 'retry' : 'done';
  } catch (error) {
    deps.log.error('an instance could not be looked at', {
      instance_id: target.instanceId,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    return 'retry';
  }
}

/** A message of its own: one that is given back too often would be taken for one that cannot be worked. */
function comeAgain({ deps }: Invocation, target: HintTarget, delayMs: number): HintOutcome {
  deps.hints.send([{ ...target, delayMs }]);
  return 'done';
}

/** The token is the same each time, so a claim whose answer was lost is answered again (RULINGS A24). */
function claim(
  { deps, runner, remainingTimeMs }: Invocation,
  target: HintTarget,
  among: number,
): Promise<ClaimOneResult> {
  const request = { ...target, ...runner.newLease(), among, mode: 'hint' } as const;
  const untilMs = deps.clock.monotonicMs() + CLAIM_WITHIN_MS;
  const mayWait = (tries: number): boolean =>
    tries < CLAIM_TRIES_MAX &&
    (tries === 1 || deps.clock.monotonicMs() < untilMs) &&
    remainingTimeMs() >= RESERVE_MS;
  return untilAnswered(deps.clock, () => deps.store.claimOne(request), mayWait);
}
