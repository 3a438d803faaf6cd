import type { WorkLook } from '../ports/store/sweeps.ts';
import type { Clock, Log } from '../ports/system.ts';
import type { Waker } from '../ports/waker.ts';
import { type FunctionEngine, leaseMsOf } from './function-engine.ts';
import {
  comeAgainAfter,
  DATABASE_AGAIN_MS,
  type FailedWakes,
  isOfDatabase,
  pauseAfterFailed,
} from './failed-wakes.ts';
import { type SweepOutcome, sweepOnce } from './invocation.ts';
import type { Looked } from './look-for-work.ts';
import type { Swept } from './sweep.ts';

/** What a guard lasts beyond the lease of an invocation (RULINGS A33). */
const GUARD_BEYOND_MS = 30_000;
/** Between two wakes of which the first found work. */
const NEXT_LOOK_MS = 1_000;
/** Before the next wake when something is due that could not be claimed: its tenant's limit is reached, or this build drains. */
const HELD_LOOK_MS = 30_000;

/**
 * What an invocation of economy mode does before it writes. A wake exists then which comes when every lease that the
 * invocation could take has ended; so nothing that it leaves behind is forgotten, whether it is a due time, a lost hint or a
 * lease of a process that is gone.
 */
export interface WakeGuard {
  /**
   * True when the wake is kept. Never rejects. False: the waker did not answer, so what is written now may have to wait for the
   * rare sweep; a request is refused then, and a message comes back later (docs/decisions/0020).
   */
  keep(): Promise<boolean>;
}

export interface WakeGuardParts {
  readonly waker: Waker;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Log;
  /** What an invocation takes at most. */
  readonly invocationMs: number;
  /** Least length of a lease; null as in FunctionEngineSettings. */
  readonly leaseMs: number | null;
  /** Shared by the invocations of a process. */
  readonly memory: GuardMemory;
}

/** Until when the process knows that there will be wakes, on the wall clock. */
export interface GuardMemory {
  keptUntilMs: number;
}

/** One guard serves many invocations: it is renewed when an invocation that begins now could outlast it. */
export function createWakeGuard({ waker, clock, log, memory, ...lengths }: WakeGuardParts): WakeGuard {
  const { invocationMs, leaseMs } = lengths;
  const guardMs = leaseMsOf({ leaseMs }, invocationMs) + GUARD_BEYOND_MS;
  return {
    async keep() {
      const now = clock.nowMs();
      if (memory.keptUntilMs - now > invocationMs) return true;
      try {
        await waker.guard(guardMs);
        memory.keptUntilMs = Math.max(memory.keptUntilMs, now + guardMs);
        return true;
      } catch (error) {
        log.warn('the next wake could not be kept', { error: String(error) });
        return false;
      }
    },
  };
}

/** What one wake needs of its host. */
export interface WakeParts {
  readonly waker: Pick<Waker, 'wakeWithin'>;
  readonly failed: FailedWakes;
  /** True: a wake that breaks off comes again by itself, for as long as it takes. */
  readonly isRepeated: boolean;
}

export interface Woken extends SweepOutcome {
  /** False: no wake could be kept, so the caller has to come back by itself. */
  readonly comesAgain: boolean;
}

/**
 * One wake: a look, the sweep of what it has found, then the wake for what falls due next (RULINGS A33). When nothing is due it
 * is the look, and the wake for what comes next. Whatever could not be done is left to another wake: soon when the database
 * could not be asked, else after pauses that grow.
 *
 * Where there is something to claim, and only there, the next try is kept before: a wake that kept one for itself each time would
 * wake for ever. It may come soon: until it does, what is to be done stays due, or is held by a lease, and a look sees
 * both. What others write meanwhile has the guards of those who write it, and nothing here puts those off.
 */
export async function runWake(
  engine: FunctionEngine,
  remainingTimeMs: () => number,
  parts: WakeParts,
): Promise<Woken> {
  const { tryToLook } = await import('./look-for-work.ts');
  const { waker, failed } = parts;
  const { deps } = engine;
  const looked = await tryToLook(deps);
  const failedBefore = await failed.count();
  const before = await triedOf(() => keepBefore(engine, parts, looked, failedBefore));
  const swept = await sweepOnce(engine, remainingTimeMs, looked.look);
  const { result, attempts } = swept;
  const undone = attempts.problems.find(isOfDatabase) ?? attempts.problems[0] ?? before;
  const problem = undone ?? (await triedOf(() => keepNext(engine, waker, swept)));
  if (problem === null) {
    await failed.forget();
    return { result, problem, comesAgain: true };
  }
  if (undone !== null) await triedOf(() => keepNext(engine, waker, swept, undone));
  const again = { waker, failed, entropy: deps.entropy, log: deps.log };
  const lost = await triedOf(() => comeAgainAfter(problem, failedBefore, again));
  return { result, problem, comesAgain: lost === null };
}

/** Before anything is claimed. */
async function keepBefore(
  engine: FunctionEngine,
  { waker, failed, isRepeated }: WakeParts,
  { look, problem }: Looked,
  failedBefore: number,
): Promise<void> {
  // What cannot be looked at may hold anything.
  const aheadMs = look === null ? 0 : untilDueMs(engine, look);
  if (aheadMs === null) return;
  if (aheadMs > 0) return waker.wakeWithin(aheadMs);
  if (isRepeated) return;
  const { entropy, log } = engine.deps;
  const count = failedBefore + 1;
  const lost = await triedOf(() =>
    isOfDatabase(problem)
      ? waker.wakeWithin(DATABASE_AGAIN_MS)
      : failed.comeAgain(pauseAfterFailed(count, entropy), count),
  );
  if (lost !== null) log.warn('the next wake could not be kept', { error: String(lost) });
}

/** When nothing was done, what the look has found is kept already. */
async function keepNext(
  engine: FunctionEngine,
  waker: WakeParts['waker'],
  { look, result, attempts }: Swept,
  problem: Error | null = null,
): Promise<void> {
  if (attempts.count === 0 && look !== null) return;
  const instants = untilDue(engine, await engine.deps.store.lookForWork({}));
  const ahead = instants.filter((untilMs) => untilMs > 0);
  if (ahead.length < instants.length) {
    const foundWork = result.more || result.claimed + result.takenOver + result.tasksReleased > 0;
    if (foundWork) ahead.push(NEXT_LOOK_MS);
    // What has failed is due still, and is tried again after a pause of its own.
    else if (problem === null) ahead.push(HELD_LOOK_MS);
  }
  if (ahead.length > 0) await waker.wakeWithin(Math.min(...ahead));
}

/** What it threw; null: nothing. */
async function triedOf(act: () => Promise<void>): Promise<Error | null> {
  try {
    await act();
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Milliseconds until anything has to be looked at, not above 0 for what is due; null: nothing, whatever the time. */
function untilDueMs(engine: FunctionEngine, look: WorkLook): number | null {
  const instants = untilDue(engine, look);
  return instants.length === 0 ? null : Math.min(...instants);
}

/** The same for each kind of work that there is. */
function untilDue({ deps, settings }: FunctionEngine, look: WorkLook): readonly number[] {
  const { now, dueAt, leaseUntil, scheduleAt, taskHeardAt } = look;
  const silentAt = taskHeardAt === null ? null : taskHeardAt + settings.silentTaskMs;
  // A build without a way to the outside leaves the webhooks to those that have one.
  const webhookAt = deps.outbox === undefined ? null : look.webhookAt;
  const known = [dueAt, leaseUntil, scheduleAt, silentAt, webhookAt].filter((instant) => instant !== null);
  return known.map((instant) => instant - now);
}
