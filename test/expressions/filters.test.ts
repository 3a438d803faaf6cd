import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolveTemplates } from '../../src/core/expressions/template.ts';
import type { Json } from '../../src/core/json.ts';
import { dataScope } from './scope-fixture.ts';

const MIB = 1024 * 1024;

function filter(value: Json, filters: string, data: Json = {}): Json | undefined {
  const result = resolveTemplates(`{{data.v | ${filters}}}`, dataScope({ ...Object(data), v: value }));
  return result.ok ? result.value : undefined;
}

function failure(value: Json, filters: string, data: Json = {}): string {
  const result = resolveTemplates(`{{data.v | ${filters}}}`, dataScope({ ...Object(data), v: value }));
  return result.ok ? 'no failure' : result.error.message;
}

describe('input that is no text', () => {
  const empty = createHash('sha256').update('').digest('hex');

  test.each([
    ['upper', ''],
    ['lower', ''],
    ['trim', ''],
    ['url_encode', ''],
    ['base64', ''],
    ['base64_decode', ''],
    ['truncate(1)', ''],
    ["split(',')", ['']],
    ["split('')", []],
    ["hash('sha256')", empty],
  ])('%s takes it as the empty text', (filters, expected) => {
    for (const value of [null, 7, true, ['a'], { a: 1 }]) expect(filter(value, filters)).toEqual(expected);
  });

  test.each(['abs', 'round(1)'])('%s gives 0', (filters) => {
    for (const value of [null, 'x', '5', true, [1], { a: 1 }]) expect(filter(value, filters)).toBe(0);
  });

  test('join gives the empty text for everything but lists', () => {
    for (const value of [null, 7, true, 'x', { a: 1 }]) expect(filter(value, "join(',')")).toBe('');
    expect(filter([], "join(',')")).toBe('');
  });

  test('default replaces null and the empty text only', () => {
    for (const value of [7, 0, false, [], {}, 'x']) expect(filter(value, 'default(1)')).toEqual(value);
    for (const value of [null, '']) expect(filter(value, 'default(1)')).toBe(1);
    expect(filter(null, 'default()')).toBe('');
    expect(filter(null, "default(' a ')")).toBe(' a ');
    expect(filter(null, 'default( null )')).toBe(null);
    expect(filter(null, 'default(a, b)')).toBe('a, b');
  });
});

describe('case and white space', () => {
  test.each([
    ['upper', 'straße ŉ ﬁ', 'STRASSE ʼN FI'],
    ['lower', 'ΟΔΟΣ İ', 'οδος i̇'],
    ['trim', '\u0085\u2028 \u3000a b\u00a0\t\n', 'a b'],
    ['trim', '\ufeffa\u200b', '\ufeffa\u200b'],
    ['trim', ' \n ', ''],
  ])('%s of %j is %j', (filters, value, expected) => {
    expect(filter(value, filters)).toBe(expected);
  });
});

