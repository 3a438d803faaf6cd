import type { SendWindow } from '../definition/document.ts';
import { weekdayOfDays } from '../expressions/civil-time.ts';
import { MS_OF_DAY, MS_OF_HOUR, instantOf, localMsAt } from './zone.ts';

/** Days looked ahead: a week, and as much again for weeks in which a clock change swallows the only opening. */
const DAYS_AHEAD = 15;

/**
 * The earliest instant at or after `instant` that is inside the window ([WIN-1], [WIN-2]): the instant itself when it is
 * inside.
 */
export function nextOpening(window: SendWindow, instant: number, zone: string): number {
  if (isInside(window, instant, zone)) return instant;
  const today = Math.floor(localMsAt(instant, zone) / MS_OF_DAY);
  for (let day = today; day <= today + DAYS_AHEAD; day += 1) {
    for (const hour of openingHours(window)) {
      const opening = instantOf(day * MS_OF_DAY + hour * MS_OF_HOUR, zone);
      if (opening > instant && isInside(window, opening, zone)) return opening;
    }
  }
  // No zone has a window that stays shut for two weeks; the step must not wait for ever on it.
  return instant;
}

/** A window that wraps midnight also opens at 0:00 of an allowed day behind one that is not. */
function openingHours(window: SendWindow): readonly number[] {
  return window.start_hour > window.end_hour ? [0, window.start_hour] : [window.start_hour];
}

/** The weekday is always that of the instant itself, also after midnight ([WIN-1]). */
function isInside(
  { start_hour: start, end_hour: end, days }: SendWindow,
  instant: number,
  zone: string,
): boolean {
  const local = localMsAt(instant, zone);
  const day = Math.floor(local / MS_OF_DAY);
  if (days.length > 0 && !days.includes(weekdayOfDays(day))) return false;
  const hour = Math.floor((local - day * MS_OF_DAY) / MS_OF_HOUR);
  return start < end ? hour >= start && hour < end : hour >= start || hour < end;
}
