import type { Workload } from './assumptions.ts';
import type { Work } from './work.ts';

/** Hours of a month of 365 ÷ 12 days. */
export const HOURS = 730;
const MINUTES = HOURS * 60;
const HOUR_MS = 3_600_000;
/** What a guard lasts beyond the invocation that keeps it: the lease's part and its own (engine/deployment-wakes.ts). */
const GUARD_BEYOND_MINUTES = 1;
/** One-off schedules are rounded up to their minute, half of one on average. */
const ROUNDED_UP_MINUTES = 0.5;
/** Economy mode: a sweep every six hours looks for wakes that were lost. */
const SAFETY_SWEEPS = HOURS / 6;

export interface Awake {
  /** Hours in which the database does not sleep. */
  readonly hours: number;
  /** Hours of them over which the work is spread. */
  readonly loadHours: number;
}

/** Sweeps that a fixed schedule brings. */
export function scheduledSweeps({ mode }: Workload): number {
  return mode === 'steady' ? MINUTES : SAFETY_SWEEPS;
}

/**
 * Wakes of economy mode: one in each minute for which somebody keeps a guard, or in which a wait ends; whoever finds one kept is content
 * with it. Of visits that come independently, so many minutes have at least one.
 */
export function wakesOf(workload: Workload, work: Work): number {
  if (workload.mode === 'steady') return 0;
  if (work.visits === 0) return 0;
  const minutes = activeHours(workload, work) * 60;
  // All at once: the minutes of the work, the last guard, and for each wait its end and another guard.
  if (workload.arrival === 'heap') return Math.min(MINUTES, Math.floor(minutes) + 1 + 2 * workload.waits);
  const kept = work.visits * (1 + visitHours(work) * 60) + workload.runs * workload.waits;
  return minutes * (1 - Math.exp(-kept / minutes));
}

/**
 * When the database is awake. Each visit keeps it awake while it lasts, until the guard's wake, and until it has been silent for long
 * enough. The time in which none of many independent visits does so is a negative exponential of their density; what comes on top
 * (safety sweeps, readers) is independent of them, so the shares of silence multiply.
 */
export function awakeOf(workload: Workload, work: Work): Awake {
  const sleepHours = workload.sleepMinutes / 60;
  const ofSweeps = Math.min(1, (scheduledSweeps(workload) * sleepHours) / HOURS);
  const ofReads = 1 - Math.exp((-workload.reads * sleepHours) / HOURS);
  const visited = Math.min(HOURS, hoursOfVisits(workload, work));
  const silent = (1 - visited / HOURS) * (1 - ofSweeps) * (1 - ofReads);
  const loadHours = workload.arrival === 'heap' ? Math.min(HOURS, heapHours(workload, work)) : visited;
  return { hours: HOURS * (1 - silent), loadHours };
}

function hoursOfVisits(workload: Workload, work: Work): number {
  if (work.visits === 0) return 0;
  const lasts = visitHours(work) + guardPause(workload) + workload.sleepMinutes / 60;
  switch (workload.arrival) {
    case 'heap':
      return heapHours(workload, work) + (1 + workload.waits) * (lasts - visitHours(work));
    case 'spread':
      return HOURS * (1 - Math.exp((-work.visits * lasts) / HOURS));
    case 'business-hours': {
      const { businessDays: days, businessHours: hours } = workload;
      return days * hoursOfDay({ visits: work.visits / days, lasts, hours });
    }
  }
}

/**
 * Expected time that intervals of one length cover which begin at random within some hours, the last ones ending after them. At its edges
 * a window of that length sees fewer of them.
 */
function hoursOfDay({ visits, lasts, hours }: Record<'visits' | 'lasts' | 'hours', number>): number {
  const [shorter, longer] = lasts < hours ? [lasts, hours] : [hours, lasts];
  if (shorter === 0) return 0;
  const perHour = visits / hours;
  const covered = 1 - Math.exp(-perHour * shorter);
  return (longer - shorter) * covered + 2 * (shorter - covered / perHour);
}

/** Between the end of a visit and its guard's wake, as far as the database stays awake for it. */
function guardPause({ mode, host, invocationSeconds, sleepMinutes }: Workload): number {
  if (mode === 'steady') return 0;
  const minutes = invocationSeconds / 60 + GUARD_BEYOND_MINUTES + (host === 'aws' ? ROUNDED_UP_MINUTES : 0);
  return Math.min(minutes, sleepMinutes) / 60;
}

/** What one visit takes, in hours. */
function visitHours({ visits, turnsMs }: Work): number {
  return visits === 0 ? 0 : turnsMs / visits / HOUR_MS;
}

/** Everything at once takes what the largest database takes for it, or what one run takes. */
function heapHours({ runs, maxUnits }: Workload, { unitHours, turnsMs }: Work): number {
  return runs === 0 ? 0 : Math.max(unitHours / maxUnits, turnsMs / runs / HOUR_MS);
}

/** The hours in which visits come. */
function activeHours(workload: Workload, work: Work): number {
  switch (workload.arrival) {
    case 'heap':
      return heapHours(workload, work);
    case 'spread':
      return HOURS;
    case 'business-hours':
      return Math.min(HOURS, workload.businessDays * workload.businessHours);
  }
}
