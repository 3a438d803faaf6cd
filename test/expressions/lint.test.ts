import { describe, expect, test } from 'vitest';
import { lintExpression, lintTemplates } from '../../src/core/expressions/lint.ts';
import type { Json } from '../../src/core/json.ts';

const IDS = new Set(['a', 'a-b', 'step-2', 'b']);

describe('lint of an expression', () => {
  test.each([
    ['outputs.a.x + steps.b', []],
    ["get(outputs, 'a-b')", []],
    ['data.anything', []],
    ['', []],
    ['outputs', []],
    ['outputs.zz + steps.zz.q', [['unknown_output_ref', 'outputs.zz is read, but no block has the id "zz"']]],
    ["get(steps, 'zz-1')", [['unknown_output_ref', 'outputs.zz-1 is read, but no block has the id "zz-1"']]],
    ['1 +', [['bad_expression', 'expected a value before the end of the expression at position 3']]],
    [
      'outputs.a-b.x > 1',
      [['hyphen_in_expression', `"a-b" is read as a subtraction; write "get(outputs, 'a-b')"`]],
    ],
    [
      'steps.a-b && outputs.a-b',
      [['hyphen_in_expression', `"a-b" is read as a subtraction; write "get(outputs, 'a-b')"`]],
    ],
    [
      'outputs.step-2.x',
      [
        ['hyphen_in_expression', `"step-2" is read as a subtraction; write "get(outputs, 'step-2')"`],
        ['bad_expression', 'unexpected "x" at position 15'],
      ],
    ],
    [
      'outputs.step-2',
      [['hyphen_in_expression', `"step-2" is read as a subtraction; write "get(outputs, 'step-2')"`]],
    ],
    ['outputs.a - b', []],
    ['outputs.a-c', []],
    ['outputs.a-1', []],
    ['data.a-b', []],
    ["outputs.b+'x'", []],
    ['outputs.zz-b', [['unknown_output_ref', 'outputs.zz is read, but no block has the id "zz"']]],
    ['$', [['bad_expression', 'unexpected character at position 0']]],
  ])('%s', (text, expected) => {
    expect(lintExpression(text, IDS).map(({ code, message }) => [code, message])).toEqual(expected);
  });

  test('gives at most 100 warnings', () => {
    const text = Array.from({ length: 200 }, (_, index) => `outputs.x${index}`).join('+');
    expect(lintExpression(text, IDS)).toHaveLength(100);
  });
});

describe('lint of templates', () => {
  const UPPER = '"uppper" is read as text and not as the filter "upper"; quote it if text is meant';

  test.each<[Json, readonly (readonly string[])[]]>([
    ['{{outputs.a-b.x | outputs.b}}', []],
    ['{{row.x}}', []],
    ["{{data.x | 'EUR'}}", []],
    ['{{data.x | spare}}', []],
    ['no templates', []],
    ['{{data.x', []],
    [
      { p: ['{{outputs.zz}}{{steps.zz}}'] },
      [['unknown_output_ref', 'outputs.zz is read, but no block has the id "zz" in "/p/0"']],
    ],
    ['{{}}', [['bad_template', 'unknown template root in "" at position 2']]],
    [
      { p: '{{data.x | round(a)}}' },
      [['bad_template', 'filter "round" needs an integer from 0 to 15 in "/p" at position 11']],
    ],
    ['{{context.x}}', [['bad_template', 'unknown section of context in "context.x" at position 2']]],
    ['{{data.x | context}}', [['bad_template', 'unknown section of context in "context" at position 11']]],
    ['{{upper(data.x)}}', [['bad_template', 'unknown template function at position 2']]],
    ['{{data.x | uppper}}', [['bad_template', `${UPPER} at position 11`]]],
    ['{{data.x | UPPPER}}', [['bad_template', `${UPPER.replace('uppper', 'UPPPER')} at position 11`]]],
    [
      '{{data.x | default}}',
      [
        [
          'bad_template',
          '"default" is read as text and not as the filter "default"; quote it if text is meant at position 11',
        ],
      ],
    ],
    [
      "{{data.x | defualt('a')}}",
      [
        [
          'bad_template',
          '"defualt" is read as text and not as the filter "default"; quote it if text is meant at position 11',
        ],
      ],
    ],
    [
      '{{data.x | upper()}}',
      [
        [
          'bad_template',
          '"upper" is read as text and not as the filter "upper"; quote it if text is meant at position 11',
        ],
      ],
    ],
    ['{{data.x | 5 | 6}}', [['bad_template', 'a segment that is no filter and never counts at position 15']]],
    [
      '{{data.x | upper | row}}',
      [['bad_template', 'a segment that is no filter and never counts at position 19']],
    ],
    ['{{data.x | upper | lower}}', []],
    ['{{data.x | row.upper | row)}}', []],
    ['{{data.x | len(row)}}', []],
    ['{{data.x | f(row)}}', []],
  ])('%j', (value, expected) => {
    expect(lintTemplates(value, IDS).map(({ code, message }) => [code, message])).toEqual(expected);
  });

  test('an unbound root is found when the bound names are given', () => {
    const bound = new Set(['row']);
    expect(lintTemplates('{{row.x}} {{data.x | nope}}', IDS, bound)).toEqual([]);
    expect(lintTemplates('{{nope.x}}', IDS, bound)).toEqual([
      { code: 'bad_template', message: 'unknown template root in "nope.x" at position 2' },
    ]);
  });

  test('gives at most 100 warnings', () => {
    expect(lintTemplates(Array(200).fill('{{}}'), IDS)).toHaveLength(100);
    const text = Array.from({ length: 200 }, (_, index) => `{{outputs.x${index}}}`).join('');
    expect(lintTemplates([text, text], IDS)).toHaveLength(100);
  });
});
