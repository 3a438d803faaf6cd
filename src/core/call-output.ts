import type { Failure } from './failure.ts';
import { type Json, jsonBytes, jsonObject } from './json.ts';
import { err, ok, type Result } from './result.ts';

/** Largest output of a step in bytes of canonical JSON, unless a setting says otherwise ([DISP-2], RULINGS B20). */
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;

/** Deepest nesting of a stored value (RULINGS B11). */
const MAX_DEPTH = 64;

/**
 * Turns what a handler in code returned into JSON (RULINGS B11): `undefined` becomes null (a member that is undefined is
 * left out, as JSON.stringify does), a Date its ISO text, an object with `toJSON` what that returns. Functions, symbols,
 * BigInt, NaN, infinities, cycles, Map, Set, Error, binary data, NUL, lone surrogates and nesting over 64 are a permanent
 * failure INVALID_OUTPUT whose message names the place; over `maxBytes` it is OUTPUT_TOO_LARGE.
 */
export function callOutput(value: unknown, maxBytes: number = MAX_OUTPUT_BYTES): Result<Json, Failure> {
  const json = toJson(value, maxBytes);
  if (!json.ok) {
    if (json.error === TOO_MANY_VALUES) return err(tooLargeFailure(`more than ${maxBytes}`, maxBytes));
    return err({ message: `the handler returned ${json.error}`, retryable: false, code: 'INVALID_OUTPUT' });
  }
  const tooLarge = outputSizeFailure(json.value, maxBytes);
  return tooLarge === null ? json : err(tooLarge);
}

/** The failure of a result that is larger than `maxBytes` of canonical JSON [DISP-2]; null when it fits. */
export function outputSizeFailure(output: Json, maxBytes: number = MAX_OUTPUT_BYTES): Failure | null {
  const bytes = jsonBytes(output);
  return bytes <= maxBytes ? null : tooLargeFailure(`${bytes}`, maxBytes);
}

function tooLargeFailure(bytes: string, maxBytes: number): Failure {
  const message = `the result has ${bytes} bytes, at most ${maxBytes} may be stored`;
  return { message, retryable: false, code: 'OUTPUT_TOO_LARGE' };
}

const TOO_MANY_VALUES = 'too many values';

/**
 * The value as JSON; the error is a phrase that says what stands where, `a function at /items/3`. At most `maxValues`
 * values are visited: a small object that refers to one part many times, or a sparse array, would unfold without end.
 */
export function toJson(value: unknown, maxValues: number = MAX_OUTPUT_BYTES): Result<Json, string> {
  try {
    return convert(value, { pointer: '', walk: { open: new Set(), valuesLeft: maxValues } });
  } catch (error) {
    // A getter, a proxy or a toJSON of the user may throw; that is the user's result being unusable, not our bug.
    return err(`a value that cannot be read (${error instanceof Error ? error.message : 'it threw'})`);
  }
}

interface Place {
  readonly pointer: string;
  readonly walk: Walk;
}

interface Walk {
  /** The objects around the value; meeting one of them again is a cycle. */
  readonly open: Set<object>;
  valuesLeft: number;
}

function convert(value: unknown, place: Place): Result<Json, string> {
  place.walk.valuesLeft -= 1;
  if (place.walk.valuesLeft < 0) return err(TOO_MANY_VALUES);
  switch (typeof value) {
    case 'undefined':
      return ok(null);
    case 'boolean':
      return ok(value);
    case 'number':
      return Number.isFinite(value) ? ok(value) : err(`${value}${at(place)}`);
    case 'string': {
      const problem = textProblem(value);
      return problem === null ? ok(value) : err(`${problem}${at(place)}`);
    }
    case 'object':
      return value === null ? ok(null) : convertObject(value, place);
    case 'bigint':
      return err(`a BigInt${at(place)} (write it as text)`);
    case 'function':
    case 'symbol':
      return err(`a ${typeof value}${at(place)}`);
  }
}

function convertObject(value: object, place: Place): Result<Json, string> {
  const { open } = place.walk;
  if (open.has(value)) return err(`a cycle${at(place)}`);
  if (open.size >= MAX_DEPTH) return err(`nesting deeper than ${MAX_DEPTH}${at(place)}`);
  open.add(value);
  const result = convertOpened(value, place);
  open.delete(value);
  return result;
}

function convertOpened(value: object, place: Place): Result<Json, string> {
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? err(`an invalid Date${at(place)}`) : ok(value.toISOString());
  }
  if (Array.isArray(value)) return convertArray(value, place);
  // Binary views come before toJSON: a Buffer has one that writes its bytes as a list of numbers.
  if (hidesItsContent(value)) return err(`a ${value.constructor.name}${at(place)}`);
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return convert(Reflect.apply(value.toJSON, value, []), place);
  }
  return convertMembers(value, place);
}

function convertArray(items: readonly unknown[], place: Place): Result<Json, string> {
  const converted: Json[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const item = convert(items[index], { pointer: `${place.pointer}/${index}`, walk: place.walk });
    if (!item.ok) return item;
    converted.push(item.value);
  }
  return ok(converted);
}

function convertMembers(value: object, place: Place): Result<Json, string> {
  const members: Array<readonly [string, Json]> = [];
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const keyProblem = textProblem(key);
    if (keyProblem !== null) return err(`${keyProblem} in a member name${at(place)}`);
    const pointer = `${place.pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const converted = convert(member, { pointer, walk: place.walk });
    if (!converted.ok) return converted;
    members.push([key, converted.value]);
  }
  return ok(jsonObject(members));
}

/** Objects whose content is not in their members: JSON.stringify would silently write `{}` or a list of numbers. */
function hidesItsContent(value: object): boolean {
  if (ArrayBuffer.isView(value)) return true;
  return HIDING_CLASSES.some((hiding) => value instanceof hiding);
}

const HIDING_CLASSES = [
  Map,
  Set,
  WeakMap,
  WeakSet,
  Promise,
  RegExp,
  ArrayBuffer,
  Error,
  Number,
  String,
  Boolean,
];

function textProblem(text: string): string | null {
  if (text.includes('\u0000')) return 'a NUL character';
  return LONE_SURROGATE.test(text) ? 'a lone surrogate' : null;
}

/** With the `u` flag a surrogate matches only where it has no partner. */
const LONE_SURROGATE = /\p{Surrogate}/u;

function at(place: Place): string {
  return place.pointer === '' ? '' : ` at ${place.pointer}`;
}
