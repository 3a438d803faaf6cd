import { err, ok, type Result } from '../../result.ts';

/**
 * Regular expressions of `pattern` and `patternProperties`, read into a tree for the linear matcher. Users write them
 * and users' data is matched against them, and the built-in engine backtracks: `^(a+)+$` can hold a process for hours.
 * What cannot be matched in linear time (look-around, back-references) is refused when the schema is published.
 */
export type PatternNode =
  /** One code point, tested by the source text of a class, an escape, a literal or the dot. */
  | { readonly kind: 'one'; readonly source: string }
  | { readonly kind: 'assert'; readonly what: 'start' | 'end' | 'word-edge' | 'no-word-edge' }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly options: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly part: PatternNode; readonly least: number; readonly most: number };

/** Longest pattern in code units. */
const MAX_PATTERN_LENGTH = 2000;
/** Deepest nesting of groups; the reader is recursive. */
const MAX_GROUP_DEPTH = 64;

interface Reader {
  readonly text: string;
  at: number;
  depth: number;
  problem: string | null;
}

/** The tree of a pattern, or why it is refused. Syntax is that of ECMAScript with the flag `u`. */
export function readPattern(text: string): Result<PatternNode, string> {
  if (text.length > MAX_PATTERN_LENGTH) return err(`a pattern has at most ${MAX_PATTERN_LENGTH} characters`);
  const syntax = syntaxProblem(text);
  if (syntax !== null) return err(syntax);
  const reader: Reader = { text, at: 0, depth: 0, problem: null };
  const node = readChoice(reader);
  return reader.problem === null ? ok(node) : err(reader.problem);
}

/** Only constructs the built-in expression, which never matches anything here; so the reader may rely on the syntax. */
function syntaxProblem(text: string): string | null {
  try {
    new RegExp(text, 'u');
    return null;
  } catch {
    return 'the pattern is not a regular expression';
  }
}

function readChoice(reader: Reader): PatternNode {
  const first = readSequence(reader);
  if (reader.text[reader.at] !== '|') return first;
  const options = [first];
  while (reader.problem === null && reader.text[reader.at] === '|') {
    reader.at += 1;
    options.push(readSequence(reader));
  }
  return { kind: 'choice', options };
}

function readSequence(reader: Reader): PatternNode {
  const parts: PatternNode[] = [];
  while (reader.problem === null && reader.at < reader.text.length) {
    const next = reader.text[reader.at];
    if (next === '|' || next === ')') break;
    parts.push(readQuantified(reader));
  }
  return { kind: 'sequence', parts };
}

function readQuantified(reader: Reader): PatternNode {
  const part = readAtom(reader);
  const quantifier = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/.exec(
    reader.text.slice(reader.at, reader.at + 64),
  );
  if (quantifier === null || reader.problem !== null) return part;
  reader.at += quantifier[0].length;
  const [, sign, least, comma, most] = quantifier;
  if (sign !== undefined) {
    return { kind: 'repeat', part, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity };
  }
  const from = Number(least);
  const to = comma === undefined ? from : most === '' ? Infinity : Number(most);
  return { kind: 'repeat', part, least: from, most: to };
}

function readAtom(reader: Reader): PatternNode {
  const next = reader.text.charAt(reader.at);
  switch (next) {
    case '(':
      return readGroup(reader);
    case '[':
      return { kind: 'one', source: take(reader, classLength(reader.text, reader.at)) };
    case '\\':
      return readEscape(reader);
    case '^':
    case '$':
      reader.at += 1;
      return { kind: 'assert', what: next === '^' ? 'start' : 'end' };
    case '.':
      return { kind: 'one', source: take(reader, 1) };
    default:
      return { kind: 'one', source: take(reader, codePointLength(reader.text, reader.at)) };
  }
}

function readGroup(reader: Reader): PatternNode {
  const opening = /^\((?:\?:|\?<[^=!>][^>]*>|(?!\?))/.exec(reader.text.slice(reader.at, reader.at + 300));
  if (opening === null) return refuse(reader, 'look-around and modifiers are not supported in a pattern');
  reader.at += opening[0].length;
  reader.depth += 1;
  if (reader.depth > MAX_GROUP_DEPTH) {
    return refuse(reader, `groups are nested more than ${MAX_GROUP_DEPTH} deep`);
  }
  const inner = readChoice(reader);
  reader.depth -= 1;
  reader.at += 1;
  return inner;
}

function readEscape(reader: Reader): PatternNode {
  const rest = reader.text.slice(reader.at, reader.at + 300);
  if (rest.startsWith('\\b') || rest.startsWith('\\B')) {
    reader.at += 2;
    return { kind: 'assert', what: rest[1] === 'b' ? 'word-edge' : 'no-word-edge' };
  }
  if (/^\\(?:[1-9]|k)/.test(rest)) return refuse(reader, 'back-references are not supported in a pattern');
  return { kind: 'one', source: take(reader, escapeLength(rest)) };
}

/** Length of an escape: `\u{…}`, a surrogate pair of two `\uXXXX`, `\uXXXX`, `\xXX`, `\cX`, `\p{…}`, or two characters. */
function escapeLength(rest: string): number {
  const long =
    /^\\(?:u\{[0-9A-Fa-f]+\}|u[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|c[A-Za-z]|[pP]\{[^}]*\})/.exec(
      rest,
    );
  return long === null ? 2 : long[0].length;
}

function classLength(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== ']') at += text[at] === '\\' ? 2 : 1;
  return at + 1 - from;
}

function codePointLength(text: string, at: number): number {
  return /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(at, at + 2)) ? 2 : 1;
}

function take(reader: Reader, length: number): string {
  const source = reader.text.slice(reader.at, reader.at + length);
  reader.at += length;
  return source;
}

function refuse(reader: Reader, problem: string): PatternNode {
  reader.problem ??= problem;
  return { kind: 'sequence', parts: [] };
}
