import type { Hints } from '../ports/hints.ts';
import type { NextWake } from '../ports/store/turn.ts';
import { type Alarm, WATCH_MS, createAlarm, every } from './alarm.ts';
import { fireDueSchedules } from './fire-schedules.ts';
import { type GiveWay, createGiveWay } from './give-way.ts';
import { createDatabaseTrouble, type DatabaseTrouble } from './database-trouble.ts';
import { ANNOUNCE_EVERY_MS } from './handler-directory.ts';
import type { LocalRunner } from './local-runner.ts';
import { kindsOfWork } from './look-for-work.ts';
import { type SweepSettings, claimDue, sweep } from './sweep.ts';
import type { TurnEnd } from './turn-end.ts';
import type { TurnDeps } from './turn-deps.ts';

/** Pause before a second look for what is due but could not be claimed: others hold it, or its limit is reached. */
const SECOND_LOOK_MS = 100;
/** A run without a free slot looks again after one to two seconds ([CONC-2]); by then the alarm has to go off. */
const SLOT_LOOK_MS = 2_000;
/** Pause before schedules are looked at again of which some could not be fired. */
const SCHEDULES_AGAIN_MS = 1_000;

export interface ResidentSettings extends SweepSettings {
  readonly leaseMs: number;
  /** Looks for the work of other processes on the same database; null where there are none (PGlite). */
  readonly tickMs: number | null;
  readonly sweepMs: number;
}

/**
 * Keeps a process working that lives on: an alarm for the next due instant instead of polling, a tick only for what other
 * processes leave behind, and the sweep, on which everything may rely.
 */
export class ResidentLoop {
  private readonly deps: TurnDeps;
  private readonly runner: LocalRunner;
  private readonly settings: ResidentSettings;
  private readonly alarm: Alarm;
  private readonly scheduleAlarm: Alarm;
  private readonly giveWay: GiveWay;
  private readonly trouble: DatabaseTrouble;
  private alive = false;
  private started = false;
  private claiming = false;
  private claimAgain = false;
  private firing = false;
  /** On the monotonic clock: schedules that could not be fired are left alone until then. */
  private scheduleRestUntil = 0;
  /** There was more to claim than this process had room for. */
  private backlog = false;
  /** What looks for work, and what keeps the work that is under way. */
  private readonly stops: { seeking: (() => void)[]; keeping: (() => void)[] } = { seeking: [], keeping: [] };
  /** Sweeps and claims that have not been answered yet. */
  private readonly underWay = new Set<Promise<void>>();

  constructor(deps: TurnDeps, runner: LocalRunner, settings: ResidentSettings) {
    this.deps = deps;
    this.runner = runner;
    this.settings = settings;
    this.alarm = createAlarm(deps.clock, () => void this.claim());
    this.scheduleAlarm = createAlarm(deps.clock, () => void this.fireSchedules());
    this.trouble = createDatabaseTrouble(deps.clock, deps.log);
    this.giveWay = createGiveWay(deps.clock, deps.entropy);
    runner.onTurnEnd((_, end) => this.afterTurn(end));
    runner.onNotDue(() => this.expect(SLOT_LOOK_MS));
  }

  /** False before `start` and once the loop has stopped. */
  get isAlive(): boolean {
    return this.alive;
  }

  /** True from the first `start` on, also after the loop has stopped. */
  get hasStarted(): boolean {
    return this.started;
  }

  start(): void {
    this.alive = true;
    this.started = true;
    const { tickMs, sweepMs, leaseMs } = this.settings;
    const { seeking, keeping } = this.stops;
    seeking.push(this.repeat(sweepMs, () => this.sweepOnce()));
    if (tickMs !== null) seeking.push(this.repeat(tickMs, () => this.tick()));
    keeping.push(this.repeat(Math.max(1, Math.floor(leaseMs / 3)), () => this.runner.renewLeases()));
    // Each sweep says both; where there are no others, nobody needs to hear it in between.
    const { node, directory } = this.deps;
    if (tickMs !== null && sweepMs > ANNOUNCE_EVERY_MS)
      seeking.push(this.repeat(ANNOUNCE_EVERY_MS, () => directory.announce()));
    if (tickMs !== null && node !== undefined)
      keeping.push(this.repeat(node.beatMs, () => node.beatWhenDue()));
    keeping.push(this.repeat(WATCH_MS, () => this.runner.watchInboxes()));
    this.sweepOnce().catch((error: unknown) => this.report(error));
  }

  /** Something falls due in this time that the loop may not know of, such as a start from outside. */
  expect(delayMs: number): void {
    if (this.alive) this.alarm.arm(delayMs);
  }

  /** A schedule falls due in this time. */
  expectSchedule(delayMs: number): void {
    if (this.alive) this.armSchedules(delayMs);
  }

  /**
   * Claims nothing more; resolves when the turns of this process have ended. Until then their leases are renewed and
   * cancels reach them.
   */
  async stop(): Promise<void> {
    this.alive = false;
    this.alarm.disarm();
    this.scheduleAlarm.disarm();
    for (const stop of this.stops.seeking.splice(0)) stop();
    // From here on there is no room; what a claim under way still brings is given back at once.
    const drained = this.runner.drain();
    await Promise.all(this.underWay);
    await drained;
    await this.runner.drain();
    await this.deps.outbox?.stop();
    await this.deps.node?.leave().catch((error: unknown) => this.report(error));
    for (const stop of this.stops.keeping.splice(0)) stop();
  }

