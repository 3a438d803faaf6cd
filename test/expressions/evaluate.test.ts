import { describe, expect, test } from 'vitest';
import { evaluateExpression, isTruthy } from '../../src/core/expressions/evaluate.ts';
import type { Json } from '../../src/core/json.ts';
import { dataScope } from './scope-fixture.ts';

function evaluate(text: string, data: Json = {}): Json | undefined {
  const result = evaluateExpression(text, dataScope(data), 'strict');
  return result.ok ? result.value : undefined;
}

function failure(text: string, data: Json = {}): unknown {
  const result = evaluateExpression(text, dataScope(data), 'strict');
  return result.ok ? 'no failure' : result.error;
}

describe('truth', () => {
  test.each([null, false, 0, -0, '', []])('%j is false', (value) => {
    expect(isTruthy(value)).toBe(false);
  });
  test.each([true, 1, -1, 0.1, 'false', '0', ' ', [0], [null], {}, { a: 0 }])('%j is true', (value) => {
    expect(isTruthy(value)).toBe(true);
  });
});

describe('syntax errors name position and kind', () => {
  test.each([
    ["'open", 'unclosed string', 0],
    ["  {{ a == 'b }} ", 'unclosed string', 10],
    ['n = 7', 'unexpected "=": write "==" to compare', 2],
    ['n & t', 'unexpected "&": write "&&"', 2],
    ['n | t', 'unexpected "|": write "||"', 2],
    ['n $ 2', 'unexpected character', 2],
    ['{{a}} > {{b}}', 'unexpected brace: "{{" and "}}" may only stand around the whole expression', 0],
    ['{{a', 'unexpected brace: "{{" and "}}" may only stand around the whole expression', 0],
    ['{{{a}}}', 'unexpected brace: "{{" and "}}" may only stand around the whole expression', 0],
    ['a }', 'unexpected brace: "{{" and "}}" may only stand around the whole expression', 2],
    ['1 2', 'unexpected number', 2],
    ["a 'secret'", 'unexpected string', 2],
    ['a b', 'unexpected "b"', 2],
    ['n)', 'unexpected ")"', 1],
    ['(n', 'expected ")" before the end of the expression', 2],
    ['[1, 2', 'expected "]" before the end of the expression', 5],
    ['[1 2]', 'expected "]" before number', 3],
    ['[,]', 'expected a value before ","', 1],
    ['f(', 'expected a value before the end of the expression', 2],
    ['()', 'expected a value before ")"', 1],
    ['n ==', 'expected a value before the end of the expression', 4],
    ['in', 'expected a value before "in"', 0],
    ['1 in in', 'expected a value before "in"', 5],
    ['a in b in c', 'unexpected "in"', 7],
    ['1 in 2 + 3', 'unexpected "+"', 7],
    ['t ? 1', 'expected ":" before the end of the expression', 5],
    ['t ? 1 : no ? 2 : 3', 'unexpected "?"', 11],
    ['list[0]', 'unexpected "["', 4],
    ['.5', 'unexpected character', 0],
    ['1.2.3', 'unexpected character', 3],
    ['1e3', 'unexpected "e3"', 1],
    [`a ${'b'.repeat(100)}`, `unexpected "${'b'.repeat(80)}…"`, 2],
    [`1${'0'.repeat(400)}`, 'number out of range', 0],
    ['\u00a0n', 'unexpected character', 0],
    ['null(1)', 'unexpected "("', 4],
    ['!', 'expected a value before the end of the expression', 1],
  ])('%j: %s', (text, message, position) => {
    expect(failure(text)).toEqual({
      code: 'EXPRESSION_ERROR',
      message: `${message} at position ${position}`,
      position,
    });
  });

  test('only the first error counts', () => {
    expect(failure('(1 + ) ]')).toMatchObject({ position: 5 });
  });

  test('a lenient text with any error is null as a whole', () => {
    expect(evaluateExpression('1 == 1 )', dataScope({}), 'lenient')).toEqual({ ok: true, value: null });
  });
});

