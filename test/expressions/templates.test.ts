import { describe, expect, test } from 'vitest';
import { resolveTemplates, resolveTemplateText } from '../../src/core/expressions/template.ts';
import type { Json } from '../../src/core/json.ts';
import { dataScope } from './scope-fixture.ts';

const DATA: Json = {
  n: 7,
  s: 'x',
  o: { b: [1], a: null },
  nil: null,
  empty: '',
  'a|b': 1,
  big: 'y'.repeat(1024),
};

function resolve(value: Json, data: Json = DATA): Json | undefined {
  const result = resolveTemplates(value, dataScope(data));
  return result.ok ? result.value : undefined;
}

function failure(value: Json, data: Json = DATA): unknown {
  const result = resolveTemplates(value, dataScope(data));
  return result.ok ? 'no failure' : result.error.message;
}

describe('scanning', () => {
  test.each([
    ['no braces', 'no braces'],
    ['', ''],
    ['{{', '{{'],
    ['}}', '}}'],
    ['{ {data.n} }', '{ {data.n} }'],
    ['{{data.n', '{{data.n'],
    ['{{data.n}', '{{data.n}'],
    ["{{data.n | 'x}}", "{{data.n | 'x}}"],
    ["{{ ' {{data.n}}", "{{ ' 7"],
    ["it's {{data.n}} o'clock", "it's 7 o'clock"],
    ["{{'{{data.n}}", "{{'7"],
    ["{{'\" {{data.n}} '", "{{'\" 7 '"],
    [`{{"{{'{{data.n}}`, `{{"{{'7`],
    ['{{data.n}}}}', '7}}'],
    ['{{data.n}} {{', '7 {{'],
    ['{{\n\tdata.n\r\n}}', 7],
    ['{{data.n}}\n', '7\n'],
    [' {{data.n}}', ' 7'],
    ['{{data.s}}{{data.s}}{{data.s}}', 'xxx'],
    ['{{data.nil}}{{data.o}}{{data.gone}}', 'null{"a":null,"b":[1]}null'],
    ["{{data.gone | '}}'}}", '}}'],
    ['{{data.gone | "{{"}}', '{{'],
    ["{{data.gone | 'a\"b'}}", 'a"b'],
  ])('%j becomes %j', (text, expected) => {
    expect(resolve(text)).toEqual(expected);
  });

  test('a text that opens without end and closes nothing is literal and costs one pass', () => {
    for (const piece of ['{{', "{{'", `{{'{{"`, '{{ }']) {
      const text = piece.repeat(1_000_000 / piece.length);
      expect(resolve(text)).toBe(text);
    }
  });
});

describe('fallbacks', () => {
  test.each([
    ['{{data.gone | data.nil}}', null],
    ['{{data.gone | data.nil | upper}}', ''],
    ['{{data.gone | json(data.nil) | data.n}}', 'null'],
    ['{{data.gone | json(nope.x)}}', 'json(nope.x)'],
    ['{{data.gone | json( data.o )}}', '{"a":null,"b":[1]}'],
    ['{{len( data.o )}}', 2],
    ["{{data.gone | 'a' | data.n}}", 'a'],
    ['{{data.gone | | data.n}}', ''],
    ["{{data.gone | ''}}", ''],
    ['{{data.gone | ""}}', ''],
    ["{{data.gone | 'a' b 'c'}}", "'a' b 'c'"],
    ["{{data.gone | it is 'so'}}", "it is 'so'"],
    ['{{data.gone | 1e3}}', 1000],
    ['{{data.gone | +5.}}', 5],
    ['{{data.gone | .5}}', 0.5],
    ['{{data.gone | -0}}', 0],
    ['{{data.gone | 1e999}}', '1e999'],
    ['{{data.gone | inf}}', 'inf'],
    ['{{data.gone | nan}}', 'nan'],
    ['{{data.gone | 1 2}}', '1 2'],
    ['{{data.gone | False}}', 'False'],
    ['{{data.gone | false}}', false],
    ['{{data.gone | null | data.n}}', null],
    ['{{data.gone | upper()}}', 'upper()'],
    ["{{data.gone | default ('x')}}", "default ('x')"],
    ["{{data.gone | shout('x')}}", "shout('x')"],
    ['{{data.gone | f(g.h)}}', 'f(g.h)'],
    ['{{data.gone | (x | y)}}', '(x | y)'],
    ['{{data.gone | x) | upper}}', 'X)'],
    ['{{data.n | context}}', 7],
    ['{{data.n | upper(data.s)}}', 7],
    ['{{data.n | default(1) | context}}', 7],
    ['{{data.gone | default(data.n)}}', 'data.n'],
  ])('%s is %j', (text, expected) => {
    const value = resolve(text);
    expect(value).toEqual(expected);
    expect(Object.is(value, -0)).toBe(false);
  });
});

