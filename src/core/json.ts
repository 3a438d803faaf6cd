/**
 * JSON values as Stepwell stores them (sequences.md 1.3). Everything that crosses a boundary is one of these:
 * there is no `undefined` inside a stored value, and a key may be any text, `__proto__` included.
 */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. Built with `jsonObject` or `Object.fromEntries`-like code that keeps `__proto__` an own member. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** True for a JSON object, false for null and arrays. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for a JSON array. `Array.isArray` alone does not narrow readonly arrays. */
export function isJsonArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** The own member `key`, or undefined. Never reaches the prototype ([SEC-1] of expressions.md). */
export function member(value: Json | undefined, key: string): Json | undefined {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** An object from entries in which a key `__proto__` becomes an ordinary own member. Later entries win. */
export function jsonObject(entries: Iterable<readonly [string, Json]>): JsonObject {
  const target: Record<string, Json> = {};
  for (const [key, value] of entries) {
    // Every other key is an own member by being set, at a fraction of the cost.
    if (key !== '__proto__') target[key] = value;
    else Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
  }
  return target;
}

/** A copy that shares nothing with the value. */
export function copyOfJson(value: Json): Json {
  if (isJsonArray(value)) return value.map(copyOfJson);
  if (!isJsonObject(value)) return value;
  return jsonObject(Object.entries(value).map(([key, inner]) => [key, copyOfJson(inner)]));
}

/** `base` with the members of `patch` on top, per top-level key ([CTX-4]). */
export function mergeObjects(base: JsonObject, patch: JsonObject): JsonObject {
  return jsonObject([...Object.entries(base), ...Object.entries(patch)]);
}

/**
 * Canonical JSON ([VAL-2]): no white space, members sorted by code point of the key, shortest numbers, `-0` as `0`.
 * The value must be finite and no deeper than the limits of the door; deeper values would exhaust the stack.
 */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return Object.is(value, -0) ? '0' : JSON.stringify(value);
  if (isJsonArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const keys = Object.keys(value).sort(compareCodePoints);
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`).join(',')}}`;
}

/** Order of two strings by code point; UTF-16 order differs from it above U+FFFF. */
export function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return surrogateRank(a) - surrogateRank(b);
  }
  return left.length - right.length;
}

/** Moves surrogates above the rest of the basic plane, which is where their code points lie. */
function surrogateRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Bytes of a value as JSON in UTF-8; canonical or not makes no difference. */
export function jsonBytes(value: Json): number {
  return utf8Bytes(JSON.stringify(value));
}

const BEYOND_ASCII = /[\u0080-\uffff]/;

/** Bytes of a text in UTF-8, without encoding it. Lone surrogates count as the three bytes of U+FFFD. */
export function utf8Bytes(text: string): number {
  if (!BEYOND_ASCII.test(text)) return text.length;
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text, index + 1)) {
      bytes += 4;
      index += 1;
    } else bytes += 3;
  }
  return bytes;
}

function isLowSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit < 0xe000;
}