describe('reading the text', () => {
  test.each([
    ['{{ 1 }}', 1],
    ['\n\t{{1}}\r ', 1],
    ['{{}}', null],
    ['{{  }}', null],
    [' \t\r\n', null],
    ["  '{{'  ", '{{'],
    ['a\r\n+\tb', 3],
    ['len (list)', 2],
    ['true.x', 5],
    ['inner', 6],
    ['f.g(1)', null],
    ['[1,[2,],]', [1, [2]]],
    ['len([],)', 0],
    ['"it\'s"', "it's"],
    ["''", ''],
    ['1in[1]', true],
    ['007', 7],
    ['1.50', 1.5],
  ])('%j is %j', (text, expected) => {
    const data = { a: 1, b: 2, list: [0, 0], true: { x: 5 }, inner: 6 };
    expect(evaluate(text, data)).toEqual(expected);
  });
});

describe('operators', () => {
  test.each([
    ['1 - 2 + 3 * 4 / 6 - 1', 0],
    ['-2 * -3', 6],
    ['!1 == false', true],
    ['-1 < 0 && !(0 > 1)', true],
    ['1 / -0', null],
    ['0 * -5', 0],
    ['-0', 0],
    ['9 * huge', null],
    ['huge - -huge', null],
    ["'a' + 1", null],
    ["'1' + 1", 2],
    ["1 + ' 1'", null],
    ["'1e2' * 1", 100],
    ["'+.5' * 2", 1],
    ["'5.' * 2", 10],
    ["'.' * 2", null],
    ["'1e' * 2", null],
    ["'1e+' * 2", null],
    ["'1E-1' * 2", 0.2],
    ["'0x10' * 1", null],
    ["'1e999' * 1", null],
    ["'inf' * 1", null],
    ["'' * 1", null],
    ["'-' * 1", null],
    ['true + true', 2],
    ['null + 1', null],
    ['[] + 1', null],
    ["'x' == 'y'", false],
    ["'x' != 'y'", true],
    ['[1, [2]] == [1, [2]]', true],
    ['[1] == [2]', false],
    ['[1] == [1, 2]', false],
    ['[1] == o', false],
    ['o == [1]', false],
    ['o == null', false],
    ['o == p', true],
    ['o == q', false],
    ['o == r', false],
    ['o == s', false],
    ['2 >= 2 && 2 <= 2 && 3 > 2 && 2 < 3', true],
    ["'b' >= 'a' && 'a' <= 'b'", true],
    ['1 > null || null < 1 || true > false || [] >= []', false],
    ["'\u{1F30A}' > '\uFFFD'", true],
    ['1 in o', false],
    ['[1] in [[1]]', true],
    ['true ? 1 : 2', 1],
    ['(false ? 1 : 2) + 1', 3],
    ['0 || "" || [] || o', true],
    ['1 && "a" && null', false],
  ])('%s is %j', (text, expected) => {
    const data = {
      huge: 1e308,
      o: { a: 1, b: [2] },
      p: { b: [2], a: 1 },
      q: { a: 1, b: [3] },
      r: { a: 1, c: [2] },
      s: { a: 1 },
    };
    expect(evaluate(text, data)).toEqual(expected);
  });

  test.each(['-0', '0 * -1', '-zero', 'abs(-0)', "sum(['-0'])", 'min([-0])', 'clamp(-0, -0, 0)'])(
    '%s is not minus zero',
    (text) => {
      expect(Object.is(evaluate(text, { zero: 0 }), 0)).toBe(true);
    },
  );
});

