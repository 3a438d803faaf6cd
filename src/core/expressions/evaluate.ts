import { compareCodePoints, isJsonArray, type Json } from '../json.ts';
import { err, ok, type Result } from '../result.ts';
import { FUNCTIONS } from './function-table.ts';
import { expressionError, type LanguageError } from './language-error.ts';
import { isSpent, spend, TEXT_BYTES_MAX } from './limits.ts';
import { parseExpression } from './parse-expression.ts';
import { type Evaluation, newEvaluation, readPath } from './paths.ts';
import type { Scope } from './scope.ts';
import type { ArithmeticOperator, ArithmeticStep, CompareOperator, Expression } from './syntax-tree.ts';
import { equals, isTruthy, numberOf } from './values.ts';

export { isTruthy } from './values.ts';

/** `strict` reports what is wrong with a text, `lenient` makes it null (expressions.md chapter 8). */
export type Mode = 'strict' | 'lenient';

/**
 * The value of an expression. Missing paths, unknown functions and operands without numbers are null in both modes.
 * A syntax error or an exceeded limit is `EXPRESSION_ERROR` in strict mode and null in lenient mode, which is always
 * ok ([MODE-1], [MODE-2], [SEC-3]).
 */
export function evaluateExpression(text: string, scope: Scope, mode: Mode): Result<Json, LanguageError> {
  const result = evaluateText(text, scope);
  return result.ok || mode === 'strict' ? result : ok(null);
}

function evaluateText(text: string, scope: Scope): Result<Json, LanguageError> {
  const parsed = parseExpression(text);
  if (!parsed.ok) return err(expressionError(parsed.error));
  const evaluation = newEvaluation(scope);
  const value = evaluate(parsed.value, evaluation);
  return isSpent(evaluation.meter)
    ? err(expressionError({ message: 'the expression exceeds the limit of work or size' }))
    : ok(value);
}

function evaluate(node: Expression, evaluation: Evaluation): Json {
  if (!spend(evaluation.meter, 1)) return null;
  switch (node.kind) {
    case 'literal':
      return node.value;
    case 'path':
      return readPath(node.path, evaluation) ?? null;
    case 'list':
      return node.elements.map((element) => evaluate(element, evaluation));
    case 'call':
      return call(node.name, node.args, evaluation);
    case 'not':
      return !isTruthy(evaluate(node.operand, evaluation));
    case 'negative':
      return negative(evaluate(node.operand, evaluation), evaluation);
    case 'any':
      return node.operands.some((operand) => isTruthy(evaluate(operand, evaluation)));
    case 'all':
      return node.operands.every((operand) => isTruthy(evaluate(operand, evaluation)));
    case 'arithmetic':
      return arithmetic(evaluate(node.first, evaluation), node.rest, evaluation);
    case 'compare':
      return compare(
        node.operator,
        evaluate(node.left, evaluation),
        evaluate(node.right, evaluation),
        evaluation,
      );
    case 'within':
      return within(evaluate(node.element, evaluation), evaluate(node.list, evaluation), evaluation);
    case 'choice':
      return evaluate(
        isTruthy(evaluate(node.condition, evaluation)) ? node.whenTrue : node.whenFalse,
        evaluation,
      );
  }
}

/** An unknown function is null ([EVAL-9]). The table is a Map, so inherited names are unknown too ([SEC-2]). */
function call(name: string, args: readonly Expression[], evaluation: Evaluation): Json {
  const known = FUNCTIONS.get(name);
  if (known === undefined) return null;
  return known(
    args.map((arg) => evaluate(arg, evaluation)),
    evaluation,
  );
}

function negative(value: Json, { meter }: Evaluation): Json {
  const number = numberOf(value, meter);
  return number === undefined ? null : 0 - number;
}

function arithmetic(first: Json, rest: readonly ArithmeticStep[], evaluation: Evaluation): Json {
  let result = first;
  for (const { operator, operand } of rest) {
    result = combine(operator, result, evaluate(operand, evaluation), evaluation);
  }
  return result;
}

function combine(operator: ArithmeticOperator, left: Json, right: Json, { meter }: Evaluation): Json {
  if (operator === '+' && typeof left === 'string' && typeof right === 'string') {
    const length = left.length + right.length;
    // A text that adds a long string to itself again and again would outgrow the memory.
    if (!spend(meter, length > TEXT_BYTES_MAX ? Number.POSITIVE_INFINITY : length)) return null;
    return left + right;
  }
  const a = numberOf(left, meter);
  const b = numberOf(right, meter);
  if (a === undefined || b === undefined) return null;
  const result = calculate(operator, a, b);
  // Adding 0 turns -0 into 0 ([EVAL-6]); division by zero is not finite.
  return Number.isFinite(result) ? result + 0 : null;
}

function calculate(operator: ArithmeticOperator, a: number, b: number): number {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
  }
}

function compare(operator: CompareOperator, left: Json, right: Json, evaluation: Evaluation): boolean {
  if (operator === '==') return equals(left, right, evaluation.meter);
  if (operator === '!=') return !equals(left, right, evaluation.meter);
  const order = orderOf(left, right, evaluation);
  if (order === undefined) return false;
  switch (operator) {
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
  }
}

/** Numbers by value and strings by code point; every other pair has no order (7.4). */
function orderOf(left: Json, right: Json, { meter }: Evaluation): number | undefined {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left !== 'string' || typeof right !== 'string') return undefined;
  return spend(meter, Math.min(left.length, right.length)) ? compareCodePoints(left, right) : undefined;
}

function within(element: Json, list: Json, { meter }: Evaluation): boolean {
  return isJsonArray(list) && list.some((candidate) => equals(candidate, element, meter));
}
