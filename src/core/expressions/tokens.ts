import { err, ok, type Result } from '../result.ts';
import type { Fault } from './language-error.ts';
import { endOfDigits, isBlank, isDigit, isWordStart } from './lexical.ts';

/** `start` and `end` are offsets in the text; `end` is exclusive. */
export type Token = { readonly start: number; readonly end: number } & (
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'symbol'; readonly text: string }
  | { readonly kind: 'end' }
);

const SINGLE_SYMBOLS = '+-*/()[],?:<>!';
const DOUBLE_SYMBOLS: ReadonlySet<string> = new Set(['&&', '||', '==', '!=', '>=', '<=']);

/** The tokens of `text` between `start` and `end`, closed by an `end` token (expressions.md 5.1). */
export function tokenize(text: string, start: number, end: number): Result<readonly Token[], Fault> {
  const tokens: Token[] = [];
  let position = start;
  while (position < end) {
    if (isBlank(text.charAt(position))) {
      position += 1;
      continue;
    }
    const token = readToken(text, position, end);
    if (!token.ok) return token;
    tokens.push(token.value);
    position = token.value.end;
  }
  tokens.push({ kind: 'end', start: end, end });
  return ok(tokens);
}

function readToken(text: string, start: number, end: number): Result<Token, Fault> {
  const char = text.charAt(start);
  if (char === "'" || char === '"') return readString(text, start, end);
  if (isDigit(char)) return readNumber(text, start);
  if (isWordStart(char)) {
    const wordEnd = endOfWord(text, start);
    return ok({ kind: 'word', text: text.slice(start, wordEnd), start, end: wordEnd });
  }
  const double = text.slice(start, Math.min(start + 2, end));
  if (DOUBLE_SYMBOLS.has(double)) return ok({ kind: 'symbol', text: double, start, end: start + 2 });
  if (SINGLE_SYMBOLS.includes(char)) return ok({ kind: 'symbol', text: char, start, end: start + 1 });
  return err({ message: unexpectedCharacter(char), position: start });
}

function readString(text: string, start: number, end: number): Result<Token, Fault> {
  const close = text.indexOf(text.charAt(start), start + 1);
  if (close === -1 || close >= end) return err({ message: 'unclosed string', position: start });
  return ok({ kind: 'string', value: text.slice(start + 1, close), start, end: close + 1 });
}

function readNumber(text: string, start: number): Result<Token, Fault> {
  const wholeEnd = endOfDigits(text, start);
  const end = text.charAt(wholeEnd) === '.' ? endOfDigits(text, wholeEnd + 1) : wholeEnd;
  const value = Number(text.slice(start, end));
  if (!Number.isFinite(value)) return err({ message: 'number out of range', position: start });
  return ok({ kind: 'number', value, start, end });
}

function endOfWord(text: string, start: number): number {
  let index = start + 1;
  for (;;) {
    const char = text.charAt(index);
    if (!isWordStart(char) && !isDigit(char) && char !== '.') return index;
    index += 1;
  }
}

/** Says what authors usually meant by the characters that other languages have. */
function unexpectedCharacter(char: string): string {
  switch (char) {
    case '{':
    case '}':
      return 'unexpected brace: "{{" and "}}" may only stand around the whole expression';
    case '=':
      return 'unexpected "=": write "==" to compare';
    case '&':
    case '|':
      return `unexpected "${char}": write "${char}${char}"`;
    default:
      return 'unexpected character';
  }
}
