import type { Claim } from '../ports/store/turn.ts';
import { fireDueSchedules } from './fire-schedules.ts';
import type { LocalRunner } from './local-runner.ts';
import type { TurnDeps } from './turn-deps.ts';
import { askTwice } from './until-answered.ts';

export interface SweepSettings {
  /** Instances of one claim. */
  readonly batchSize: number;
  /** 0 = no cap ([SWEEP-3]). */
  readonly perTenantLimit: number;
  /** A claimed worker task is silent after this long ([WRK-10]). */
  readonly silentTaskMs: number;
}

export interface SweepResult {
  readonly claimed: number;
  readonly takenOver: number;
  readonly tasksReleased: number;
  /** True when a batch was full: there is probably more. */
  readonly more: boolean;
}

const EXPIRED_ROWS_PER_SWEEP = 1000;

/**
 * One pass over everything that time drives (6.2): the names of handlers (RULINGS B8), expired leases, silent tasks, due
 * instances, memory that ran out, schedules. Bounded, idempotent, safe beside other sweeps ([SWEEP-1]).
 */
export async function sweep(
  deps: TurnDeps,
  runner: LocalRunner,
  settings: SweepSettings,
): Promise<SweepResult> {
  // Nothing below waits for it: a turn that needs the names of others has them read itself.
  const announced = deps.directory.announce();
  const taken = await takeOverExpired(deps, runner, settings);
  const tasksReleased = await deps.store.releaseSilentTasks(settings.silentTaskMs, settings.batchSize);
  await deps.store.removeExpired(EXPIRED_ROWS_PER_SWEEP);
  const due = await claimDue(deps, runner, settings);
  await fireDueSchedules(deps);
  await announced;
  return {
    claimed: due.claimed,
    takenOver: taken.claimed,
    tasksReleased,
    more: due.more || taken.more,
  };
}

/** Claims what is due, as far as this process has room, and runs it. */
export async function claimDue(
  deps: TurnDeps,
  runner: LocalRunner,
  settings: SweepSettings,
): Promise<{ readonly claimed: number; readonly more: boolean }> {
  const limit = Math.min(settings.batchSize, runner.room);
  if (limit === 0) return { claimed: 0, more: false };
  const request = { ...runner.newLease(), limit, perTenantLimit: settings.perTenantLimit };
  const askedAtMs = deps.clock.monotonicMs();
  const { claims } = await askTwice(() => deps.store.claimDue(request));
  deps.counters.took('orch8_tick_duration_seconds', deps.clock.monotonicMs() - askedAtMs);
  adoptAll(runner, claims);
  return { claimed: claims.length, more: claims.length === limit };
}

async function takeOverExpired(
  deps: TurnDeps,
  runner: LocalRunner,
  settings: SweepSettings,
): Promise<{ readonly claimed: number; readonly more: boolean }> {
  const limit = Math.min(settings.batchSize, runner.room);
  if (limit === 0) return { claimed: 0, more: false };
  const request = { ...runner.newLease(), limit, perTenantLimit: 0 };
  const { claims } = await askTwice(() => deps.store.claimExpired(request));
  adoptAll(runner, claims);
  return { claimed: claims.length, more: claims.length === limit };
}

function adoptAll(runner: LocalRunner, claims: readonly Claim[]): void {
  for (const claim of claims) runner.adopt(claim);
}