describe('errors name kind, position and pointer', () => {
  test.each([
    ['{{}}', 'unknown template root in "" at position 2'],
    ['{{ }}', 'unknown template root in "" at position 3'],
    ["{{ 'data.n' }}", `unknown template root in "'data.n'" at position 3`],
    ['{{5}}', 'unknown template root in "5" at position 2'],
    ['{{ | data.n}}', 'unknown template root in "" at position 3'],
    ['a {{data.n}} {{nope}}', 'unknown template root in "nope" at position 15'],
    ['{{upper}}', 'unknown template root in "upper" at position 2'],
    ['{{len()}}', 'unknown template root in "len()" at position 2'],
    ['{{json(json(data.n))}}', 'unknown template root in "json(json(data.n))" at position 2'],
    ['{{upper(data.s)}}', 'unknown template function at position 2'],
    ['{{data.gone | upper(data.s)}}', 'unknown template function at position 14'],
    ['{{json(context.x)}}', 'unknown section of context in "context.x" at position 2'],
    ['{{data.gone | context}}', 'unknown section of context in "context" at position 14'],
    ['{{data.s | upper(}}', 'filter "upper" without closing parenthesis at position 11'],
    ['{{data.s | round(2}}', 'filter "round" without closing parenthesis at position 11'],
    ["{{data.s | default('x') y}}", 'filter "default" without closing parenthesis at position 11'],
    ["{{data.n | data.s | replace('a')}}", 'filter "replace" needs two arguments at position 20'],
    ["{{data.s | replace('', 'a')}}", 'filter "replace" cannot replace the empty text at position 11'],
    [
      '{{data.s | replace(a, context.x)}}',
      'filter "replace" has an argument with an unknown section of context in "context.x" at position 11',
    ],
    ['{{data.s | truncate()}}', 'filter "truncate" needs a non-negative integer at position 11'],
    ['{{data.s | truncate(-1)}}', 'filter "truncate" needs a non-negative integer at position 11'],
    ['{{data.s | truncate(1.5)}}', 'filter "truncate" needs a non-negative integer at position 11'],
    ['{{data.s | hash(sha512)}}', 'filter "hash" knows only sha256 at position 11'],
    ['{{data.s | round()}}', 'filter "round" needs an integer from 0 to 15 at position 11'],
    ['{{data.s | round(16)}}', 'filter "round" needs an integer from 0 to 15 at position 11'],
    ['{{data.big | base64_decode | upper}}', 'no failure'],
    ['{{data.s | base64_decode}}', 'filter "base64_decode" got text that is not base64 at position 11'],
    [{ a: [1, '{{nope.x}}'] }, 'unknown template root in "nope.x" in "/a/1" at position 2'],
    [{ 'a/b~': '{{nope}}' }, 'unknown template root in "nope" in "/a~1b~0" at position 2'],
  ])('%j fails with %s', (value, message) => {
    expect(failure(value)).toBe(message);
  });

  test('the code is TEMPLATE_ERROR and the position is a member', () => {
    expect(resolveTemplateText(' {{x.y}}', dataScope({}))).toEqual({
      ok: false,
      error: {
        code: 'TEMPLATE_ERROR',
        message: 'unknown template root in "x.y" at position 3',
        position: 3,
      },
    });
  });

  test('no message holds the value', () => {
    const secret = 'swordfish';
    for (const chain of [
      'base64_decode',
      `replace('s', context.z)`,
      'upper | base64_decode',
      `hash('md5')`,
    ]) {
      expect(failure(`{{data.s | ${chain}}}`, { s: secret })).not.toMatch(/swordfish/i);
    }
  });
});

describe('resolving a value', () => {
  test('strings at any depth are resolved, keys and other values are not', () => {
    const value = {
      '{{data.n}}': ['{{data.n}}', { x: 'n={{data.n}}' }],
      n: 1,
      t: true,
      z: null,
      e: [],
      o: {},
    };
    expect(resolve(value)).toEqual({ ...value, '{{data.n}}': [7, { x: 'n=7' }] });
  });

  test.each([null, true, false, 0, 1.5, 'plain', [], {}])('%j stays as it is', (value) => {
    expect(resolve(value)).toEqual(value);
  });

  test('a key __proto__ stays an own key', () => {
    const resolved = resolve(JSON.parse('{"__proto__":"{{data.n}}"}'));
    expect(JSON.stringify(resolved)).toBe('{"__proto__":7}');
  });

  test('text from data is never scanned again', () => {
    const data = { a: '{{data.b}}', b: 'no', open: '{{data.', close: 'b}}', quote: "'}}" };
    expect(resolve('{{data.a}} {{data.open}}{{data.close}} {{data.quote}}', data)).toBe(
      "{{data.b}} {{data.b}} '}}",
    );
    expect(resolve("{{data.s | replace('x', data.a) | replace('b', data.b)}}", { ...data, s: 'x' })).toBe(
      '{{data.no}}',
    );
  });
});

