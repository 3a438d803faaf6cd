import { isDigits } from './lexical.ts';

/**
 * Instants as civil dates, by arithmetic on days of the proleptic Gregorian calendar. The platform's date type is not
 * used: it brings the local zone and the clock into the core.
 */
export interface CivilTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  /** 0 to 60; 60 is a leap second. */
  readonly second: number;
  readonly millisecond: number;
  /** Minutes east of UTC; the other members are in this offset. */
  readonly offsetMinutes: number;
}

const DAYS_OF_400_YEARS = 146_097;
/** Days from 1 March of year 0 to 1 January 1970. */
const DAYS_TO_1970 = 719_468;
const MS_OF_DAY = 86_400_000;

/** Days since 1 January 1970. */
export function daysFromCivil(year: number, month: number, day: number): number {
  // Years that begin in March have the leap day at their end, which makes the months regular.
  const marchYear = month > 2 ? year : year - 1;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const monthFromMarch = (month + 9) % 12;
  const dayOfYear = Math.floor((153 * monthFromMarch + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_OF_400_YEARS + dayOfEra - DAYS_TO_1970;
}

/** The date of a day counted from 1 January 1970. */
export function civilFromDays(days: number): { year: number; month: number; day: number } {
  const shifted = days + DAYS_TO_1970;
  const era = Math.floor(shifted / DAYS_OF_400_YEARS);
  const dayOfEra = shifted - era * DAYS_OF_400_YEARS;
  const leapDays =
    Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = ((monthFromMarch + 2) % 12) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** 0 = Monday to 6 = Sunday. 1 January 1970 was a Thursday. */
export function weekdayOfDays(days: number): number {
  return (((days + 3) % 7) + 7) % 7;
}

/** An instant in UTC as RFC 3339 with milliseconds ([VAL-3]). */
export function formatInstant(epochMs: number): string {
  const ms = Math.floor(epochMs);
  const days = Math.floor(ms / MS_OF_DAY);
  const { year, month, day } = civilFromDays(days);
  const rest = ms - days * MS_OF_DAY;
  const time = [rest / 3_600_000, (rest / 60_000) % 60, (rest / 1_000) % 60].map((part) =>
    pad(Math.floor(part), 2),
  );
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}T${time.join(':')}.${pad(rest % 1_000, 3)}Z`;
}

/** A number with leading zeros. */
export function pad(value: number, width: number): string {
  const digits = String(Math.abs(value)).padStart(width, '0');
  return value < 0 ? `-${digits}` : digits;
}

/**
 * Reads `YYYY-MM-DD`, `T`, `t` or a blank, `HH:MM:SS` with an optional fraction, then `Z`, `z` or `±HH:MM` ([FUN-3]).
 * Undefined for anything else and for dates that do not exist.
 */
export function parseCivilTime(text: string): CivilTime | undefined {
  const separators = text.charAt(4) + text.charAt(7) + text.charAt(13) + text.charAt(16);
  if (separators !== '--::' || !'Tt '.includes(text.charAt(10))) return undefined;
  const fractionEnd = endOfFraction(text, 19);
  const offsetMinutes = parseOffset(text.slice(fractionEnd));
  if (offsetMinutes === undefined) return undefined;
  const year = numberAt(text, 0, 4, 9999);
  const month = numberAt(text, 5, 2, 12);
  const day = numberAt(text, 8, 2, 31);
  const hour = numberAt(text, 11, 2, 23);
  const minute = numberAt(text, 14, 2, 59);
  const second = numberAt(text, 17, 2, 60);
  if (Math.min(year, month, day, hour, minute, second) < 0) return undefined;
  if (month === 0 || day === 0 || day > daysOfMonth(year, month)) return undefined;
  const millisecond = Number(text.slice(20, fractionEnd).slice(0, 3).padEnd(3, '0'));
  return { year, month, day, hour, minute, second, millisecond, offsetMinutes };
}

function endOfFraction(text: string, from: number): number {
  if (text.charAt(from) !== '.') return from;
  let index = from + 1;
  while (isDigits(text.charAt(index))) index += 1;
  return index === from + 1 ? from : index;
}

function parseOffset(text: string): number | undefined {
  if (text === 'Z' || text === 'z') return 0;
  const sign = text.charAt(0);
  if ((sign !== '+' && sign !== '-') || text.length !== 6 || text.charAt(3) !== ':') return undefined;
  const hours = numberAt(text, 1, 2, 23);
  const minutes = numberAt(text, 4, 2, 59);
  if (hours < 0 || minutes < 0) return undefined;
  return (sign === '-' ? -1 : 1) * (hours * 60 + minutes) + 0;
}

/** The number of `length` digits at `from`, or -1 when other characters stand there or it is above `max`. */
function numberAt(text: string, from: number, length: number, max: number): number {
  const digits = text.slice(from, from + length);
  if (digits.length !== length || !isDigits(digits)) return -1;
  return Number(digits) <= max ? Number(digits) : -1;
}

function daysOfMonth(year: number, month: number): number {
  const next = month === 12 ? daysFromCivil(year + 1, 1, 1) : daysFromCivil(year, month + 1, 1);
  return next - daysFromCivil(year, month, 1);
}
