import { daysFromCivil } from '../expressions/civil-time.ts';

export const MS_OF_HOUR = 3_600_000;
export const MS_OF_DAY = 86_400_000;

/**
 * Formatters by zone. Making one costs a tenth of a millisecond, and the map is emptied before names that users make up
 * can fill the memory.
 */
const formatters = new Map<string, Intl.DateTimeFormat>();
const FORMATTERS_MAX = 500;

/**
 * Wall-clock time of a zone as if it were UTC: milliseconds since 1970-01-01T00:00:00 local. Calendar arithmetic is plain
 * arithmetic on it.
 */
export function localMsAt(instant: number, zone: string): number {
  const parts = new Map(
    formatterOf(zone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type) ?? 0);
  const days = daysFromCivil(part('year'), part('month'), part('day'));
  const seconds = part('hour') * 3600 + part('minute') * 60 + part('second');
  const fraction = instant - Math.floor(instant / 1000) * 1000;
  return days * MS_OF_DAY + seconds * 1000 + fraction;
}

/**
 * The instant of a local time ([TZ-2]): one that a clock change skips is moved forward by the length of the gap, one that
 * exists twice means the earlier instant.
 */
export function instantOf(localMs: number, zone: string): number {
  // A day away from it no zone is still in the offset of the other side of a change.
  const before = offsetAt(localMs - MS_OF_DAY, zone);
  const after = offsetAt(localMs + MS_OF_DAY, zone);
  const candidates = [localMs - before, localMs - after].filter((at) => localMsAt(at, zone) === localMs);
  return candidates.length === 0 ? localMs - before : Math.min(...candidates);
}

/**
 * The first instant at which this local time is shown or already past ([CRON-2]): one that a clock change skips means the
 * end of the gap, one that exists twice the earlier instant. A later local time never means an earlier instant. For local
 * times in whole seconds.
 */
export function firstInstantOf(localMs: number, zone: string): number {
  const shifted = instantOf(localMs, zone);
  const gap = localMsAt(shifted, zone) - localMs;
  if (gap === 0) return shifted;
  // The change lies in between: before it the clock shows less than this local time, from it on more.
  let before = shifted - gap;
  let after = shifted;
  while (after - before > 1000) {
    const middle = before + Math.floor((after - before) / 2000) * 1000;
    if (localMsAt(middle, zone) > localMs) after = middle;
    else before = middle;
  }
  return after;
}

/** True when a clock that is set back shows this local time twice. */
export function isShownTwice(localMs: number, zone: string): boolean {
  const before = localMs - offsetAt(localMs - MS_OF_DAY, zone);
  const after = localMs - offsetAt(localMs + MS_OF_DAY, zone);
  return before !== after && [before, after].every((at) => localMsAt(at, zone) === localMs);
}

/** True for a name of the IANA data that this platform knows; an offset such as `+01:00` is no zone. */
export function isKnownZone(zone: string): boolean {
  return /^[A-Za-z]/.test(zone) && makeFormatter(zone) !== null;
}

function offsetAt(instant: number, zone: string): number {
  return localMsAt(instant, zone) - instant;
}

/** [TZ-1]: an unknown name is treated as UTC. */
function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  if (formatters.size >= FORMATTERS_MAX) formatters.clear();
  const made = makeFormatter(zone) ?? makeFormatter('UTC');
  if (made === null) throw new Error('the platform knows no time zone');
  formatters.set(zone, made);
  return made;
}

function makeFormatter(zone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    // The formatter has no other way to say that it does not know a zone.
    return null;
  }
}
