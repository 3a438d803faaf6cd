import { utf8Bytes } from '../json.ts';
import { err, ok, type Result } from '../result.ts';
import { cachedByText } from './cache.ts';
import { type Fault, quoteText } from './language-error.ts';
import { trimRange } from './lexical.ts';
import { EXPRESSION_BYTES_MAX, EXPRESSION_LEVELS_MAX } from './limits.ts';
import { type Path, rootedPath } from './paths.ts';
import type { ArithmeticOperator, ArithmeticStep, CompareOperator, Expression } from './syntax-tree.ts';
import { type Token, tokenize } from './tokens.ts';

/**
 * A recursive-descent parser (expressions.md 5.1). The first fault is kept and the parser jumps to the end token;
 * every production then finds nothing to read and returns, so no exception is needed to get out.
 */
interface Parser {
  readonly tokens: readonly Token[];
  readonly end: Token;
  next: number;
  levels: number;
  fault: Fault | undefined;
}

const NULL_LITERAL: Expression = { kind: 'literal', value: null };
const COMPARE_OPERATORS: ReadonlyMap<string, CompareOperator> = new Map(
  (['==', '!=', '>', '>=', '<', '<='] as const).map((operator) => [operator, operator]),
);
const KEYWORD_LITERALS: ReadonlyMap<string, Expression> = new Map([
  ['true', { kind: 'literal', value: true }],
  ['false', { kind: 'literal', value: false }],
  ['null', NULL_LITERAL],
]);

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

function peek(parser: Parser): Token {
  return parser.tokens[parser.next] ?? parser.end;
}

function isSymbol(token: Token, text: string): boolean {
  return token.kind === 'symbol' && token.text === text;
}

/** Consumes the symbol when it is next. */
function accept(parser: Parser, text: string): boolean {
  if (!isSymbol(peek(parser), text)) return false;
  parser.next += 1;
  return true;
}

function expect(parser: Parser, text: string): void {
  if (!accept(parser, text))
    fail(parser, peek(parser), `expected "${text}" before ${describe(peek(parser))}`);
}

function fail(parser: Parser, at: Token, message: string): Expression {
  parser.fault ??= { message, position: at.start };
  parser.next = parser.tokens.length;
  return NULL_LITERAL;
}

