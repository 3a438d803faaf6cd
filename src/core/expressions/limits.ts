/**
 * Every bound of the two languages ([SEC-3], [SEC-4], [FUN-1], [FIL-3]) and the meter that enforces the last one.
 */
export const EXPRESSION_BYTES_MAX = 16 * 1024;
export const EXPRESSION_LEVELS_MAX = 64;
export const CHAIN_BYTES_MAX = 16 * 1024;
export const CHAIN_SEGMENTS_MAX = 64;
export const TEMPLATES_MAX = 10_000;
export const RESOLVED_LEVELS_MAX = 64;
export const RESOLVED_BYTES_MAX = 8 * 1024 * 1024;
export const TEXT_BYTES_MAX = 4 * 1024 * 1024;
export const LIST_ELEMENTS_MAX = 100_000;

/**
 * Nesting up to which a value is compared, measured or printed. Values at the door are at most 64 deep; the slack is
 * for roots and bindings that add levels. Past it the recursion itself would be the danger.
 */
export const VALUE_LEVELS_MAX = 512;

/**
 * Units of work of one evaluation or one resolved value. A text may name the same large value a thousand times, so the
 * size of text and data alone does not bound the time. A unit is about the cost of one character; the whole is in the
 * order of half a second.
 */
export const WORK_MAX = 32 * 1024 * 1024;
/** Units for looking at an element, for listing a member of an object, and for one comparison while sorting. */
export const ELEMENT_WORK = 4;
export const MEMBER_WORK = 32;
const SORT_WORK = 8;

/** What one evaluation may still spend. It stays spent: all work after the first refusal is refused too. */
export interface Meter {
  remaining: number;
}

/** A fresh meter of `units`. */
export function newMeter(units: number): Meter {
  return { remaining: units };
}

/** Takes `units` from the meter. False: stop now and answer anything, the result will be thrown away. */
export function spend(meter: Meter, units: number): boolean {
  meter.remaining -= units;
  return meter.remaining >= 0;
}

/** Pays for sorting `count` things. */
export function spendOnSort(meter: Meter, count: number): boolean {
  return spend(meter, count * Math.ceil(Math.log2(count + 2)) * SORT_WORK);
}

/** True when more was asked for than there was. */
export function isSpent(meter: Meter): boolean {
  return meter.remaining < 0;
}
