import { canonicalJson, isJsonArray, isJsonObject, type Json, utf8Bytes } from '../json.ts';
import { parseDecimal } from './lexical.ts';
import { ELEMENT_WORK, MEMBER_WORK, type Meter, spend, VALUE_LEVELS_MAX } from './limits.ts';

/** The truth of a value (expressions.md 7.1). */
export function isTruthy(value: Json): boolean {
  if (value === null) return false;
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  if (typeof value === 'string') return value !== '';
  return isJsonArray(value) ? value.length > 0 : true;
}

/** The number of a value, or undefined when it has none (7.2). */
export function numberOf(value: Json, meter: Meter): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string' || !spend(meter, value.length)) return undefined;
  return parseDecimal(value);
}

/** Equality without coercion (7.3). */
export function equals(left: Json, right: Json, meter: Meter): boolean {
  return equalsWithin(left, right, meter, VALUE_LEVELS_MAX);
}

function equalsWithin(left: Json, right: Json, meter: Meter, levels: number): boolean {
  if (!spend(meter, ELEMENT_WORK)) return false;
  if (typeof left === 'string' && typeof right === 'string') {
    // Comparing is a memory scan, some sixty characters for the price of any other unit.
    return left.length === right.length && spend(meter, left.length >> 6) && left === right;
  }
  if (left === null || right === null || typeof left !== 'object' || typeof right !== 'object') {
    return left === right;
  }
  if (levels === 0) return spend(meter, Number.POSITIVE_INFINITY);
  if (isJsonArray(left)) {
    if (!isJsonArray(right) || left.length !== right.length) return false;
    return left.every((element, index) => equalsWithin(element, right[index] ?? null, meter, levels - 1));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const entries = Object.entries(left);
  const sameSize = entries.length === Object.keys(right).length;
  // Listing the members costs as much as comparing them, also when the first one differs.
  if (!sameSize || !spend(meter, entries.length * MEMBER_WORK)) return false;
  return entries.every(([key, element]) => {
    const other = Object.hasOwn(right, key) ? right[key] : undefined;
    return other !== undefined && equalsWithin(element, other, meter, levels - 1);
  });
}

/** The text of a value (7.5). The value must have passed `canonicalSize`. */
export function textOf(value: Json): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}

/** The length both languages give a value: elements, members or code points; 0 for anything else. */
export function lengthOf(value: Json, meter: Meter): number {
  if (isJsonArray(value)) return value.length;
  if (typeof value === 'string') return spend(meter, value.length) ? codePointCount(value) : 0;
  if (!isJsonObject(value)) return 0;
  const { length } = Object.keys(value);
  spend(meter, length * MEMBER_WORK);
  return length;
}

/** A lone surrogate counts as one code point. */
function codePointCount(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** UTF-8 bytes of a string, or of the canonical JSON of anything else, or undefined above `limit`. */
export function textSize(value: Json, limit: number): number | undefined {
  if (typeof value !== 'string') return canonicalSize(value, limit, VALUE_LEVELS_MAX);
  if (value.length > limit) return undefined;
  const size = utf8Bytes(value);
  return size <= limit ? size : undefined;
}

/**
 * UTF-8 bytes of the canonical JSON of a value, counted without building it, or undefined when there are more than
 * `limit` or when containers are nested deeper than `levels`. It stops as soon as that is known.
 */
export function canonicalSize(value: Json, limit: number, levels: number): number | undefined {
  const meter = { remaining: limit };
  return measure(value, meter, levels) ? limit - meter.remaining : undefined;
}

function measure(value: Json, meter: Meter, levels: number): boolean {
  if (value === null) return spend(meter, 4);
  if (typeof value === 'boolean') return spend(meter, value ? 4 : 5);
  if (typeof value === 'number') return spend(meter, canonicalJson(value).length);
  if (typeof value === 'string') return spend(meter, quotedSize(value, meter.remaining));
  if (levels === 0) return false;
  if (isJsonArray(value)) {
    if (!spend(meter, 2 + Math.max(0, value.length - 1))) return false;
    return value.every((element) => measure(element, meter, levels - 1));
  }
  const entries = Object.entries(value);
  if (!spend(meter, 2 + Math.max(0, entries.length * 2 - 1))) return false;
  return entries.every(([key, element]) => measure(key, meter, 0) && measure(element, meter, levels - 1));
}

/** UTF-8 bytes of a string as a JSON literal, quotes included. Above `limit` any larger number may come back. */
function quotedSize(text: string, limit: number): number {
  if (text.length > limit) return text.length;
  let size = 2;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x20) size += isShortEscape(unit) ? 2 : 6;
    else if (unit === 0x22 || unit === 0x5c) size += 2;
    else if (unit < 0x80) size += 1;
    else if (unit < 0x800) size += 2;
    else if (unit < 0xd800 || unit >= 0xe000) size += 3;
    else if (unit < 0xdc00 && isLowSurrogate(text.charCodeAt(index + 1))) {
      size += 4;
      index += 1;
    } else size += 6;
  }
  return size;
}

/** Backspace, tab, line feed, form feed and carriage return have escapes of two characters. */
function isShortEscape(unit: number): boolean {
  return unit >= 8 && unit <= 13 && unit !== 11;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** The index after the first `count` code points of a text, or its length. */
export function codePointsEnd(text: string, count: number): number {
  let end = 0;
  for (let left = count; left > 0 && end < text.length; left -= 1) {
    const paired = isHighSurrogate(text.charCodeAt(end)) && isLowSurrogate(text.charCodeAt(end + 1));
    end += paired ? 2 : 1;
  }
  return end;
}
