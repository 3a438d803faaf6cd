import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluateExpression } from '../../src/core/expressions/evaluate.ts';
import { lintExpression } from '../../src/core/expressions/lint.ts';
import { expressionReferences } from '../../src/core/expressions/references.ts';
import { canonicalJson, type Json, utf8Bytes } from '../../src/core/json.ts';
import { anyText, bits, EXPRESSION_BITS, expression, json } from './arbitraries.ts';
import { fixtureScope } from './scope-fixture.ts';

const RUNS = { numRuns: 3000 };
const scope = fixtureScope();

function checkExpression(text: string): void {
  const strict = evaluateExpression(text, scope, 'strict');
  const value = strict.ok ? strict.value : null;
  const { code, position } = strict.ok ? { code: 'EXPRESSION_ERROR', position: 0 } : strict.error;
  expect(evaluateExpression(text, scope, 'lenient')).toEqual({ ok: true, value });
  expectJson(value);
  expect(code).toBe('EXPRESSION_ERROR');
  expect(position ?? 0).toBeLessThanOrEqual(text.length);
  const warnings = lintExpression(text, new Set(['fetch', 'my-step']));
  expect(warnings.some((warning) => warning.code === 'bad_expression')).toBe(!strict.ok);
  expressionReferences(text);
}

/** Finite numbers, no undefined, no minus zero at the top, nothing with a foreign prototype. */
function expectJson(value: Json): void {
  expect(JSON.parse(JSON.stringify(value))).toEqual(value);
  expect(Object.is(value, -0)).toBe(false);
}

describe('random expressions', () => {
  test('no text throws, and lenient is strict without the errors', () => {
    fc.assert(fc.property(fc.oneof(bits(EXPRESSION_BITS), anyText), checkExpression), RUNS);
  });

  test('every well-formed tree gives a JSON value', () => {
    fc.assert(
      fc.property(expression, (text) => {
        fc.pre(utf8Bytes(text) < 16_000);
        checkExpression(text);
      }),
      RUNS,
    );
  });

  test('any operator takes any two values', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const values = fixtureScope({ data: { a, b } });
        const evaluate = (text: string): Json => {
          const result = evaluateExpression(text, values, 'strict');
          return result.ok ? result.value : 'failed';
        };
        expect(evaluate('a == b')).toBe(canonicalJson(a) === canonicalJson(b));
        expect(evaluate('a == a && !(a != a) && a in [a]')).toBe(true);
        expect(evaluate('json(a)')).toBe(canonicalJson(a));
        expect(
          [evaluate('a < b'), evaluate('b < a'), evaluate('a == b')].filter(Boolean).length,
        ).toBeLessThan(2);
        expect(evaluate('sort([a, b]) == sort([b, a]) || json(a) != json(b)')).toBe(true);
        for (const text of [
          'a + b',
          'a - b',
          'a * b',
          'a / b',
          '-a',
          'get(a, b)',
          'slice(a, b)',
          'clamp(a, b, b)',
        ]) {
          expectJson(evaluate(text));
        }
      }),
      { numRuns: 1000 },
    );
  });
});
