import { describe, expect, test } from 'vitest';
import { evaluateExpression } from '../../src/core/expressions/evaluate.ts';
import type { LanguageError } from '../../src/core/expressions/language-error.ts';
import { lintExpression, lintTemplates } from '../../src/core/expressions/lint.ts';
import { resolveTemplates, resolveTemplateText } from '../../src/core/expressions/template.ts';
import type { Json } from '../../src/core/json.ts';
import type { Result } from '../../src/core/result.ts';
import expressionVectors from './expression-vectors.json' with { type: 'json' };
import { fixtureScope } from './scope-fixture.ts';
import templateVectors from './template-vectors.json' with { type: 'json' };

interface Vector {
  readonly tag: string;
  readonly text: string;
  readonly error?: boolean;
  readonly result?: Json;
}

const templates: readonly Vector[] = templateVectors;
const expressions: readonly Vector[] = expressionVectors;
const scope = fixtureScope();

test('the tables hold all vectors of the specification', () => {
  expect(templates.map(({ tag }) => tag)).toEqual(Array.from({ length: 111 }, (_, index) => `T${index + 1}`));
  expect(expressions.map(({ tag }) => tag)).toEqual(
    Array.from({ length: 170 }, (_, index) => `X${index + 1}`),
  );
});

/** What came out: the value, or the code of the error. */
function outcome(result: Result<Json, LanguageError>): unknown {
  return result.ok ? { value: result.value } : { code: result.error.code };
}

describe('template vectors', () => {
  test.each(templates)('$tag: $text', ({ text, error, result }) => {
    const failed = { code: 'TEMPLATE_ERROR' };
    expect(outcome(resolveTemplateText(text, scope))).toEqual(error === true ? failed : { value: result });
    const nested = outcome(resolveTemplates({ '{{k}}': [text] }, scope));
    expect(nested).toEqual(error === true ? failed : { value: { '{{k}}': [result] } });
  });
});

describe('expression vectors', () => {
  test.each(expressions)('$tag: $text', ({ text, error, result }) => {
    const strict = outcome(evaluateExpression(text, scope, 'strict'));
    const lenient = outcome(evaluateExpression(text, scope, 'lenient'));
    expect(strict).toEqual(error === true ? { code: 'EXPRESSION_ERROR' } : { value: result });
    expect(lenient).toEqual({ value: error === true ? null : result });
  });
});

test('publishing warns about an expression vector exactly when it does not parse', () => {
  const warned = expressions.filter(({ text }) =>
    lintExpression(text, new Set(['fetch', 'my', 'flat'])).some(({ code }) => code === 'bad_expression'),
  );
  expect(warned).toEqual(expressions.filter(({ error }) => error === true));
});

test('publishing warns about every template vector that cannot be resolved whatever is bound', () => {
  const silent = templates.filter(
    ({ text, error }) => error === true && lintTemplates(text, new Set(), new Set(['row'])).length === 0,
  );
  // T71 depends on the data.
  expect(silent.map(({ tag }) => tag)).toEqual(['T71']);
});
