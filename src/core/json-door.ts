import type { Json } from './json.ts';
import { err, ok, type Result } from './result.ts';

/**
 * JSON at the door (RULINGS B11). A scanner looks at the text before `JSON.parse` sees it, so that a value which the
 * database, a later reader or a double could not hold is refused with a pointer instead of being changed quietly.
 * It keeps its own stack, reads each character once and builds nothing.
 *
 * Of members with the same name the last one wins, as in `JSON.parse`. A member `__proto__` is an ordinary one.
 */
export interface DoorLimits {
  /** Containers inside each other; `[[1]]` has depth 2. */
  readonly maxDepth: number;
  /** Members of one object or elements of one array. */
  readonly maxPerContainer: number;
  /** Values in the whole text, containers included. */
  readonly maxValues: number;
  /** UTF-16 units between the quotes of a key, escapes counted as written. */
  readonly maxKeyLength: number;
}

export const DOOR_LIMITS: DoorLimits = {
  maxDepth: 64,
  maxPerContainer: 100_000,
  maxValues: 1_000_000,
  maxKeyLength: 65_536,
};

export type DoorProblem =
  /** The text is no JSON (400). */
  | { readonly kind: 'syntax'; readonly message: string; readonly offset: number }
  /** JSON that Stepwell does not take (422); `pointer` (RFC 6901) leads to the value, for a bad key to its object. */
  | { readonly kind: 'refused'; readonly message: string; readonly pointer: string };

/** The value of a JSON text, or the first problem in document order. Linear in the length of the text. */
export function parseJsonAtDoor(text: string, limits: DoorLimits = DOOR_LIMITS): Result<Json, DoorProblem> {
  const scan: Scan = { text, limits, at: 0, values: 0, open: [] };
  const problem = scanText(scan);
  return problem === null ? ok(JSON.parse(text)) : err(problem);
}

/** Where and why a text is no JSON, `ends too early, line 3, column 8`; null when the scanner sees no fault in its syntax. */
export function jsonSyntaxProblem(text: string): string | null {
  const scanned = parseJsonAtDoor(text);
  if (scanned.ok || scanned.error.kind !== 'syntax') return null;
  const { message, offset } = scanned.error;
  const before = text.slice(0, offset).split('\n');
  const place = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
  return `${message.replace(/ \(offset [0-9]+\)$/, '')}, ${place}`;
}

interface Scan {
  readonly text: string;
  readonly limits: DoorLimits;
  at: number;
  values: number;
  readonly open: Container[];
}