describe('replace', () => {
  test.each([
    ['aaa', "replace('aa','b')", 'ba'],
    ['abc', "replace( b , '' )", 'ac'],
    ['abc', 'replace(b,)', 'ac'],
    ['a,b', "replace(',', ';')", 'a;b'],
    ['a.b', "replace('.', '$&')", 'a$&b'],
    ['abc', 'replace(b, x, y)', 'ax, yc'],
    ['abc', "replace(b, 'data.o')", 'adata.oc'],
    ['abc', 'replace(b, data.o)', 'a{"k":1}c'],
    ['abc', 'replace(b, data.l.0)', 'anullc'.replace('null', '')],
    ['abc', 'replace(b, nope.x)', 'anope.xc'],
    ['abc', 'replace(b, )', 'ac'],
    [{ k: 1 }, "replace('k','z')", '{"z":1}'],
    [[1, 2], "replace(',', ' ')", '[1 2]'],
    [null, "replace('n','N')", 'Null'],
    [true, "replace('t','T')", 'True'],
    ['abc', "replace('abcd','')", 'abc'],
  ])('of %j: %s gives %j', (value, filters, expected) => {
    expect(filter(value, filters, { o: { k: 1 }, l: [null] })).toBe(expected);
  });

  test('a result above 4 MiB is refused before it is built', () => {
    const data = { r: 'y'.repeat(MIB) };
    expect(failure('x'.repeat(5), "replace('x', data.r)", data)).toMatch(
      /"replace" gives more than 4194304 bytes/,
    );
    expect(filter('x'.repeat(4), "replace('x', data.r)", data)).toBe('y'.repeat(4 * MIB));
    expect(failure('x'.repeat(4 * MIB), "replace('x', data.r)", data)).toMatch(/gives more than/);
    expect(failure('x'.repeat(4 * MIB + 1), "replace('x', '')")).toMatch(/gives more than/);
    expect(failure(['x'.repeat(4 * MIB)], "replace('x', '')")).toMatch(/gives more than/);
    expect(failure('x', "replace('x', data.r)", { r: 'y'.repeat(4 * MIB + 1) })).toMatch(/gives more than/);
  });

  test('a long pattern that almost matches everywhere costs one pass', () => {
    const half = 'a'.repeat(500_000);
    const text = 'a'.repeat(3_000_000);
    expect(filter(text, 'replace(b, c) | truncate(1)')).toBe('a');
    const result = resolveTemplates(
      { v: "{{data.v | replace('zz', data.p)}}" },
      dataScope({ v: text, p: half }),
    );
    expect(result).toEqual({ ok: true, value: { v: text } });
  });
});

describe('truncate', () => {
  test.each([
    ['Grüße \u{1F30A}!', 'truncate(7)', 'Grüße \u{1F30A}'],
    ['Grüße \u{1F30A}!', "truncate(6, '...')", 'Grüße ...'],
    ['abc', 'truncate(0)', ''],
    ['abc', "truncate(0,'x')", 'x'],
    ['abc', "truncate(3,'x')", 'abc'],
    ['abc', 'truncate(99999999999999999999)', 'abc'],
    ['abc', 'truncate( 1 , more )', 'amore'],
    ['abc', 'truncate(1,)', 'a'],
    ['abc', "truncate('2')", 'ab'],
    ['a\ud83cb', 'truncate(2)', 'a\ud83c'],
    ['', "truncate(1,'x')", ''],
  ])('of %j: %s gives %j', (value, filters, expected) => {
    expect(filter(value, filters)).toBe(expected);
  });
});

describe('join and split', () => {
  test.each([
    [['a', 1, null, true, { b: 1 }, ['c']], "join('/')", 'a/1/null/true/{"b":1}/["c"]'],
    [['a', 'b'], 'join()', 'ab'],
    [['a', 'b'], 'join(,)', 'a,b'],
    [['a', 'b'], "join(' | ')", 'a | b'],
    ['a--b-c', "split('--')", ['a', 'b-c']],
    ['aXbX', 'split(X)', ['a', 'b', '']],
    ['a\u{1F30A}', "split('')", ['a', '\u{1F30A}']],
    ['a b', 'split()', ['a', ' ', 'b']],
    ['', "split(',')", ['']],
    ['', "split('')", []],
    ['a.b', "split('.')", ['a', 'b']],
  ])('of %j: %s gives %j', (value, filters, expected) => {
    expect(filter(value, filters)).toEqual(expected);
  });

  test('results above 4 MiB are refused', () => {
    expect(failure(Array(5).fill('x'.repeat(MIB)), 'join()')).toMatch(/"join" gives more than/);
    expect(failure(Array(2 * MIB).fill(''), "join('abc')")).toMatch(/"join" gives more than/);
    expect(filter(Array(4).fill('x'.repeat(MIB)), 'join()')).toBe('x'.repeat(4 * MIB));
    expect(failure(','.repeat(2 * MIB), "split(',')")).toMatch(/"split" gives more than/);
    expect(failure('x'.repeat(3 * MIB), "split('')")).toMatch(/"split" gives more than/);
    expect(failure('x'.repeat(1.2 * MIB), "split('')")).toMatch(/"split" gives more than/);
  });
});

