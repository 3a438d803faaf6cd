import type { WorkLook } from '../ports/store/sweeps.ts';
import type { ClaimBatch, GivenSlot } from '../ports/store/turn.ts';
import { type Attempts, createAttempts } from './attempts.ts';
import { removeExpired } from './remove-expired.ts';
import { fireDueSchedules } from './fire-schedules.ts';
import type { LocalRunner } from './local-runner.ts';
import { kindsOfWork, lookForWork, sayAlone } from './look-for-work.ts';
import { RESERVE_MS } from './turn-budget.ts';
import type { TurnDeps } from './turn-deps.ts';
import { hintFreed } from './hint-freed.ts';
import { askTwice, untilTold } from './until-answered.ts';

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
  /** How long the longest overdue instance had been due before anything was claimed; 0: none was, null: not known. */
  readonly oldestDueMs: number | null;
  /** True when a batch was full, or is to be followed by another: there is probably more. */
  readonly more: boolean;
}

export interface Swept {
  /** Instances whose lost leases were noted and that have not been taken over: they are due, and nobody has been told. */
  readonly left: readonly GivenSlot[];
  readonly result: SweepResult;
  /** What was seen first; null: that failed, and everything was tried. */
  readonly look: WorkLook | null;
  /** What was tried, and what of it failed; the others had their turn all the same. */
  readonly attempts: Attempts;
}

interface Claimed {
  readonly claimed: number;
  readonly more: boolean;
  /** A suspect may come when turns of this process have ended. */
  readonly waits: boolean;
  readonly left: readonly GivenSlot[];
}

const NOTHING: Claimed = { claimed: 0, more: false, waits: false, left: [] };

/**
 * One pass over everything that time drives (6.2): expired leases, silent tasks, due instances, schedules, memory that ran
 * out. One look says which of them there are, and with it goes what the process has to say; only those are asked
 * for, so an idle pass is one statement. Bounded, idempotent, safe beside other sweeps ([SWEEP-1]). Never rejects.
 *
 * @param seen The look, when the caller has it already.
 */
export async function sweep(
  deps: TurnDeps,
  runner: LocalRunner,
  settings: SweepSettings,
  seen?: WorkLook | null,
): Promise<Swept> {
  const look = seen === undefined ? await lookForWork(deps) : seen;
  if (look === null) await sayAlone(deps);
  const kinds = kindsOfWork(look, settings.silentTaskMs);
  const { remainingTimeMs } = deps.limits;
  const hasTime = (): boolean => remainingTimeMs === null || remainingTimeMs() > RESERVE_MS;
  const attempts = createAttempts(deps.log, hasTime, look !== null);
  const { attempt } = attempts;
  const { store } = deps;
  const taken = kinds.leases
    ? await attempt('take expired leases over', () => takeOverExpired(deps, runner, settings))
    : NOTHING;
  const released = kinds.tasks
    ? await attempt('release silent tasks', () =>
        store.releaseSilentTasks(settings.silentTaskMs, settings.batchSize),
      )
    : 0;
  // A take-over and a silent worker make instances due that were not when the look was taken.
  const due =
    kinds.due || kinds.leases || kinds.tasks
      ? await attempt('claim what is due', () => claimDue(deps, runner, settings))
      : NOTHING;
  if (kinds.schedules) await attempt('fire schedules', () => fireAll(deps));
  // Last, as it may be much and nobody waits for it.
  if (kinds.expired) await attempt('remove what has expired', () => removeExpired(store, hasTime));
  const result = {
    claimed: due?.claimed ?? 0,
    takenOver: taken?.claimed ?? 0,
    tasksReleased: released ?? 0,
    oldestDueMs: look === null ? null : Math.max(0, look.now - (look.dueAt ?? look.now)),
    more: [due, taken].some((claimed) => claimed?.more === true || claimed?.waits === true),
  };
  return { result, look, attempts, left: taken?.left ?? [] };
}

async function fireAll(deps: TurnDeps): Promise<void> {
  const { allFired } = await fireDueSchedules(deps);
  if (!allFired) throw new Error('some could not be fired');
}

/** Claims what is due, as far as this process has room, and runs it. */
export async function claimDue(
  deps: TurnDeps,
  runner: LocalRunner,
  settings: SweepSettings,
): Promise<Claimed> {
  const limit = Math.min(settings.batchSize, runner.room);
  if (limit === 0) return NOTHING;
  const { perTenantLimit } = settings;
  const request = { ...runner.newLease(), ...runner.crowd(), limit, perTenantLimit };
  const askedAtMs = deps.clock.monotonicMs();
  const batch = await told(deps, () => deps.store.claimDue(request));
  deps.counters.took('orch8_tick_duration_seconds', deps.clock.monotonicMs() - askedAtMs);
  return begin(deps, runner, batch, limit);
}

async function takeOverExpired(
  deps: TurnDeps,
  runner: LocalRunner,
  settings: SweepSettings,
): Promise<Claimed> {
  const limit = Math.min(settings.batchSize, runner.room);
  if (limit === 0) return NOTHING;
  const request = { ...runner.newLease(), ...runner.crowd(), limit, perTenantLimit: 0 };
  return begin(deps, runner, await told(deps, () => deps.store.claimExpired(request)), limit);
}

/**
 * A process that lives on does not wait with its claim for the end of an outage: its turns renew their leases then, and a claim that
 * came first would take them over.
 */
function told({ clock, limits }: TurnDeps, claim: () => Promise<ClaimBatch>): Promise<ClaimBatch> {
  return limits.remainingTimeMs === null ? askTwice(claim) : untilTold(clock, claim);
}

function begin(deps: TurnDeps, runner: LocalRunner, batch: ClaimBatch, limit: number): Claimed {
  hintFreed(deps, batch);
  if (batch.waits === 1) runner.makeWay();
  const suspects = batch.claims.some(({ takenOver }) => takenOver);
  for (const claim of batch.claims) runner.adopt(claim);
  const { left = [], claims } = batch;
  // Suspects come in small batches.
  const more = claims.length === limit || suspects || left.length > 0;
  return { claimed: claims.length, more, waits: batch.waits !== undefined && runner.activeTurns > 0, left };
}