describe('limits', () => {
  const levels = (count: number, open: string, close: string): string =>
    open.repeat(count) + '1' + close.repeat(count);

  test.each([
    ['(', ')'],
    ['[', ']'],
    ['len(', ')'],
    ['!', ''],
    ['-', ''],
  ])('64 levels of %s are read and 65 are not', (open, close) => {
    expect(evaluate(levels(64, open, close))).not.toBe(undefined);
    expect(failure(levels(65, open, close))).toMatchObject({
      message: expect.stringContaining('more than 64 nested levels'),
    });
    expect(failure(levels(10_000 / open.length, open, ''))).toMatchObject({ code: 'EXPRESSION_ERROR' });
  });

  test('levels are counted down when they close', () => {
    expect(evaluate(`${levels(64, '(', ')')} + ${levels(64, '(', ')')}`)).toBe(2);
  });

  test('a text of 16 KiB is read and a longer one is not', () => {
    const longest = `1${' '.repeat(16 * 1024 - 1)}`;
    expect(evaluate(longest)).toBe(1);
    expect(failure(`${longest} `)).toEqual({
      code: 'EXPRESSION_ERROR',
      message: 'expression longer than 16384 bytes',
    });
    expect(evaluate(`'${'ü'.repeat(8191)}'`)).toBe('ü'.repeat(8191));
    expect(failure(`'${'ü'.repeat(8192)}'`)).toMatchObject({ code: 'EXPRESSION_ERROR' });
  });

  test('chains of operators do not nest', () => {
    expect(evaluate(Array(4000).fill('1').join('+'))).toBe(4000);
    expect(evaluate(Array(4000).fill('1').join('*'))).toBe(1);
    expect(evaluate(Array(4000).fill('0').join('||'))).toBe(false);
    expect(evaluate(Array(4000).fill('1').join('&&'))).toBe(true);
  });

  test('a text that is added to itself again and again exceeds the limit', () => {
    const data = { s: 'x'.repeat(1024 * 1024) };
    expect(evaluate('len(s + s + s + s)', data)).toBe(4 * 1024 * 1024);
    expect(failure('len(s + s + s + s + s)', data)).toEqual({
      code: 'EXPRESSION_ERROR',
      message: 'the expression exceeds the limit of work or size',
    });
    expect(evaluateExpression('s + s + s + s + s', dataScope(data), 'lenient')).toEqual({
      ok: true,
      value: null,
    });
  });

  test.each([
    ['json(big)', ' + '],
    ['len(big)', ' + '],
    ['len(wide)', ' + '],
    ["contains(big, 'yes')", ' || '],
    ['contains(list, 1)', ' || '],
    ['sum(list)', ' + '],
    ['len(unique(list))', ' + '],
    ['len(sort(list))', ' + '],
    ['len(sort(longs))', ' + '],
    ['len(keys(wide))', ' + '],
    ['len(values(wide))', ' + '],
    ['wide == wider', ' || '],
    ['big < big', ' || '],
    ['big * 1', ' || '],
    ['1 in list', ' || '],
    ['len(data)', ' + '],
    ['len(outputs)', ' + '],
    ["format_date(big, '')", ' || '],
    ['day_of_week(big)', ' || '],
    ['starts_with(big, big)', ' && '],
    ['ends_with(big, big)', ' && '],
    ['count(list, 1)', ' + '],
    ['len(slice(list, 0, 1))', ' + '],
  ])('%s repeated to the longest text stops at the limit of work', (term, operator) => {
    const members = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, index]));
    const data = {
      big: '7'.repeat(2 * 1024 * 1024),
      longs: Array.from({ length: 100 }, (_, index) => '7'.repeat(100_000) + index),
      list: Array(50_000).fill(0),
      wide: { a: 1, ...members },
      wider: { a: 2, ...members },
      ...members,
    };
    const text = Array(Math.floor(16_000 / (term.length + operator.length)))
      .fill(term)
      .join(operator);
    const scope = dataScope(data, {
      outputs: new Map(Object.entries(members)),
      items: new Map([['row', 1]]),
    });
    const result = evaluateExpression(text, scope, 'strict');
    expect(result).toMatchObject({
      ok: false,
      error: { message: 'the expression exceeds the limit of work or size' },
    });
  });

  test('values that are nested without end are refused, not followed', () => {
    let deep: Json = 1;
    let other: Json = 1;
    for (let level = 0; level < 100_000; level += 1) {
      deep = level % 2 === 0 ? [deep] : { a: deep };
      other = level % 2 === 0 ? [other] : { a: other };
    }
    const data = { deep, other };
    expect(failure('deep == other', data)).toMatchObject({ code: 'EXPRESSION_ERROR' });
    expect(failure('unique([deep])', data)).toMatchObject({ code: 'EXPRESSION_ERROR' });
    expect(evaluate('json(deep)', data)).toBe(null);
  });
});