describe('round and abs', () => {
  test.each([
    [2.675, 2, 2.68],
    [1.005, 2, 1],
    [0.5, 0, 1],
    [-0.5, 0, -1],
    [-2.5, 0, -3],
    [0.49999999999999994, 0, 0],
    [-0.2, 0, 0],
    [1e300, 15, 1e300],
    [123.456, 1, 123.5],
    [5, 15, 5],
  ])('%d to %d decimals is %d', (value, decimals, expected) => {
    expect(filter(value, `round(${decimals})`)).toBe(expected);
  });

  test('the results are never minus zero', () => {
    expect(Object.is(filter(-0.1, 'round(0)'), 0)).toBe(true);
    expect(Object.is(filter(-0, 'abs'), 0)).toBe(true);
  });
});

describe('encodings against those of the platform', () => {
  const text = fc.string({ unit: 'binary', maxLength: 50 });

  test('url_encode', () => {
    fc.assert(
      fc.property(text, (value) => {
        const extra = /[!'()*]/g;
        const expected = encodeURIComponent(value).replace(
          extra,
          (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
        );
        expect(filter(value, 'url_encode')).toBe(expected);
      }),
    );
  });

  test('base64 and base64_decode', () => {
    fc.assert(
      fc.property(text, (value) => {
        const encoded = Buffer.from(value, 'utf8').toString('base64');
        expect(filter(value, 'base64')).toBe(encoded);
        expect(filter(encoded, 'base64_decode')).toBe(value);
      }),
    );
  });

  test('base64_decode turns bytes that are not UTF-8 into U+FFFD as the platform does', () => {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const lead = fc.constantFrom(
      0x41,
      0x80,
      0xbf,
      0xc0,
      0xc2,
      0xdf,
      0xe0,
      0xed,
      0xef,
      0xf0,
      0xf1,
      0xf4,
      0xf5,
      0xff,
    );
    const bytes = fc.array(fc.oneof(lead, fc.integer({ min: 0, max: 255 })), { maxLength: 24 });
    fc.assert(
      fc.property(bytes, (list) => {
        const buffer = Buffer.from(list);
        expect(filter(buffer.toString('base64'), 'base64_decode')).toBe(decoder.decode(buffer));
      }),
      { numRuns: 2000 },
    );
  });

  test('hash', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(filter(value, "hash('sha256')")).toBe(
          createHash('sha256').update(value, 'utf8').digest('hex'),
        );
      }),
    );
  });

  test.each([
    'A',
    'AB=',
    'A===',
    '====',
    'QQ=',
    'Q=Q=',
    'QQ==QQ==',
    'QQ= =',
    'QQ_-',
    'QQ\n=',
    'QQé=',
    'ÁÁÁÁ',
  ])('%j is not base64', (value) => {
    expect(failure(value, 'base64_decode')).toMatch(/got text that is not base64/);
  });

  test('long texts keep every character', () => {
    const value = 'aü\u{1F30A}€'.repeat(20_000);
    expect(filter(Buffer.from(value).toString('base64'), 'base64_decode')).toBe(value);
    expect(filter(value, 'base64 | base64_decode')).toBe(value);
  });

  test('lone surrogates are written as U+FFFD', () => {
    expect(filter('\ud83c', 'url_encode')).toBe('%EF%BF%BD');
    expect(filter('\udf0a!', 'base64')).toBe(Buffer.from('\ufffd!').toString('base64'));
  });

  test('results above 4 MiB are refused', () => {
    expect(failure('ü'.repeat(MIB), 'url_encode')).toMatch(/"url_encode" gives more than/);
    expect(failure('x'.repeat(3 * MIB + 1), 'base64')).toMatch(/"base64" gives more than/);
    expect(filter('x'.repeat(3 * MIB), 'base64 | truncate(4)')).toBe('eHh4');
    expect(failure('ß'.repeat(2 * MIB + 1), 'lower')).toMatch(/"lower" gives more than/);
    expect(failure(Array(2 * MIB + 1).fill(1), 'default(1)')).toMatch(/"default" gives more than/);
    expect(
      failure('x', `truncate(0, '${'y'.repeat(100)}') | replace('y', data.r)`, { r: 'z'.repeat(MIB) }),
    ).toMatch(/"replace" gives more than/);
  });
});
