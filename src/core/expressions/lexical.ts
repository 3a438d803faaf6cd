/**
 * Character classes and numbers that both languages share. They are scanned by hand: the texts come from users, and a
 * regular expression that backtracks would break the linear bound ([SEC-4]).
 */

/** Blank, tab, line feed and carriage return: the only white space between tokens and around segments. */
export function isBlank(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\n' || char === '\r';
}

/** ASCII digits only. */
export function isDigit(char: string): boolean {
  return char >= '0' && char <= '9' && char.length === 1;
}

/** A letter or underscore, as a name begins. ASCII only. */
export function isWordStart(char: string): boolean {
  return char.length === 1 && ((char >= 'a' && char <= 'z') || (char >= 'A' && char <= 'Z') || char === '_');
}

/** True for one or more ASCII digits and nothing else. */
export function isDigits(text: string): boolean {
  return text.length > 0 && endOfDigits(text, 0) === text.length;
}

/** True for `[A-Za-z_][A-Za-z0-9_]*`, the names that can be roots of their own (sequences.md 2.4). */
export function isIdentifier(text: string): boolean {
  if (!isWordStart(text.charAt(0))) return false;
  for (let index = 1; index < text.length; index += 1) {
    const char = text.charAt(index);
    if (!isWordStart(char) && !isDigit(char)) return false;
  }
  return true;
}

/** The part of `text` from `start` up to `end` without the blanks on both sides, and where it begins. */
export function trimRange(text: string, start: number, end: number): { start: number; end: number } {
  let from = start;
  let to = end;
  while (from < to && isBlank(text.charAt(from))) from += 1;
  while (to > from && isBlank(text.charAt(to - 1))) to -= 1;
  return { start: from, end: to };
}

/** `text` without blanks on both sides. */
export function trimBlanks(text: string): string {
  const range = trimRange(text, 0, text.length);
  return text.slice(range.start, range.end);
}

/** The index after the run of digits that begins at `from`. */
export function endOfDigits(text: string, from: number): number {
  let index = from;
  while (isDigit(text.charAt(index))) index += 1;
  return index;
}

/**
 * The number a text stands for as a whole, `[+-]?(d+(.d*)?|.d+)([eE][+-]?d+)?` and finite, else undefined (7.2).
 * `-0` is 0.
 */
export function parseDecimal(text: string): number | undefined {
  const sign = text.charAt(0);
  const start = sign === '+' || sign === '-' ? 1 : 0;
  const mantissaEnd = endOfMantissa(text, start);
  if (mantissaEnd === start || endOfExponent(text, mantissaEnd) !== text.length) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value + 0 : undefined;
}

/** The index after the digits and the decimal point, or `start` when there is no digit. */
function endOfMantissa(text: string, start: number): number {
  const wholeEnd = endOfDigits(text, start);
  if (text.charAt(wholeEnd) !== '.') return wholeEnd;
  const end = endOfDigits(text, wholeEnd + 1);
  return end - start > 1 ? end : start;
}

/** The index after an exponent at `from`, or `from` when none stands there. */
function endOfExponent(text: string, from: number): number {
  if (text.charAt(from).toLowerCase() !== 'e') return from;
  const sign = text.charAt(from + 1);
  const start = sign === '+' || sign === '-' ? from + 2 : from + 1;
  const end = endOfDigits(text, start);
  return end > start ? end : from;
}
