import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lintTemplates } from '../../src/core/expressions/lint.ts';
import { templateReferences } from '../../src/core/expressions/references.ts';
import { resolveTemplates, resolveTemplateText } from '../../src/core/expressions/template.ts';
import { canonicalSize } from '../../src/core/expressions/values.ts';
import { canonicalJson, type Json, utf8Bytes } from '../../src/core/json.ts';
import { anyText, bits, json, TEMPLATE_BITS } from './arbitraries.ts';
import { fixtureScope } from './scope-fixture.ts';

const RUNS = { numRuns: 3000 };
const scope = fixtureScope();

describe('random templates', () => {
  test('no text throws, and the result is JSON', () => {
    fc.assert(
      fc.property(fc.oneof(bits(TEMPLATE_BITS), anyText), (text) => {
        const result = resolveTemplateText(text, scope);
        const value = result.ok ? result.value : result.error.code;
        expect(JSON.parse(JSON.stringify(value))).toEqual(value);
        templateReferences([text]);
        lintTemplates([text], new Set(['fetch']));
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
