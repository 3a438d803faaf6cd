import { utf8Bytes } from '../json.ts';
import { err, ok, type Result } from '../result.ts';
import { cachedByText } from './cache.ts';
import { parseTernary } from './expression-grammar.ts';
import type { Fault } from './language-error.ts';
import { trimRange } from './lexical.ts';
import { EXPRESSION_BYTES_MAX } from './limits.ts';
import { describe, fail, NULL_LITERAL, type Parser, peek } from './parser.ts';
import type { Expression } from './syntax-tree.ts';
import { type Token, tokenize } from './tokens.ts';

/** The tree of an expression, or the first fault. The empty text is null ([EXP-2]). Results are kept by text. */
export const parseExpression: (text: string) => Result<Expression, Fault> = cachedByText(parseWhole);

/** The tokens of an expression after the surrounding `{{ }}` are removed ([EXP-1]). */
export function expressionTokens(text: string): Result<readonly Token[], Fault> {
  if (text.length > EXPRESSION_BYTES_MAX || utf8Bytes(text) > EXPRESSION_BYTES_MAX) {
    return err({ message: `expression longer than ${EXPRESSION_BYTES_MAX} bytes` });
  }
  const outer = trimRange(text, 0, text.length);
  const inner = withoutBraces(text, outer.start, outer.end);
  return tokenize(text, inner.start, inner.end);
}

function withoutBraces(text: string, start: number, end: number): { start: number; end: number } {
  const wrapped = end - start >= 4 && text.startsWith('{{', start) && text.startsWith('}}', end - 2);
  if (!wrapped) return { start, end };
  const only = text.indexOf('{{', start + 1) === -1 && text.indexOf('}}') === end - 2;
  return only ? trimRange(text, start + 2, end - 2) : { start, end };
}

function parseWhole(text: string): Result<Expression, Fault> {
  const tokens = expressionTokens(text);
  if (!tokens.ok) return tokens;
  const end = tokens.value.at(-1);
  if (end === undefined || tokens.value.length === 1) return ok(NULL_LITERAL);
  const parser: Parser = { tokens: tokens.value, end, next: 0, levels: 0, fault: undefined };
  const expression = parseTernary(parser);
  const rest = peek(parser);
  if (rest.kind !== 'end') fail(parser, rest, `unexpected ${describe(rest)}`);
  return parser.fault === undefined ? ok(expression) : err(parser.fault);
}
