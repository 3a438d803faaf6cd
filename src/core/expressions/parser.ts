import { type Fault, quoteText } from './language-error.ts';
import { EXPRESSION_LEVELS_MAX } from './limits.ts';
import type { Expression } from './syntax-tree.ts';
import type { Token } from './tokens.ts';

/**
 * Where a parse stands. The first fault is kept and the parser jumps to the end token; every production then finds
 * nothing to read and returns, so no exception is needed to get out.
 */
export interface Parser {
  readonly tokens: readonly Token[];
  readonly end: Token;
  next: number;
  levels: number;
  fault: Fault | undefined;
}

/** The null literal; also what a production gives after a fault. */
export const NULL_LITERAL: Expression = { kind: 'literal', value: null };

/** The token that is read next. */
export function peek(parser: Parser): Token {
  return parser.tokens[parser.next] ?? parser.end;
}

/** True for one of the symbols. */
export function isSymbol(token: Token, text: string): boolean {
  return token.kind === 'symbol' && token.text === text;
}

/** Consumes the symbol when it is next. */
export function accept(parser: Parser, text: string): boolean {
  if (!isSymbol(peek(parser), text)) return false;
  parser.next += 1;
  return true;
}

/** Consumes the symbol; anything else is a fault. */
export function expect(parser: Parser, text: string): void {
  const token = peek(parser);
  if (!accept(parser, text)) fail(parser, token, `expected "${text}" before ${describe(token)}`);
}

/** Keeps the first fault and skips the rest of the text. */
export function fail(parser: Parser, at: Token, message: string): Expression {
  parser.fault ??= { message, position: at.start };
  parser.next = parser.tokens.length;
  return NULL_LITERAL;
}

/** Names a token for a message. Texts of strings are left out: they may be anything. */
export function describe(token: Token): string {
  switch (token.kind) {
    case 'word':
    case 'symbol':
      return quoteText(token.text);
    case 'number':
    case 'string':
      return token.kind;
    case 'end':
      return 'the end of the expression';
  }
}

/** Runs a production one level deeper; too many levels are a fault ([EXP-7]). */
export function nested<T>(parser: Parser, parse: () => T): T {
  parser.levels += 1;
  if (parser.levels > EXPRESSION_LEVELS_MAX) {
    fail(parser, peek(parser), `more than ${EXPRESSION_LEVELS_MAX} nested levels`);
  }
  const result = parse();
  parser.levels -= 1;
  return result;
}
