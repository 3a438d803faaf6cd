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
export const Uuid = z.guid({ error: 'expected a UUID' }).toLowerCase();

const INSTANT =
  /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** True for an RFC 3339 instant with any offset that names a real date and time ([VAL-3]). */
export function isInstant(text: string): boolean {
  return INSTANT.test(text) && isRealDate(text) && isRealTime(text);
}

/** True when a text that begins with `YYYY-MM-DD` names a day of the Gregorian calendar. */
export function isRealDate(text: string): boolean {
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8, 10));
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOfMonth(Number(text.slice(0, 4)), month);
}

function daysOfMonth(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
}

/**
 * True when a text with `HH:MM:SS` after a date names a time of day. Leap seconds are not accepted: no clock of ours can
 * show them.
 */
export function isRealTime(text: string): boolean {
  return (
    Number(text.slice(11, 13)) <= 23 && Number(text.slice(14, 16)) <= 59 && Number(text.slice(17, 19)) <= 59
  );
}

/** An instant as the author wrote it; it is checked, and returned as given. */
export const Instant = z.string().refine(isInstant, { error: 'expected an RFC 3339 instant' });
