import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluateExpression } from '../../src/core/expressions/evaluate.ts';
import { lintExpression, lintTemplates } from '../../src/core/expressions/lint.ts';
import { expressionReferences, templateReferences } from '../../src/core/expressions/references.ts';
import { resolveTemplates, resolveTemplateText } from '../../src/core/expressions/template.ts';
import { canonicalJson, type Json, utf8Bytes } from '../../src/core/json.ts';
import { canonicalSize } from '../../src/core/expressions/values.ts';
import { fixtureScope } from './scope-fixture.ts';

const RUNS = { numRuns: 3000 };
const scope = fixtureScope();
const ids = new Set(['fetch', 'my-step']);

const NAMES = [
  'data',
  'config',
  'outputs',
  'steps',
  'input',
  'state',
  'runtime',
  'context',
  'instance_id',
  'row',
  'n',
  's',
  'list',
  'deep.rows.0',
  '__proto__',
  'constructor',
  'toString',
  'gone',
  'fetch',
  'my-step',
];
const FUNCTIONS = [
  'abs',
  'len',
  'json',
  'now',
  'uuid',
  'random',
  'format_date',
  'day_of_week',
  'keys',
  'values',
  'contains',
  'starts_with',
  'ends_with',
  'sum',
  'avg',
  'min',
  'max',
  'first',
  'last',
  'slice',
  'sort',
  'unique',
  'count',
  'change_pct',
  'clamp',
  'get',
  'shout',
];
const EXPRESSION_BITS = [
  ...NAMES,
  ...FUNCTIONS,
  '(',
  ')',
  '[',
  ']',
  ',',
  '.',
  '+',
  '-',
  '*',
  '/',
  '!',
  '==',
  '!=',
  '<',
  '<=',
  '>',
  '>=',
  '&&',
  '||',
  '&',
  '|',
  '=',
  '?',
  ':',
  'in',
  'true',
  'false',
  'null',
  '1',
  '0',
  '2.5',
  '7.',
  "'",
  '"',
  "'x'",
  '""',
  '{{',
  '}}',
  ' ',
  '\n',
  '\u{1F30A}',
  '\ud83c',
  '$',
  '{',
];
const TEMPLATE_BITS = [
  ...NAMES,
  '{{',
  '}}',
  '{{data.s',
  '|',
  ' ',
  '.',
  "'",
  '"',
  '(',
  ')',
  ',',
  'upper',
  'lower',
  'trim',
  'abs',
  'url_encode',
  'base64',
  'base64_decode',
  "replace('l','r')",
  'default(',
  'truncate(2',
  "join(',')",
  "split('')",
  "hash('sha256')",
  'round(1)',
  'json(',
  'len(',
  '}',
  '{',
  '5',
  '-',
  'null',
  '\u{1F30A}',
  '\ud83c',
  '\n',
];

const bits = (list: readonly string[]) =>
  fc.array(fc.constantFrom(...list), { maxLength: 30 }).map((parts) => parts.join(''));
const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string());
const json: fc.Arbitrary<Json> = fc
  .jsonValue({ maxDepth: 4 })
  .map((value) => JSON.parse(JSON.stringify(value)));

/** Trees of an expression as text, every one of which parses. */
const { expression } = fc.letrec<{ expression: string; leaf: string }>((tie) => ({
  leaf: fc.constantFrom(
    'n',
    's',
    'list',
    'obj',
    'mixed',
    'gone',
    'data',
    'outputs',
    'when',
    '1',
    '2.5',
    "'x'",
    "'7'",
    'true',
    'null',
    '[]',
    'deep.rows',
  ),
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('leaf'),
    fc
      .tuple(fc.constantFrom('!', '-'), tie('expression'))
      .map(([operator, operand]) => `${operator}(${operand})`),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('+', '-', '*', '/', '==', '!=', '<', '>=', '&&', '||', 'in'),
        tie('expression'),
      )
      .map(([left, operator, right]) => `(${left}) ${operator} (${right})`),
    fc
      .tuple(tie('expression'), tie('expression'), tie('expression'))
      .map(([a, b, c]) => `((${a}) ? (${b}) : (${c}))`),
    fc
      .tuple(fc.constantFrom(...FUNCTIONS), fc.array(tie('expression'), { maxLength: 3 }))
      .map(([name, args]) => `${name}(${args.join(', ')})`),
    fc.array(tie('expression'), { maxLength: 3 }).map((elements) => `[${elements.join(',')}]`),
  ),
}));

function checkExpression(text: string): void {
  const strict = evaluateExpression(text, scope, 'strict');
  const lenient = evaluateExpression(text, scope, 'lenient');
  expect(lenient.ok).toBe(true);
  if (strict.ok) {
    expect(lenient).toEqual(strict);
    expectJson(strict.value);
  } else {
    expect(lenient).toEqual({ ok: true, value: null });
    expect(strict.error.code).toBe('EXPRESSION_ERROR');
    expect(strict.error.position ?? 0).toBeLessThanOrEqual(text.length);
  }
  const warnings = lintExpression(text, ids);
  expect(warnings.some(({ code }) => code === 'bad_expression')).toBe(!strict.ok);
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

describe('random templates', () => {
  test('no text throws, and the result is JSON', () => {
    fc.assert(
      fc.property(fc.oneof(bits(TEMPLATE_BITS), anyText), (text) => {
        const result = resolveTemplateText(text, scope);
        if (result.ok) expectJson(result.value);
        else expect(result.error.code).toBe('TEMPLATE_ERROR');
        templateReferences([text]);
        lintTemplates([text], ids);
      }),
      RUNS,
    );
  });

  test('values without templates come back as they are', () => {
    fc.assert(
      fc.property(json, (value) => {
        fc.pre(!canonicalJson(value).includes('{{'));
        expect(resolveTemplates(value, scope)).toEqual({ ok: true, value });
      }),
    );
  });

  test('a whole template gives any value of data unchanged, an inline one its text', () => {
    fc.assert(
      fc.property(json, (value) => {
        const changed = fixtureScope({ data: { v: value } });
        expect(resolveTemplateText('{{data.v}}', changed)).toEqual({ ok: true, value });
        const text = typeof value === 'string' ? value : canonicalJson(value);
        expect(resolveTemplateText('<{{data.v}}>', changed)).toEqual({ ok: true, value: `<${text}>` });
      }),
    );
  });
});

test('the size of a value is that of its canonical JSON, known without building it', () => {
  const texts: fc.Arbitrary<Json> = fc.oneof(
    json,
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\ud83c', '\udf0a\ud83c', '\u000b\b\f"\\'),
  );
  fc.assert(
    fc.property(texts, (value) => {
      const size = utf8Bytes(canonicalJson(value));
      expect(canonicalSize(value, 1_000_000, 64)).toBe(size);
      expect(canonicalSize(value, size, 64)).toBe(size);
      expect(canonicalSize(value, size - 1, 64)).toBe(undefined);
    }),
    { numRuns: 1000 },
  );
});
