import type { Clock, Log } from '../ports/system.ts';

const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 60_000;
/** Texts that are kept apart; a database that is down has a few. */
const TEXTS_MAX = 100;

/** What a loop says that asks ten times a second and may be refused each time. */
export interface DatabaseTrouble {
  /** Logged at once, then after pauses that double up to a minute, with how often it came in between. */
  readonly report: (error: unknown) => void;
  /** The loop was answered. Says so once after `missed`. */
  readonly answered: () => void;
  /** As `report`, of the question whose next answer ends the trouble. */
  readonly missed: (error: unknown) => void;
}

interface Told {
  readonly pauseMs: number;
  readonly nextAt: number;
  readonly unsaid: number;
}

export function createDatabaseTrouble(
  clock: Pick<Clock, 'monotonicMs'>,
  log: Pick<Log, 'warn' | 'info'>,
): DatabaseTrouble {
  const toldOf = new Map<string, Told>();
  let isMissing = false;

  const report = (error: unknown): void => {
    const text = String(error);
    const now = clock.monotonicMs();
    const told = toldOf.get(text);
    if (told !== undefined && now < told.nextAt) {
      toldOf.set(text, { ...told, unsaid: told.unsaid + 1 });
      return;
    }
    // What has not come for a whole pause is a new trouble.
    const goesOn = told !== undefined && now < told.nextAt + told.pauseMs;
    const pauseMs = goesOn ? Math.min(told.pauseMs * 2, PAUSE_MAX_MS) : PAUSE_MIN_MS;
    if (toldOf.size >= TEXTS_MAX) toldOf.clear();
    toldOf.set(text, { pauseMs, nextAt: now + pauseMs, unsaid: 0 });
    const unsaid = told?.unsaid ?? 0;
    log.warn('the engine loop could not reach the database', {
      error: text,
      ...(unsaid === 0 ? {} : { times_since: unsaid + 1 }),
    });
  };

  return {
    report,
    missed: (error) => {
      isMissing = true;
      report(error);
    },
    answered: () => {
      if (!isMissing) return;
      isMissing = false;
      toldOf.clear();
      log.info('the database answers the engine loop again');
    },
  };
}