  private repeat(periodMs: number, work: () => Promise<unknown>): () => void {
    return every(this.deps.clock, periodMs, work, (error) => this.report(error));
  }

  private async track<T>(work: Promise<T>): Promise<T> {
    const settled = work.then(
      () => undefined,
      () => undefined,
    );
    this.underWay.add(settled);
    try {
      return await work;
    } finally {
      this.underWay.delete(settled);
    }
  }

  private async sweepOnce(): Promise<void> {
    const { result, look, attempts } = await this.track(sweep(this.deps, this.runner, this.settings));
    if (kindsOfWork(look, this.settings.silentTaskMs).webhooks) this.deps.outbox?.poke();
    // As long as there is a backlog, claims go on: the next sweep must not wait for that.
    if (result.more) void this.claim();
    // Where nothing was done, what was seen still holds.
    if (look !== null && attempts.count === 0) this.armFor(look, SECOND_LOOK_MS);
    else await this.armNext(SECOND_LOOK_MS);
  }

  /** Others may have left something that this process knows nothing of. */
  private async tick(): Promise<void> {
    const seen = await this.nextWake();
    if (seen === null) return;
    if (seen.dueAt === null || seen.dueAt > seen.now) this.armFor(seen, SECOND_LOOK_MS);
    else if (this.alive) {
      if (seen.scheduleAt !== null) this.armSchedules(seen.scheduleAt - seen.now);
      void this.claim();
    }
  }

  /** Null while the database does not answer; of many times that it does not, few are logged. */
  private async nextWake(): Promise<NextWake | null> {
    try {
      const seen = await this.deps.store.nextWake();
      this.trouble.answered();
      return seen;
    } catch (error) {
      this.trouble.missed(error);
      return null;
    }
  }

  /** One claim at a time; a call during a claim is one more look after it. */
  private async claim(): Promise<void> {
    this.claimAgain = true;
    if (this.claiming) return;
    this.claiming = true;
    try {
      await this.giveWay.pause();
      const claimed = await this.claimAll();
      await this.armNext(claimed === 0 ? SECOND_LOOK_MS : 0);
    } catch (error) {
      this.report(error);
    } finally {
      this.claiming = false;
    }
  }

  private async claimAll(): Promise<number> {
    let total = 0;
    while (this.claimAgain && this.alive) {
      this.claimAgain = false;
      const { more, waits, claimed } = await this.track(claimDue(this.deps, this.runner, this.settings));
      total += claimed;
      this.backlog = more || waits || this.runner.room === 0;
      this.claimAgain ||= more && this.runner.room > 0;
    }
    return total;
  }

  private async armNext(leastDelayMs: number): Promise<void> {
    const seen = await this.nextWake();
    if (seen !== null) this.armFor(seen, leastDelayMs);
  }

  private armFor(
    { now, dueAt, scheduleAt }: Pick<NextWake, 'now' | 'dueAt' | 'scheduleAt'>,
    leastDelayMs: number,
  ): void {
    if (!this.alive) return;
    if (scheduleAt !== null) this.armSchedules(scheduleAt - now);
    if (dueAt === null || this.runner.room === 0) return;
    this.alarm.arm(Math.max(leastDelayMs, dueAt - now));
  }

  /** Schedules fire at their instant, whatever the turns of this process are at. One pass at a time. */
  private async fireSchedules(): Promise<void> {
    if (this.firing || !this.alive) return;
    this.firing = true;
    try {
      const { allFired } = await this.track(fireDueSchedules(this.deps));
      this.scheduleRestUntil = allFired ? 0 : this.deps.clock.monotonicMs() + SCHEDULES_AGAIN_MS;
      await this.armNext(SECOND_LOOK_MS);
    } catch (error) {
      this.report(error);
    } finally {
      this.firing = false;
    }
  }

  private armSchedules(delayMs: number): void {
    const restMs = this.scheduleRestUntil - this.deps.clock.monotonicMs();
    this.scheduleAlarm.arm(Math.max(0, delayMs, restMs));
  }

  private afterTurn(end: TurnEnd): void {
    if (!this.alive) return;
    if (end.kind === 'settled' && end.leftToOthers) this.giveWay.leftToOthers();
    if (end.kind === 'settled' && end.dueAt !== null) this.alarm.arm(Math.max(0, end.dueAt - end.now));
    // A batch is worth the call when it is large, or when half of a small process has nothing to do.
    const worthwhile = Math.min(this.settings.batchSize / 4, this.runner.activeTurns);
    if (this.backlog && this.runner.room >= worthwhile) void this.claim();
  }

  private report(error: unknown): void {
    this.trouble.report(error);
  }
}

/**
 * Hints inside one process: the instance is looked at directly while there is room; a delayed one, and those for which
 * there is none, are the alarm's business.
 */
export function createLocalHints(
  runner: () => Pick<LocalRunner, 'nudge' | 'room'> | null,
  loop: () => Pick<ResidentLoop, 'expect' | 'expectSchedule'> | null,
): Hints {
  return {
    send: (hints) => {
      let room = runner()?.room ?? 0;
      for (const { tenantId, instanceId, delayMs } of hints) {
        if (delayMs > 0 || room <= 0) {
          loop()?.expect(delayMs);
          continue;
        }
        room -= 1;
        // A lost hint costs latency only; the sweep finds the instance.
        runner()
          ?.nudge({ tenantId, instanceId })
          .catch(() => undefined);
      }
    },
    expectSchedule: (delayMs) => loop()?.expectSchedule(delayMs),
  };
}
