import { firstInstantOf, isShownTwice, localMsAt, MS_OF_DAY } from '../calendar/zone.ts';
import { civilFromDays, daysFromCivil, weekdayOfDays } from '../expressions/civil-time.ts';
import type { CronExpression } from './expression.ts';

/** The pattern of days repeats after so many years, so one that has not fit by then never does. */
const YEARS_OF_A_CYCLE = 400;
/** The last year that an instant on the wire can name. */
const LAST_YEAR = 9999;
const SECOND = 1_000;

/**
 * The first occurrence after an instant, or null when there is none any more. A local time that a clock change skips
 * occurs at the first instant after the gap; one that exists twice occurs once, the first time ([CRON-2]). So several
 * local times may share one occurrence, and occurrences ascend strictly.
 */
export function nextOccurrence(cron: CronExpression, zone: string, afterMs: number): number | null {
  const local = nextLocalTime(cron, firstLocalAfter(zone, afterMs));
  return local === null ? null : firstInstantOf(local, zone);
}

/** An occurrence with what a clock on the wall of its zone shows. */
export interface WallOccurrence {
  readonly at: number;
  /** As milliseconds since 1970-01-01T00:00:00 local. */
  readonly localMs: number;
  /** `dst_gap`: the clock skips the local time that fits, and this is the first instant after it. `dst_ambiguous`: the clock shows it twice, and this is the first time. */
  readonly note: 'dst_gap' | 'dst_ambiguous' | null;
}

/** The next `count` occurrences after an instant; fewer when the schedule ends before. */
export function previewOccurrences(
  cron: CronExpression,
  zone: string,
  afterMs: number,
  count: number,
): readonly WallOccurrence[] {
  const found: WallOccurrence[] = [];
  let last = afterMs;
  while (found.length < count) {
    const wanted = nextLocalTime(cron, firstLocalAfter(zone, last));
    if (wanted === null) break;
    last = firstInstantOf(wanted, zone);
    const localMs = localMsAt(last, zone);
    const twice = isShownTwice(wanted, zone) ? 'dst_ambiguous' : null;
    found.push({ at: last, localMs, note: localMs === wanted ? twice : 'dst_gap' });
  }
  return found;
}

/**
 * The latest occurrence up to `untilMs`, where `knownMs` is an earlier or the same one. It takes a few dozen steps however
 * many lie between them: what was missed in a long outage collapses into one ([CRON-4]).
 */
export function latestOccurrence(
  cron: CronExpression,
  zone: string,
  knownMs: number,
  untilMs: number,
): number {
  let latest = knownMs;
  // Whole seconds: after `latest` there is perhaps one more, after `end` there is none.
  let end = Math.floor(untilMs / SECOND) * SECOND;
  while (latest < end) {
    const middle = latest + Math.floor((end - latest) / 2 / SECOND) * SECOND;
    const next = nextOccurrence(cron, zone, middle);
    if (next !== null && next <= untilMs) latest = next;
    else end = middle;
  }
  return latest;
}

/** The least local time, in whole seconds, whose instant lies after this one. */
function firstLocalAfter(zone: string, afterMs: number): number {
  const shown = Math.floor(localMsAt(afterMs, zone) / SECOND) * SECOND + SECOND;
  if (firstInstantOf(shown, zone) > afterMs) return shown;
  // The hour shows for the second time: all its local times are over, up to where the clock was set back.
  let past = shown;
  let ahead = shown + MS_OF_DAY;
  while (ahead - past > SECOND) {
    const middle = past + Math.floor((ahead - past) / 2 / SECOND) * SECOND;
    if (firstInstantOf(middle, zone) > afterMs) ahead = middle;
    else past = middle;
  }
  return ahead;
}

/** The first local time from this one on that fits all fields. */
function nextLocalTime(cron: CronExpression, fromMs: number): number | null {
  const day = Math.floor(fromMs / MS_OF_DAY);
  const civil = civilFromDays(day);
  if (isYearOpen(cron, civil.year) && cron.month.has(civil.month) && fitsDay(cron, day, civil.day)) {
    const time = timeFrom(cron, (fromMs - day * MS_OF_DAY) / SECOND);
    if (time !== null) return day * MS_OF_DAY + time * SECOND;
  }
  const later = nextDay(cron, day + 1);
  const first = timeFrom(cron, 0);
  return later === null || first === null ? null : later * MS_OF_DAY + first * SECOND;
}

/** The first day from this one on that fits, counted from 1970. */
function nextDay(cron: CronExpression, fromDay: number): number | null {
  let { year, month, day } = civilFromDays(fromDay);
  const lastYear = Math.min(LAST_YEAR, year + YEARS_OF_A_CYCLE);
  for (; year <= lastYear; year += 1) {
    if (isYearOpen(cron, year)) {
      for (; month <= 12; month += 1) {
        const found = cron.month.has(month) ? nextDayOfMonth(cron, year, month, day) : null;
        if (found !== null) return found;
        day = 1;
      }
    }
    month = 1;
    day = 1;
  }
  return null;
}

function nextDayOfMonth(cron: CronExpression, year: number, month: number, fromDay: number): number | null {
  const first = daysFromCivil(year, month, 1);
  const end = month === 12 ? daysFromCivil(year + 1, 1, 1) : daysFromCivil(year, month + 1, 1);
  for (let day = first + fromDay - 1; day < end; day += 1) {
    if (fitsDay(cron, day, day - first + 1)) return day;
  }
  return null;
}

function isYearOpen(cron: CronExpression, year: number): boolean {
  return cron.year === null || cron.year.has(year);
}

function fitsDay(cron: CronExpression, day: number, dayOfMonth: number): boolean {
  const inMonth = cron.dayOfMonth.has(dayOfMonth);
  // The week of the calendar begins on Monday, that of an expression on Sunday.
  const inWeek = cron.dayOfWeek.has((weekdayOfDays(day) + 1) % 7);
  return cron.eitherDay ? inMonth || inWeek : inMonth && inWeek;
}

/** The first time of the day from this second on. */
function timeFrom(cron: CronExpression, fromSecond: number): number | null {
  for (const hour of cron.hour) {
    if (hour * 3600 + 3599 < fromSecond) continue;
    for (const minute of cron.minute) {
      const start = hour * 3600 + minute * 60;
      const second = cron.second.find((value) => start + value >= fromSecond);
      if (second !== undefined) return start + second;
    }
  }
  return null;
}