describe('limits', () => {
  const MIB = 1024 * 1024;
  const tooLarge = /the resolved value is larger than 8388608 bytes or nested deeper than 64 levels/;

  test('a chain of 16 KiB is read and a longer one is not', () => {
    const filler = (length: number): string => `{{data.n${' '.repeat(length - 6)}}}`;
    expect(resolve(filler(16 * 1024))).toBe(7);
    expect(failure(filler(16 * 1024 + 1))).toBe('template longer than 16384 bytes at position 2');
    expect(failure(`{{data.${'ü'.repeat(8200)}}}`)).toBe('template longer than 16384 bytes at position 2');
  });

  test('64 segments are read and 65 are not', () => {
    const chain = (segments: number): string => `{{data.s${' | upper'.repeat(segments - 1)}}}`;
    expect(resolve(chain(64))).toBe('X');
    expect(failure(chain(65))).toBe('template with more than 64 segments at position 2');
  });

  test('10,000 templates are resolved and one more is not', () => {
    const list = Array<Json>(100).fill('{{data.s}}'.repeat(100));
    expect(resolve(list)).toEqual(Array(100).fill('x'.repeat(100)));
    expect(failure([...list, '{{data.s}}'])).toMatch(/more than 10000 templates in "\/100"/);
    expect(failure('{{data.s}}'.repeat(500_000))).toBe('more than 10000 templates');
  });

  test('64 levels are resolved and 65 are not, wherever they come from', () => {
    const nest = (levels: number, inner: Json): Json => (levels === 0 ? inner : nest(levels - 1, [inner]));
    expect(resolve(nest(64, '{{data.n}}'))).toEqual(nest(64, 7));
    expect(failure(nest(65, 1))).toMatch(tooLarge);
    expect(resolve(nest(62, '{{data.o}}'))).toEqual(nest(62, { a: null, b: [1] }));
    expect(failure(nest(63, '{{data.o}}'))).toMatch(tooLarge);
    expect(resolve(nest(64, 'v={{data.o}}'))).toEqual(nest(64, 'v={"a":null,"b":[1]}'));
    let endless: Json = 1;
    for (let level = 0; level < 100_000; level += 1) endless = level % 2 === 0 ? [endless] : { a: endless };
    expect(failure(endless)).toMatch(tooLarge);
    expect(failure('{{data.e}}', { e: endless })).toMatch(tooLarge);
    expect(failure('v={{data.e}}', { e: endless })).toMatch(tooLarge);
    expect(failure('{{json(data.e)}}', { e: endless })).toMatch(
      /^json\(\) of more than 8388608 bytes at position 2$/,
    );
    expect(failure('{{data.e | default(1)}}', { e: endless })).toMatch(/gives more than 4194304 bytes/);
  });

  test('a result of 8 MiB is given and one byte more is not', () => {
    const data = { s: 'y'.repeat(8 * MIB - 2), part: 'z'.repeat(1024) };
    expect(resolve('{{data.s}}', data)).toBe(data.s);
    expect(failure(['{{data.s}}'], data)).toMatch(tooLarge);
    expect(failure('{{data.s}}.', data)).toMatch(tooLarge);
    expect(failure(['{{data.s}}', '{{data.s}}'], data)).toMatch(tooLarge);
    expect(failure({ [data.s]: 1 }, data)).toMatch(tooLarge);
    expect(failure({ [`${data.s}.`]: 1 }, data)).toMatch(tooLarge);
    expect(failure({ [data.s.slice(0, -4)]: [] }, data)).toMatch(tooLarge);
    expect(failure('{{data.part}}'.repeat(9000), data)).toMatch(tooLarge);
    expect(failure('{{data}}', data)).toMatch(tooLarge);
    expect(failure(Array(4_194_304).fill(1), data)).toMatch(tooLarge);
    expect(failure({ k: data.s.slice(0, -5) })).toMatch(tooLarge);
    expect(resolve({ k: data.s.slice(0, -6) })).toEqual({ k: data.s.slice(0, -6) });
  });

  test('json() gives up to 8 MiB', () => {
    expect(failure('{{json(data.s)}}', { s: 'y'.repeat(8 * MIB) })).toMatch(/json\(\) of more than/);
  });

  test('work on large values is bounded over the whole resolved value', () => {
    const data = {
      big: 'y'.repeat(3 * MIB),
      list: Array(3000).fill('y'.repeat(1000)),
      wide: Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, 0])),
    };
    const work = /the templates exceed the limit of work/;
    for (const chain of [
      "data.big | hash('sha256')",
      'data.big | upper | truncate(1)',
      "data.list | join('') | truncate(1)",
      "data.list | replace('y', '')",
      "data.big | replace('yyyyyyyyyyyyyyyyyyz', '') | truncate(0)",
      'len(data.big)',
      'len(data.wide)',
    ]) {
      expect(failure(Array(1000).fill(`{{${chain}}}`), data)).toMatch(work);
    }
  });
});
