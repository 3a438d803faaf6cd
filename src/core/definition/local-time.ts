import { isRealDate, isRealTime } from './times.ts';

const LOCAL_DATE = /^\d{4}-\d{2}-\d{2}$/;
const LOCAL_DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$/;
const ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/;

/** True for a real date `YYYY-MM-DD` ([LIM-20]). */
export function isLocalDate(text: string): boolean {
  return LOCAL_DATE.test(text) && isRealDate(text);
}

/** True for a real date and time `YYYY-MM-DDTHH:MM:SS` without an offset ([LIM-20]). */
export function isLocalDateTime(text: string): boolean {
  return LOCAL_DATE_TIME.test(text) && isRealDate(text) && isRealTime(text);
}

/**
 * Answers of the time zone database by name. Asking it costs a tenth of a millisecond and a document may name one zone
 * 5,000 times. The answer never changes, and the map is emptied before user names can fill the memory.
 */
const knownZones = new Map<string, boolean>();
const MAX_REMEMBERED_ZONES = 2000;

/** True for a name of the IANA time zone database. Bare offsets such as `+01:00` are no names. */
export function isKnownTimeZone(name: string): boolean {
  const remembered = knownZones.get(name);
  if (remembered !== undefined) return remembered;
  if (knownZones.size >= MAX_REMEMBERED_ZONES) knownZones.clear();
  const known = ZONE_NAME.test(name) && isSupportedZone(name);
  knownZones.set(name, known);
  return known;
}

function isSupportedZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    // The formatter has no other way to say that it does not know a zone.
    return false;
  }
}
