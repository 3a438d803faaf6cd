/** The longest duration ([DUR-2]): ten years in milliseconds. Longer ones are refused by the semantic checks. */
export const MAX_DURATION_MS = 315_360_000_000;

/**
 * Milliseconds of a wire duration ([DUR-1], [DUR-3]): a number with a fraction is seconds, one without is already
 * milliseconds. Seconds are rounded to the nearest millisecond, halves away from zero (durations are never negative).
 */
export function durationMs(wire: number): number {
  return Number.isInteger(wire) ? wire : Math.round(wire * 1000);
}

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
