import { describe, expect, test } from 'vitest';
import { evaluateExpression } from '../../src/core/expressions/evaluate.ts';
import type { Scope } from '../../src/core/expressions/scope.ts';
import type { Json } from '../../src/core/json.ts';
import { dataScope } from './scope-fixture.ts';

function evaluate(text: string, data: Json = {}, changes: Partial<Scope> = {}): Json | undefined {
  const result = evaluateExpression(text, dataScope(data, changes), 'strict');
  return result.ok ? result.value : undefined;
}

const DATA: Json = {
  l: [3, 1, 2],
  o: { b: 2, a: 1, '\u{1F30A}': 4, '\uFFFD': 3 },
  s: 'Plum',
  n: 7,
  t: true,
  nil: null,
  huge: [1e308, 1e308],
};

describe.each([
  'abs',
  'format_date',
  'day_of_week',
  'sum',
  'avg',
  'min',
  'max',
  'first',
  'last',
  'slice',
  'sort',
  'unique',
  'change_pct',
  'clamp',
  'get',
])('%s', (name) => {
  test.each(['', 'null', 'gone', '[null]', 'o'])(`is null for (%s) unless that is a list`, (args) => {
    const expected: Record<string, Json> = {
      first: null,
      last: null,
      slice: [null],
      sort: [null],
      unique: [null],
    };
    const list: Json = { ...expected, sum: 0, clamp: [null], get: [null] }[name] ?? null;
    const object: Json = name === 'clamp' || name === 'get' ? (Object(DATA).o ?? null) : null;
    expect(evaluate(`${name}(${args})`, DATA)).toEqual(
      args === '[null]' ? list : args === 'o' ? object : null,
    );
  });
});

describe('functions of numbers', () => {
  test.each([
    ['abs(true)', 1],
    ["abs('-1.5e1')", 15],
    ['change_pct(100, 50)', -50],
    ["change_pct('80', '100')", 25],
    ['change_pct(0, 0)', null],
    ['change_pct(1)', null],
    ['change_pct(-100, -50)', -50],
    ['clamp(-1, 0, 10)', 0],
    ["clamp('5', 0, 10)", 5],
    ['clamp(5, null, 10)', 5],
    ["clamp('5', 0)", '5'],
    ["clamp('x', 10, 0)", 'x'],
    ["clamp(5, '2', '3')", 3],
    ['clamp(true, 0, 10)', 1],
  ])('%s is %j', (text, expected) => {
    expect(evaluate(text, DATA)).toEqual(expected);
  });
});

describe('random', () => {
  test.each([
    ['random()', 0, 0],
    ['random()', 0.999, 99],
    ['random(10, 20)', 0.999, 19],
    ["random('10', '12')", 0.5, 11],
    ['random(1.9, 3.9)', 0.999, 2],
    ['random(-3.9, -1)', 0, -3],
    ['random(-0.5, 1)', 0, 0],
    ["random('x', [])", 0.5, 50],
    ['random(null, 10)', 0.5, 5],
    ['random(5, 1)', 0.9, 5],
    ['random(200)', 0.9, 200],
    ['random(big, bigger)', 0.999999, 9007199254740992],
    ['random(low, high)', 0.5, -1.7e308],
  ])('%s with %d drawn is %j', (text, drawn, expected) => {
    const data = { big: 2 ** 53, bigger: 2 ** 53 + 2, low: -1.7e308, high: 1.7e308 };
    const value = evaluate(text, data, { random: () => drawn });
    expect(value).toBe(expected);
  });
});

