import { expressionPath, foldGet } from './expression-words.ts';
import {
  accept,
  describe,
  expect,
  fail,
  isSymbol,
  nested,
  NULL_LITERAL,
  type Parser,
  peek,
} from './parser.ts';
import type { ArithmeticOperator, ArithmeticStep, CompareOperator, Expression } from './syntax-tree.ts';
import type { Token } from './tokens.ts';

/*
 * One function for each production of the grammar (expressions.md 5.1), loosest first. They only descend, and only
 * brackets, calls and unary operators come back to the top, so the level limit bounds the stack.
 */

const COMPARE_OPERATORS: ReadonlyMap<string, CompareOperator> = new Map(
  (['==', '!=', '>', '>=', '<', '<='] as const).map((operator) => [operator, operator]),
);
const KEYWORD_LITERALS: ReadonlyMap<string, Expression> = new Map([
  ['true', { kind: 'literal', value: true }],
  ['false', { kind: 'literal', value: false }],
  ['null', NULL_LITERAL],
]);

/** A whole expression, or what stands in brackets or between commas. */
export function parseTernary(parser: Parser): Expression {
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
