import { describe, expect, it } from 'vitest';
import { cachedByText } from '../../src/core/expressions/cache.ts';
import { evaluateExpression } from '../../src/core/expressions/evaluate.ts';
import { lintExpression } from '../../src/core/expressions/lint.ts';
import type { Json } from '../../src/core/json.ts';
import { dataScope, fixtureScope } from './scope-fixture.ts';

/** The rules of expressions, each with the examples that tell it from what one might expect instead. */

const FAILED = Symbol('EXPRESSION_ERROR');

function strict(text: string, scope = fixtureScope()): Json | typeof FAILED {
  const result = evaluateExpression(text, scope, 'strict');
  return result.ok ? result.value : FAILED;
}

function lenient(text: string): Json {
  const result = evaluateExpression(text, fixtureScope(), 'lenient');
  return result.ok ? result.value : 'never';
}

describe('the text of an expression', () => {
  it('is trimmed, and freed of braces that surround the whole [EXP-1]', () => {
    expect(strict('  {{ data.n + 1 }}  ')).toBe(8);
    expect(strict('{{data.n}} + {{data.n}}')).toBe(FAILED);
  });

  it('that is empty is null [EXP-2]', () => {
    expect([strict(''), strict('  '), strict('{{ }}')]).toEqual([null, null, null]);
  });

  it('does not chain comparisons, and nests ternaries in parentheses only [EXP-3]', () => {
    expect(strict('1 < 2 < 3')).toBe(FAILED);
    expect(strict('true ? false ? 1 : 2 : 3')).toBe(FAILED);
    expect(strict('true ? (false ? 1 : 2) : 3')).toBe(2);
  });

  it('binds unary operators closer than in and comparisons [EXP-4]', () => {
    expect(strict('!data.t in [false]')).toBe(true);
    expect(strict('-data.n < 0')).toBe(true);
  });

  it('has strings without escapes [EXP-5]', () => {
    expect(strict(String.raw`'a\n' == "a\n"`)).toBe(true);
    expect(strict(String.raw`len('a\n')`)).toBe(3);
    expect(strict(`"it's"`)).toBe("it's");
  });

  it('has numbers without sign and exponent [EXP-6]', () => {
    expect(strict('5.')).toBe(5);
    for (const text of ['.5', '1e3', '1.2.3', '9'.repeat(400)]) expect(strict(text)).toBe(FAILED);
  });

  it('is an error when a character, an operand, a colon or a bracket is wrong, or it is too deep or long [EXP-7]', () => {
    const wrong = [
      'a & b',
      'a | b',
      'a = b',
      "'open",
      '1 +',
      'true ? 1',
      '(1',
      '[1',
      '1)',
      '1 2',
      'data.list[0]',
    ];
    for (const text of wrong) expect(strict(text)).toBe(FAILED);
    expect(strict(`${'('.repeat(65)}1${')'.repeat(65)}`)).toBe(FAILED);
    expect(strict(`'${'x'.repeat(16 * 1024)}'`)).toBe(FAILED);
  });
});

describe('evaluation', () => {
  it('reads a missing path as null [EVAL-1]', () => {
    expect([strict('data.gone.x'), strict('gone'), strict('outputs.nobody.x')]).toEqual([null, null, null]);
  });

  it('gives booleans for or and and [EVAL-2]', () => {
    expect([strict("'a' || 0"), strict("'' || 0"), strict('1 && data.s'), strict('1 && data.empty')]).toEqual(
      [true, false, true, false],
    );
  });

  it('negates the truth, and a number when there is one [EVAL-3]', () => {
    expect([strict('!data.empty'), strict('-data.num'), strict('-data.s')]).toEqual([true, -42, null]);
  });

  it('adds texts to texts and numbers to numbers [EVAL-4]', () => {
    expect([strict("'1' + '2'"), strict('data.num + 1'), strict("'a' + 1")]).toEqual(['12', 43, null]);
  });

  it('calculates with numbers only, and gives null by zero [EVAL-5]', () => {
    expect([strict('7 / 2'), strict("'7' * 2"), strict("'x' - 1"), strict('1 / 0')]).toEqual([
      3.5,
      14,
      null,
      null,
    ]);
  });

  it('gives null for what is not finite, and no negative zero [EVAL-6]', () => {
    const big = '9'.repeat(300);
    expect(strict(`${big} * ${big}`)).toBeNull();
    expect(Object.is(strict('0 * -1'), 0)).toBe(true);
  });

  it('looks for an element in a list, by value [EVAL-7]', () => {
    expect([strict('1 in data.list'), strict("'1' in data.list"), strict("'a' in data.s")]).toEqual([
      true,
      false,
      false,
    ]);
    expect(strict('data.obj in [data.obj]')).toBe(true);
  });

  it('chooses by the truth of a condition [EVAL-8]', () => {
    expect([strict("data.none ? 'a' : 'b'"), strict("data.list ? 'a' : 'b'")]).toEqual(['b', 'a']);
  });

  it('gives null for an unknown function and ignores arguments that are too many [EVAL-9]', () => {
    expect([strict('nope(1)'), strict('len(data.list, 1, 2)'), strict('len()')]).toEqual([null, 3, 0]);
  });

  it('has no side effects, so the order of the sides does not matter [EVAL-10]', () => {
    const before = JSON.stringify(fixtureScope().data);
    expect(strict('sort(data.list) == [1, 4, 9] && data.list == [4, 1, 9]')).toBe(true);
    expect(JSON.stringify(fixtureScope().data)).toBe(before);
  });
});