describe('functions of lists', () => {
  test.each([
    ["sum(['1', 2, true, 'x', null, [], o])", 4],
    ['sum(huge)', null],
    ['avg(huge)', null],
    ['avg([])', null],
    ["min(['3', 2.5, 'x'])", 2.5],
    ["max(['3', 2.5])", 3],
    ['min([null])', null],
    ['last([1, null])', null],
    ['slice(l)', [3, 1, 2]],
    ['slice(l, null, 2)', [3, 1]],
    ['slice(l, 1.9, 2.9)', [1]],
    ["slice(l, '1')", [1, 2]],
    ['slice(l, -5, -1)', []],
    ['slice(l, 9)', []],
    ["slice(l, 'x')", null],
    ['slice(l, 0, [])', null],
    [
      "sort([o, [2], [1], 'b', 'a', 2, 10, true, false, null])",
      [null, true, false, 2, 10, 'a', 'b', [2], [1], {}],
    ],
    ["sort([1, 2], 'desc')", [2, 1]],
    ["sort([2, 1], 'DESC')", [1, 2]],
    ['sort([2, 1], 7)', [1, 2]],
    ["sort([true, false, 'a'], 'desc')", ['a', true, false]],
    ["sort(['\u{1F30A}', '\uFFFD', 'a'])", ['a', '\uFFFD', '\u{1F30A}']],
    ['unique([o, o, [1], [1.0], null, null])', [{}, [1], null]],
    ['count([1, 1.0, true], 1)', 2],
    ['count([null, 1])', 1],
    ['count([null, 1], gone)', 1],
    ['count(o, 1)', 0],
    ['count(null)', 0],
    ['contains([[1]], [1])', true],
    ['contains([null])', true],
    ['contains([])', false],
    ["contains('abc', '')", true],
    ['contains(null, null)', false],
    ["contains('a', ['a'])", false],
  ])('%s is %j', (text, expected) => {
    const value = evaluate(text, { ...Object(DATA), o: {} });
    expect(value).toEqual(expected);
  });

  test('sorting is stable and leaves the list alone', () => {
    const rows = Array.from({ length: 100 }, (_, index) => [index]);
    expect(evaluate('sort(rows)', { rows })).toEqual(rows);
    expect(evaluate("sort(rows, 'desc')", { rows })).toEqual(rows);
    expect(evaluate('[sort(l), l]', DATA)).toEqual([
      [1, 2, 3],
      [3, 1, 2],
    ]);
  });

  test.each(['sum', 'avg', 'min', 'max', 'slice', 'sort', 'unique', 'count'])(
    '%s takes 100,000 elements and is null for more',
    (name) => {
      const list = Array<number>(100_000).fill(1);
      expect(evaluate(`${name}(list)`, { list })).not.toBe(null);
      expect(evaluate(`${name}(list)`, { list: [...list, 1] })).toBe(null);
    },
  );

  test('first, last, len and contains have no limit of elements', () => {
    const list = Array<number>(100_001).fill(1);
    expect(evaluate('[first(list), last(list), len(list), contains(list, 2)]', { list })).toEqual([
      1,
      1,
      100_001,
      false,
    ]);
  });
});

describe('functions of objects and texts', () => {
  test.each([
    ['keys(o)', ['a', 'b', '\uFFFD', '\u{1F30A}']],
    ['values(o)', [1, 2, 3, 4]],
    ['keys(l)', []],
    ['values(s)', []],
    ['values()', []],
    ['len(t)', 0],
    ['len()', 0],
    ["len('')", 0],
    ['json(l)', '[3,1,2]'],
    ["json('a')", '"a"'],
    ['json(1.50)', '1.5'],
    ["starts_with('abc', '')", true],
    ["starts_with('abc')", false],
    ["starts_with(['a'], 'a')", false],
    ["ends_with('abc', 'bc')", true],
    ["ends_with('abc', null)", false],
    ["ends_with(1, '1')", false],
    ['get(l, 0)', 3],
    ['get(l, 1.5)', null],
    ['get(l, -1)', null],
    ['get(l, 3)', null],
    ["get(l, '1')", 1],
    ["get(l, '-1')", null],
    ['get(o, 1)', null],
    ['get(o, null)', null],
    ['get(l, true)', null],
    ["get(s, 'length')", null],
    ['get(s, 0)', null],
    ["get([o], 0, 'b')", 2],
    ["get([o], 0, 'x', 'y')", null],
    ["get(o, first(['a']))", 1],
    ["get(get(data, 'o'), 'a')", 1],
    ['get(n)', 7],
    ['get()', null],
    ["get(null, 'x')", null],
    ['shout(s, s)', null],
    ['uuid(1, 2)', '0d6a3c1e-93a4-4b0f-8d52-6e1f0c9b7a55'],
  ])('%s is %j', (text, expected) => {
    expect(evaluate(text, DATA)).toEqual(expected);
  });

  test('len counts code points, a lone surrogate as one', () => {
    expect(evaluate('len(s)', { s: 'a\u{1F30A}\ud83c' })).toBe(3);
  });

  test('values is null above 100,000 members', () => {
    const wide = Object.fromEntries(Array.from({ length: 100_001 }, (_, index) => [`k${index}`, 0]));
    expect(evaluate('values(wide)', { wide })).toBe(null);
    expect(evaluate('len(keys(wide))', { wide })).toBe(100_001);
  });

  test('json is null above 4 MiB and whole at 4 MiB', () => {
    const bytes = 4 * 1024 * 1024;
    expect(evaluate('len(json(s))', { s: 'x'.repeat(bytes - 2) })).toBe(bytes);
    expect(evaluate('json(s)', { s: 'x'.repeat(bytes - 1) })).toBe(null);
    expect(evaluate('json(s)', { s: 'ü'.repeat(bytes / 2) })).toBe(null);
    expect(evaluate('json(s)', { s: '\n'.repeat(bytes / 2) })).toBe(null);
  });
});
