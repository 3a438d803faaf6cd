import type { WorkLook } from '../ports/store/sweeps.ts';
import type { Clock, Log } from '../ports/system.ts';
import type { Waker } from '../ports/waker.ts';
import { type FunctionEngine, leaseMsOf } from './function-engine.ts';
import { sweepOnce } from './invocation.ts';
import type { SweepResult, Swept } from './sweep.ts';

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

/**
 * One wake: a sweep, then the wake for what falls due next, which is read after its claims (RULINGS A33). Rejects when
 * something could not be done, the rest being done; when it was the database or the waker that could not be asked, the
 * caller has to come back by itself.
 *
 * @param guard For a host that does not repeat a wake that broke off: what would be left then is kept before the sweep. A guard is
 * kept where there is something to claim, and only there: a wake that kept one for itself each time would wake for ever.
 */
export async function runWake(
  engine: FunctionEngine,
  waker: Pick<Waker, 'wakeWithin'>,
  remainingTimeMs: () => number,
  guard: WakeGuard | null = null,
): Promise<SweepResult> {
  const { lookForWork } = await import('./look-for-work.ts');
  const look = await lookForWork(engine.deps);
  // A database that cannot be asked may hold anything.
  const aheadMs = look === null ? 0 : untilDueMs(engine, look);
  if (guard !== null && aheadMs !== null) {
    if (aheadMs <= 0) await guard.keep();
    else await waker.wakeWithin(aheadMs);
  }
  const swept = await sweepOnce(engine, remainingTimeMs, look);
  const [problem] = swept.attempts.problems;
  const delayMs = await nextWakeMs(engine, swept);
  if (delayMs !== null) await waker.wakeWithin(delayMs);
  if (problem !== undefined) throw problem;
  return swept.result;
}

/** Milliseconds until the next wake; null: nothing is due, whatever the time. */
async function nextWakeMs(engine: FunctionEngine, { look, result, attempts }: Swept): Promise<number | null> {
  const after = attempts.count === 0 && look !== null ? look : await engine.deps.store.lookForWork({});
  const aheadMs = untilDueMs(engine, after);
  if (aheadMs === null || aheadMs > 0) return aheadMs;
  const foundWork = result.more || result.claimed + result.takenOver + result.tasksReleased > 0;
  return foundWork ? NEXT_LOOK_MS : HELD_LOOK_MS;
}

/** Milliseconds until anything has to be looked at, not above 0 for what is due; null: nothing, whatever the time. */
function untilDueMs({ deps, settings }: FunctionEngine, look: WorkLook): number | null {
  const { now, dueAt, leaseUntil, scheduleAt, taskHeardAt } = look;
  const silentAt = taskHeardAt === null ? null : taskHeardAt + settings.silentTaskMs;
  // A build without a way to the outside leaves the webhooks to those that have one.
  const webhookAt = deps.outbox === undefined ? null : look.webhookAt;
  const known = [dueAt, leaseUntil, scheduleAt, silentAt, webhookAt].filter((instant) => instant !== null);
  return known.length === 0 ? null : Math.min(...known) - now;
}