describe('functions', () => {
  it('of lists give null for more than 100,000 elements [FUN-1]', () => {
    const scope = (length: number) => dataScope({ list: Array.from({ length }, () => 1) });
    expect(strict('sum(data.list)', scope(100_000))).toBe(100_000);
    for (const name of ['sum', 'avg', 'min', 'max', 'sort', 'unique']) {
      expect(strict(`${name}(data.list)`, scope(100_001))).toBeNull();
    }
  });

  it('format dates by a closed list of specifiers [FUN-2]', () => {
    expect(strict("format_date('2027-02-09T23:15:00Z', '%F %T %a %u %w %%')")).toBe(
      '2027-02-09 23:15:00 Tue 2 2 %',
    );
    expect(strict("format_date('2027-02-09T23:15:00Z', '%Q')")).toBeNull();
  });

  it('take instants with time and zone, never a date alone [FUN-3]', () => {
    expect(strict("format_date('2027-02-09 23:15:00+01:00', '%H')")).not.toBeNull();
    expect(strict("format_date('2027-02-09', '%H')")).toBeNull();
  });

  it('that tell the time or draw are asked anew each time [FUN-4]', () => {
    let calls = 0;
    const scope = fixtureScope({ random: () => (calls += 1) / 10 });
    expect(strict('random() == random()', scope)).toBe(false);
    expect(calls).toBe(2);
  });
});

describe('modes', () => {
  it('lenient makes the whole expression null, whatever of it could be read [MODE-1]', () => {
    expect(lenient('true || (')).toBeNull();
  });

  it('strict reports message and position of a syntax error, and nothing else is one [MODE-2]', () => {
    const result = evaluateExpression('data.n +', fixtureScope(), 'strict');
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'EXPRESSION_ERROR', position: expect.any(Number) },
    });
    expect(strict("nope(data.gone) + 'x' * 2")).toBeNull();
  });

  it('at publish are warnings only [MODE-4]', () => {
    expect(lintExpression('data.n +', new Set()).map(({ code }) => code)).toEqual(['bad_expression']);
  });

  it('see the whole context and all outputs [MODE-5]', () => {
    expect(strict('config.limits.max + outputs.fetch.total > 29 && runtime.attempt == 1')).toBe(true);
  });
});

describe('security', () => {
  it('reaches own members only [SEC-1]', () => {
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'length']) {
      expect(strict(`data.obj.${name}`)).toBeNull();
      expect(strict(`get(data.obj, '${name}')`)).toBeNull();
    }
    const own = dataScope(JSON.parse('{"constructor": 1, "__proto__": 2}'));
    expect([strict('data.constructor', own), strict('data.__proto__', own)]).toEqual([1, 2]);
  });

  it('has no way to the host: inherited names are unknown functions [SEC-2]', () => {
    for (const text of ['constructor(1)', 'toString()', 'hasOwnProperty(1)', 'eval(1)', 'process']) {
      expect(strict(text)).toBeNull();
    }
    expect(strict("data.obj.constructor('return 1')()")).toBe(FAILED);
  });

  it('has limits: above them strict is an error and lenient is null [SEC-3]', () => {
    const deep = `${'!'.repeat(65)}true`;
    expect([strict(deep), lenient(deep)]).toEqual([FAILED, null]);
  });

  it('takes time in proportion to the text, whatever it looks like [SEC-4]', () => {
    const open = '('.repeat(60);
    expect(strict(`${open}1${'+1'.repeat(3000)}`)).toBe(FAILED);
    expect(strict(`1${'+1'.repeat(5000)}`)).toBe(5001);
  });

  it('keeps parsed forms in a cache that is bounded [SEC-6]', () => {
    let parsed = 0;
    const parse = cachedByText((text: string) => {
      parsed += 1;
      return text.length;
    });
    for (let n = 0; n < 20_000; n += 1) parse(`text ${n} ${'x'.repeat(100)}`);
    expect(parse(`text 19999 ${'x'.repeat(100)}`)).toBeGreaterThan(0);
    expect(parsed).toBe(20_000);
    parse(`text 0 ${'x'.repeat(100)}`);
    expect(parsed).toBe(20_001);
  });
});
