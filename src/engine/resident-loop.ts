import type { Hints } from '../ports/hints.ts';
import type { Clock } from '../ports/system.ts';
import type { LocalRunner } from './local-runner.ts';
import { type SweepSettings, claimDue, sweep } from './sweep.ts';
import type { TurnDeps } from './turn-deps.ts';

/** How often a process looks whether its running handlers are to be cancelled (RULINGS B22). */
const WATCH_MS = 250;
/** Waits longer than this are left to the sweep, which arms the timer anew. */
const LONGEST_TIMER_MS = 15 * 60 * 1000;

export interface ResidentSettings extends SweepSettings {
  readonly leaseMs: number;
  /** Looks for the work of other processes on the same database; null where there are none (PGlite). */
  readonly tickMs: number | null;
  readonly sweepMs: number;
}

export interface ResidentLoop {
  start(): void;
  /** Claims nothing more; resolves when the turns of this process have ended. */
  stop(): Promise<void>;
  /** False once the loop has stopped. */
  isAlive(): boolean;
}

/**
 * Keeps a process working that lives on: a timer for the next due instant instead of polling, a tick only for what other
 * processes leave behind, and the sweep, on which everything may rely.
 */
export function createResidentLoop(
  deps: TurnDeps,
  runner: LocalRunner,
  settings: ResidentSettings,
): ResidentLoop {
  const alarm = createAlarm(deps.clock, () => void claimNow());
  let alive = false;
  let claiming = false;
  let claimAgain = false;
  let backlog = false;
  const cancels: (() => void)[] = [];

  const claimNow = async (): Promise<void> => {
    if (!alive) return;
    claimAgain = true;
    if (claiming) return;
    claiming = true;
    try {
      while (claimAgain && alive) {
        claimAgain = false;
        const { more } = await claimDue(deps, runner, settings);
        // A full batch, or no room to ask: there is probably more, and turns that end make room for it.
        backlog = more || runner.room === 0;
        claimAgain ||= more && runner.room > 0;
      }
      await armNext();
    } catch (error) {
      deps.log.warn('due instances could not be claimed', { error: String(error) });
    } finally {
      claiming = false;
    }
  };

  const armNext = async (): Promise<void> => {
    const { now, dueAt } = await deps.store.nextWake();
    if (dueAt !== null && runner.room > 0) alarm.arm(Math.max(0, dueAt - now));
  };

  const every = (periodMs: number, work: () => Promise<unknown>): void => {
    let disarm = (): void => undefined;
    const run = async (): Promise<void> => {
      try {
        await work();
      } catch (error) {
        deps.log.warn('a periodic task failed', { error: String(error) });
      }
      if (alive) disarm = deps.clock.after(periodMs, () => void run());
    };
    disarm = deps.clock.after(periodMs, () => void run());
    cancels.push(() => disarm());
  };

  runner.onTurnEnd((_, end) => {
    if (!alive) return;
    if (end.kind === 'settled' && end.dueAt !== null) alarm.arm(Math.max(0, end.dueAt - end.now));
    if (backlog && runner.room >= settings.batchSize / 4) void claimNow();
  });

  return {
    start: () => {
      alive = true;
      if (settings.tickMs !== null) every(settings.tickMs, claimNow);
      every(settings.sweepMs, () => sweep(deps, runner, settings).then(armNext));
      every(Math.max(1, Math.floor(settings.leaseMs / 3)), () => runner.renewLeases());
      every(WATCH_MS, () => runner.watchInboxes());
      void sweep(deps, runner, settings).then(armNext, (error: unknown) => {
        deps.log.warn('the first sweep failed', { error: String(error) });
      });
    },
    stop: async () => {
      alive = false;
      alarm.disarm();
      for (const cancel of cancels) cancel();
      await runner.drain();
    },
    isAlive: () => alive,
  };
}

interface Alarm {
  /** Rings after this long, unless it is set to ring earlier already. */
  arm(delayMs: number): void;
  disarm(): void;
}

function createAlarm(clock: Clock, ring: () => void): Alarm {
  let at: number | null = null;
  let cancel = (): void => undefined;
  return {
    arm: (delayMs) => {
      const wanted = clock.monotonicMs() + Math.min(delayMs, LONGEST_TIMER_MS);
      if (at !== null && at <= wanted) return;
      cancel();
      at = wanted;
      cancel = clock.after(wanted - clock.monotonicMs(), () => {
        at = null;
        ring();
      });
    },
    disarm: () => {
      cancel();
      at = null;
    },
  };
}

/** Hints inside one process: the instance is looked at directly. A delayed one is the alarm's business. */
export function createLocalHints(runner: () => Pick<LocalRunner, 'nudge'> | null): Hints {
  return {
    send: (hints) => {
      for (const { tenantId, instanceId, delayMs } of hints) {
        if (delayMs > 0) continue;
        // A lost hint costs latency only; the sweep finds the instance.
        runner()
          ?.nudge({ tenantId, instanceId })
          .catch(() => undefined);
      }
    },
  };
}