interface Container {
  readonly isObject: boolean;
  count: number;
  /** Where the key of the current member stands, quotes included. */
  keyFrom: number;
  keyTo: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

function scanText(scan: Scan): DoorProblem | null {
  if (scan.text.charCodeAt(0) === 0xfeff) return syntax('starts with a byte order mark', 0);
  for (;;) {
    const problem = scanValue(scan) ?? scanAfterValue(scan);
    if (problem === 'next value') continue;
    return problem === 'end' ? null : problem;
  }
}

/** Reads a scalar, or opens a container up to the place where its first value stands; an empty one is closed at once. */
function scanValue(scan: Scan): DoorProblem | 'next value' | null {
  skipWhiteSpace(scan);
  scan.values += 1;
  if (scan.values > scan.limits.maxValues) return refused(scan, 'has too many values');
  switch (scan.text.charCodeAt(scan.at)) {
    case OPEN_BRACE:
      return openContainer(scan, true, CLOSE_BRACE);
    case OPEN_BRACKET:
      return openContainer(scan, false, CLOSE_BRACKET);
    case QUOTE:
      return scanString(scan);
    default:
      return scanWord(scan) ? null : scanNumber(scan);
  }
}

function openContainer(scan: Scan, isObject: boolean, close: number): DoorProblem | 'next value' | null {
  if (scan.open.length >= scan.limits.maxDepth) {
    return refused(scan, `is nested deeper than ${scan.limits.maxDepth} levels`);
  }
  scan.at += 1;
  skipWhiteSpace(scan);
  if (scan.text.charCodeAt(scan.at) === close) {
    scan.at += 1;
    return null;
  }
  const container: Container = { isObject, count: 0, keyFrom: 0, keyTo: 0 };
  scan.open.push(container);
  return enterMember(scan, container) ?? 'next value';
}

/** After a value: closes what ends here, then stands before the next value or at the end of the text. */
function scanAfterValue(scan: Scan): DoorProblem | 'next value' | 'end' {
  for (;;) {
    skipWhiteSpace(scan);
    const container = scan.open.at(-1);
    if (container === undefined) {
      return scan.at === scan.text.length ? 'end' : syntax('has text after its end', scan.at);
    }
    const unit = scan.text.charCodeAt(scan.at);
    if (unit === COMMA) {
      scan.at += 1;
      return enterMember(scan, container) ?? 'next value';
    }
    if (unit !== (container.isObject ? CLOSE_BRACE : CLOSE_BRACKET)) return unexpected(scan);
    scan.open.pop();
    scan.at += 1;
  }
}

/** Counts the member or element that begins here and reads the key of a member with its colon. */
function enterMember(scan: Scan, container: Container): DoorProblem | null {
  container.count += 1;
  if (container.count > scan.limits.maxPerContainer) {
    scan.open.pop();
    return refused(
      scan,
      `has more than ${scan.limits.maxPerContainer} ${container.isObject ? 'members' : 'elements'}`,
    );
  }
  if (!container.isObject) return null;
  skipWhiteSpace(scan);
  if (scan.text.charCodeAt(scan.at) !== QUOTE) return unexpected(scan);
  const problem = scanKey(scan, container);
  if (problem !== null) return problem;
  skipWhiteSpace(scan);
  if (scan.text.charCodeAt(scan.at) !== COLON) return unexpected(scan);
  scan.at += 1;
  return null;
}

/** Reads a key. Meanwhile its object is not among the open ones, so that the pointer of a bad key leads to the object. */
function scanKey(scan: Scan, container: Container): DoorProblem | null {
  const from = scan.at;
  scan.open.pop();
  const problem = scanString(scan);
  if (problem?.kind === 'syntax') return problem;
  if (problem !== null) return refused(scan, `has a key that ${problem.message}`);
  if (scan.at - from - 2 > scan.limits.maxKeyLength) return refused(scan, 'has a key that is too long');
  scan.open.push(container);
  container.keyFrom = from;
  container.keyTo = scan.at;
  return null;
}

/** Reads a string from quote to quote. Pairs of surrogates may be written raw, escaped or mixed. */
function scanString(scan: Scan): DoorProblem | null {
  const { text } = scan;
  let awaitsLow = false;
  for (let at = scan.at + 1; at < text.length; at += 1) {
    let unit = text.charCodeAt(at);
    if (unit > QUOTE && unit !== BACKSLASH && unit < 0xd800 && !awaitsLow) continue;
    if (unit === QUOTE) {
      scan.at = at + 1;
      return awaitsLow ? refused(scan, LONE_SURROGATE) : null;
    }
    if (unit < 0x20) return syntax('has a control character inside a string', at);
    if (unit === BACKSLASH) {
      const escape = readEscape(text, at);
      if (escape === null) return syntax('has an unknown escape inside a string', at);
      unit = escape.unit;
      at = escape.last;
    }
    if (unit === 0) return refused(scan, 'contains the character U+0000');
    const isLow = unit >= 0xdc00 && unit < 0xe000;
    if (isLow !== awaitsLow) return refused(scan, LONE_SURROGATE);
    awaitsLow = unit >= 0xd800 && unit < 0xdc00;
  }
  return syntax('ends inside a string', text.length);
}

const LONE_SURROGATE = 'contains half of a surrogate pair';
const SIMPLE_ESCAPES = '"\\/bfnrt';
const HEX4 = /[0-9a-fA-F]{4}/y;

/** The unit that the escape at `at` stands for, and the index of its last character. */
function readEscape(text: string, at: number): { readonly unit: number; readonly last: number } | null {
  const letter = text.charAt(at + 1);
  if (letter !== 'u') {
    // Which character a simple escape stands for does not matter here: none of them is NUL or a surrogate.
    return letter !== '' && SIMPLE_ESCAPES.includes(letter) ? { unit: QUOTE, last: at + 1 } : null;
  }
  HEX4.lastIndex = at + 2;
  const digits = HEX4.exec(text);
  return digits === null ? null : { unit: Number.parseInt(digits[0], 16), last: at + 5 };
}

function scanWord(scan: Scan): boolean {
  const word = ['true', 'false', 'null'].find((candidate) => scan.text.startsWith(candidate, scan.at));
  scan.at += word?.length ?? 0;
  return word !== undefined;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const NOT_FINITE = /-?(?:Infinity|NaN)/y;
/** A number written with so few characters and no exponent is always exact enough. */
const SURELY_SAFE = /^-?[0-9.]{1,15}$/;

/**
 * Everything above 2^53-1 is refused, however it is written: as a double it is a whole number that may differ from the
 * one that was sent, and it would not come in again after it was shown.
 */
function scanNumber(scan: Scan): DoorProblem | null {
  NUMBER.lastIndex = scan.at;
  const literal = NUMBER.exec(scan.text)?.[0];
  if (literal === undefined) {
    NOT_FINITE.lastIndex = scan.at;
    return NOT_FINITE.test(scan.text) ? refused(scan, 'is not a finite number') : unexpected(scan);
  }
  scan.at += literal.length;
  if (SURELY_SAFE.test(literal)) return null;
  const magnitude = Math.abs(Number(literal));
  if (magnitude === Number.POSITIVE_INFINITY) return refused(scan, 'is not a finite number');
  return magnitude > Number.MAX_SAFE_INTEGER ? refused(scan, 'is a number beyond 2^53-1') : null;
}

function skipWhiteSpace(scan: Scan): void {
  for (;;) {
    const unit = scan.text.charCodeAt(scan.at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
    scan.at += 1;
  }
}

function unexpected(scan: Scan): DoorProblem {
  return scan.at >= scan.text.length
    ? syntax('ends too early', scan.at)
    : syntax('has an unexpected character', scan.at);
}

function syntax(message: string, offset: number): DoorProblem & { readonly kind: 'syntax' } {
  return { kind: 'syntax', message: `${message} (offset ${offset})`, offset };
}

function refused(scan: Scan, message: string): DoorProblem & { readonly kind: 'refused' } {
  return { kind: 'refused', message, pointer: scan.open.map((open) => `/${segment(scan, open)}`).join('') };
}

const MAX_SEGMENT_LENGTH = 256;

function segment(scan: Scan, open: Container): string {
  if (!open.isObject) return String(open.count - 1);
  const key: unknown = JSON.parse(scan.text.slice(open.keyFrom, open.keyTo));
  return String(key).slice(0, MAX_SEGMENT_LENGTH).replaceAll('~', '~0').replaceAll('/', '~1');
}
