import { civilFromDays, pad, weekdayOfDays } from '../expressions/civil-time.ts';
import { MS_OF_DAY } from './zone.ts';

const SATURDAY = 5;
const SUNDAY = 6;
/** After so many hops the time is used as it is ([BIZ-2]). */
const HOPS_MAX = 30;

/**
 * The first business day at or after a local time, at the same wall-clock time ([BIZ-1], [BIZ-2]).
 *
 * @param holidays Local dates `YYYY-MM-DD` that are no business days.
 */
export function toBusinessDay(localMs: number, holidays: ReadonlySet<string>): number {
  let moved = localMs;
  for (let hops = 0; hops < HOPS_MAX; hops += 1) {
    const days = Math.floor(moved / MS_OF_DAY);
    const weekday = weekdayOfDays(days);
    if (weekday === SATURDAY) moved += 2 * MS_OF_DAY;
    else if (weekday === SUNDAY || holidays.has(dateText(days))) moved += MS_OF_DAY;
    else break;
  }
  return moved;
}

/** `YYYY-MM-DD` of a day counted from 1970-01-01. */
function dateText(days: number): string {
  const { year, month, day } = civilFromDays(days);
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}
