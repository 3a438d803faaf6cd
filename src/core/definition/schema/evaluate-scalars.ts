import type { JsonObject } from '../../json.ts';
import { member } from '../../json.ts';
import { type Check, fail, spend } from './evaluation.ts';
import { hasFormat } from './formats.ts';

/** The keywords about numbers. */
export function checkNumber(check: Check, schema: JsonObject, value: number): boolean {
  const bound = (keyword: string): number | undefined => numberOf(schema, keyword);
  const [least, most] = [bound('minimum'), bound('maximum')];
  const [above, below] = [bound('exclusiveMinimum'), bound('exclusiveMaximum')];
  const divisor = bound('multipleOf');
  if (least !== undefined && value < least) return fail(check, `must be >= ${least}`);
  if (most !== undefined && value > most) return fail(check, `must be <= ${most}`);
  if (above !== undefined && value <= above) return fail(check, `must be > ${above}`);
  if (below !== undefined && value >= below) return fail(check, `must be < ${below}`);
  if (divisor !== undefined && !isMultiple(value, divisor))
    return fail(check, `must be a multiple of ${divisor}`);
  return true;
}

/** Doubles divide with a rounding error, so `4.35` counts as a multiple of `0.01`. */
function isMultiple(value: number, divisor: number): boolean {
  const quotient = value / divisor;
  if (!Number.isFinite(quotient)) return false;
  return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * Math.max(1, Math.abs(quotient));
}

/** The keywords about strings. Lengths count code points. */
export function checkText(check: Check, schema: JsonObject, value: string): boolean {
  const [least, most] = [numberOf(schema, 'minLength'), numberOf(schema, 'maxLength')];
  if (least !== undefined || most !== undefined) {
    spend(check, value.length / 16);
    const length = codePoints(value);
    if (least !== undefined && length < least) return fail(check, `must have at least ${least} characters`);
    if (most !== undefined && length > most) return fail(check, `must have at most ${most} characters`);
  }
  const pattern = member(schema, 'pattern');
  if (typeof pattern === 'string' && !matchesPattern(check, pattern, value)) {
    return fail(check, `must match the pattern ${pattern}`);
  }
  const format = member(schema, 'format');
  if (typeof format !== 'string') return true;
  spend(check, value.length / 16);
  return hasFormat(format, value) || fail(check, `must be a valid ${format}`);
}

/** True when the prepared pattern matches somewhere in the text. */
export function matchesPattern(check: Check, source: string, text: string): boolean {
  const pattern = check.run.prepared.patterns.get(source);
  return pattern === undefined || pattern.matches(text, check.run.meter);
}

/** The number of a keyword, when it is one. */
export function numberOf(schema: JsonObject, keyword: string): number | undefined {
  const value = member(schema, keyword);
  return typeof value === 'number' ? value : undefined;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