/** Names a token for a message. Texts of strings are left out: they may be anything. */
function describe(token: Token): string {
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
function nested<T>(parser: Parser, parse: () => T): T {
  parser.levels += 1;
  if (parser.levels > EXPRESSION_LEVELS_MAX) {
    fail(parser, peek(parser), `more than ${EXPRESSION_LEVELS_MAX} nested levels`);
  }
  const result = parse();
  parser.levels -= 1;
  return result;
}

function parseTernary(parser: Parser): Expression {
  const condition = parseAny(parser);
  if (!accept(parser, '?')) return condition;
  const whenTrue = parseAny(parser);
  expect(parser, ':');
  return { kind: 'choice', condition, whenTrue, whenFalse: parseAny(parser) };
}

function parseAny(parser: Parser): Expression {
  const first = parseAll(parser);
  if (!isSymbol(peek(parser), '||')) return first;
  const operands = [first];
  while (accept(parser, '||')) operands.push(parseAll(parser));
  return { kind: 'any', operands };
}

function parseAll(parser: Parser): Expression {
  const first = parseComparison(parser);
  if (!isSymbol(peek(parser), '&&')) return first;
  const operands = [first];
  while (accept(parser, '&&')) operands.push(parseComparison(parser));
  return { kind: 'all', operands };
}

function parseComparison(parser: Parser): Expression {
  const left = parseSum(parser);
  const token = peek(parser);
  if (token.kind === 'word' && token.text === 'in') {
    parser.next += 1;
    return { kind: 'within', element: left, list: parsePrimary(parser) };
  }
  const operator = token.kind === 'symbol' ? COMPARE_OPERATORS.get(token.text) : undefined;
  if (operator === undefined) return left;
  parser.next += 1;
  return { kind: 'compare', operator, left, right: parseSum(parser) };
}

function parseSum(parser: Parser): Expression {
  return parseArithmetic(parser, '+', '-', parseProduct);
}

function parseProduct(parser: Parser): Expression {
  return parseArithmetic(parser, '*', '/', parseUnary);
}

function parseArithmetic(
  parser: Parser,
  one: ArithmeticOperator,
  other: ArithmeticOperator,
  parseOperand: (parser: Parser) => Expression,
): Expression {
  const first = parseOperand(parser);
  const rest: ArithmeticStep[] = [];
  for (;;) {
    const operator = accept(parser, one) ? one : accept(parser, other) ? other : undefined;
    if (operator === undefined) break;
    rest.push({ operator, operand: parseOperand(parser) });
  }
  return rest.length === 0 ? first : { kind: 'arithmetic', first, rest };
}

function parseUnary(parser: Parser): Expression {
  if (accept(parser, '!')) return { kind: 'not', operand: nested(parser, () => parseUnary(parser)) };
  if (accept(parser, '-')) return { kind: 'negative', operand: nested(parser, () => parseUnary(parser)) };
  return parsePrimary(parser);
}

function parsePrimary(parser: Parser): Expression {
  const token = peek(parser);
  switch (token.kind) {
    case 'string':
    case 'number':
      parser.next += 1;
      return { kind: 'literal', value: token.value };
    case 'word':
      return parseWord(parser, token, token.text);
    case 'symbol':
      return parseBracketed(parser, token);
    case 'end':
      return fail(parser, token, `expected a value before ${describe(token)}`);
  }
}

function parseBracketed(parser: Parser, token: Token): Expression {
  if (accept(parser, '[')) return { kind: 'list', elements: nested(parser, () => parseList(parser, ']')) };
  if (!accept(parser, '(')) return fail(parser, token, `expected a value before ${describe(token)}`);
  return nested(parser, () => {
    const inner = parseTernary(parser);
    expect(parser, ')');
    return inner;
  });
}

function parseWord(parser: Parser, token: Token, text: string): Expression {
  if (text === 'in') return fail(parser, token, 'expected a value before "in"');
  parser.next += 1;
  const literal = KEYWORD_LITERALS.get(text);
  if (literal !== undefined) return literal;
  if (!accept(parser, '(')) return { kind: 'path', path: expressionPath(text) };
  const args = nested(parser, () => parseList(parser, ')'));
  return text === 'get' ? foldGet(args) : { kind: 'call', name: text, args };
}

/** Elements up to the closing bracket; a comma may follow the last one. */
function parseList(parser: Parser, close: string): readonly Expression[] {
  const elements: Expression[] = [];
  while (!isSymbol(peek(parser), close)) {
    elements.push(parseTernary(parser));
    if (!accept(parser, ',')) break;
  }
  expect(parser, close);
  return elements;
}

/** The path of a word: a bare one reads under `context.data`, `state` included (1.1). */
function expressionPath(word: string): Path {
  const names = word.split('.');
  if (names[0] === 'state') return { root: 'data', segments: names };
  const rooted = rootedPath(names);
  switch (rooted.kind) {
    case 'path':
      return rooted.path;
    case 'unknown_section':
      return { root: 'nothing', segments: [] };
    case 'no_root':
      return { root: 'data', segments: names };
  }
}

/**
 * `get(outputs, 'my-step', 'v')` becomes the path it means: literal names select exactly as segments do. The whole
 * root is then neither copied nor counted among the references of the text.
 */
function foldGet(args: readonly Expression[]): Expression {
  let target = args[0];
  let used = 1;
  for (const key of args.slice(1)) {
    if (target?.kind !== 'path' || key.kind !== 'literal' || typeof key.value !== 'string') break;
    const { root, segments } = target.path;
    target = { kind: 'path', path: { root, segments: [...segments, key.value] } };
    used += 1;
  }
  if (target === undefined) return NULL_LITERAL;
  return used === args.length ? target : { kind: 'call', name: 'get', args: [target, ...args.slice(used)] };
}
