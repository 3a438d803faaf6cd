import * as z from 'zod';
import type { Json } from '../json.ts';

/** The longest duration ([DUR-2]): ten years in milliseconds. Longer ones are refused by the semantic checks. */
export const MAX_DURATION_MS = 315_360_000_000;

/**
 * Milliseconds of a wire duration ([DUR-1], [DUR-3]): a number with a fraction is seconds, one without is already
 * milliseconds. Seconds are rounded to the nearest millisecond, halves away from zero (durations are never negative).
 */
export function durationMs(wire: number): number {
  return Number.isInteger(wire) ? wire : Math.round(wire * 1000);
}

/** A wire duration, normalised to integer milliseconds. Negative and non-finite values have the wrong shape ([DUR-2]). */
export const Duration = z.number().min(0, { error: 'a duration must not be negative' }).transform(durationMs);

/** Any JSON value, kept as sent: params, inputs and JSON Schemas belong to the user. */
export const JsonValue = z.custom<Json>();

/** A whole number that fits the 32 bits of the wire contract. Other numbers have the wrong shape. */
export const Int32 = z.int32();

/** A whole number; its range is a matter of the semantic checks. */
export const WholeNumber = z.int();

/** A UUID of any version, normalised to lower case ([VAL-4]). */
export const Uuid = z.guid().toLowerCase();

const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** True for an RFC 3339 instant with any offset that names a real date and time ([VAL-3]). */
export function isInstant(text: string): boolean {
  const parts = INSTANT.exec(text);
  if (parts === null) return false;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number);
  return isRealDate(year ?? 0, month ?? 0, day ?? 0) && isRealTime(hour ?? 0, minute ?? 0, second ?? 0);
}

/** True for a date of the proleptic Gregorian calendar. */
export function isRealDate(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day <= (days[month - 1] ?? 0);
}

/** True for a time of day. Leap seconds are not accepted: no clock of ours can show them. */
export function isRealTime(hour: number, minute: number, second: number): boolean {
  return hour <= 23 && minute <= 59 && second <= 59;
}

/** An instant as the author wrote it; it is checked, and returned as given. */
export const Instant = z.string().refine(isInstant, { error: 'expected an RFC 3339 instant' });
