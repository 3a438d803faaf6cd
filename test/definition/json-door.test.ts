import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DOOR_LIMITS, type DoorProblem, parseJsonAtDoor } from '../../src/core/json-door.ts';
import type { Json } from '../../src/core/json.ts';

/** `400` or `422 <pointer>`, or the value. */
function verdict(text: string, limits = DOOR_LIMITS): unknown {
  const parsed = parseJsonAtDoor(text, limits);
  return parsed.ok ? parsed.value : status(parsed.error);
}

function status(problem: DoorProblem): string {
  return problem.kind === 'syntax' ? '400' : `422 ${problem.pointer}`;
}

function message(text: string): string {
  const parsed = parseJsonAtDoor(text);
  return parsed.ok ? '' : parsed.error.message;
}

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('parseJsonAtDoor', () => {
  it.each([
    ['{}', {}],
    ['[]', []],
    [' [ 1 , {"a" : [ ] , "b":null} ,\ttrue\r\n, false ] ', [1, { a: [], b: null }, true, false]],
    ['""', ''],
    ['"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041"', '"\\/\b\f\n\r\tA'],
    ['-0.5e-3', -0.0005],
    ['9007199254740991', 9007199254740991],
    ['-9007199254740991.0', -9007199254740991],
    ['9.007199254740991e15', 9007199254740991],
    ['1e-400', 0],
    ['0.1', 0.1],
    [nested(64), JSON.parse(nested(64))],
  ])('takes %j', (text, value) => {
    expect(verdict(text)).toEqual(value);
  });

  it.each([
    '',
    '  ',
    '{',
    '[',
    '[1,]',
    '{"a":1,}',
    '{"a" 1}',
    '{a:1}',
    "{'a':1}",
    '{"a":}',
    '[1 2]',
    '[1}',
    '{"a":1]',
    '1 2',
    '01',
    '+1',
    '1.',
    '.5',
    '1e',
    '-',
    'tru',
    'True',
    'undefined',
    '"',
    '"a',
    '"\\',
    '"\\x41"',
    '"\\u12"',
    '"\\u12G4"',
    '"a\u0000b"',
    '"a\nb"',
    '[1,/* no */2]',
    '\ufeff{}',
    '{}\ufeff',
    '\u00a0[]',
  ])('says that %j is no JSON', (text) => {
    expect(verdict(text)).toBe('400');
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
  });

  it.each([
    ['"\\u0000"', ''],
    ['{"a":["x\\u0000"]}', '/a/0'],
    ['{"a":{"b\\u0000":1}}', '/a'],
    ['"\\ud800"', ''],
    ['["", "\\udc00"]', '/1'],
    ['"\\ud800x"', ''],
    ['"\\ud800\\ud800\\udc00"', ''],
    ['"\\ud800\\n"', ''],
    ['"\ud800"', ''],
    ['{"\\udfff":1}', ''],
    ['{"a~/b":{"":[{"x":1e400}]}}', '/a~0~1b//0/x'],
    ['-1e400', ''],
    ['12345678901234567890', ''],
    ['[9007199254740992]', '/0'],
    ['[0,{"n":-9007199254740992.0}]', '/1/n'],
    ['9.007199254740992e15', ''],
    ['1e131071', ''],
    ['1e300', ''],
    ['{"n":NaN}', '/n'],
    ['[Infinity]', '/0'],
    ['-Infinity', ''],
    [nested(65), '/0'.repeat(64)],
  ])('refuses %j with a pointer', (text, pointer) => {
    expect(verdict(text)).toBe(`422 ${pointer}`);
  });

  it('keeps a backslash that is itself escaped before u0000', () => {
    expect(verdict('"\\\\u0000"')).toBe('\\u0000');
  });

  it('takes pairs of surrogates that are raw, escaped or mixed', () => {
    for (const text of ['"\u{1f600}"', '"\\ud83d\\ude00"', '"\\uD83D\ude00"', '"\ud83d\\uDE00"']) {
      expect(verdict(text)).toBe('\u{1f600}');
    }
  });

  it('keeps __proto__ as an ordinary member', () => {
    const value = verdict('{"__proto__":{"admin":true},"constructor":1}') as object;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('lets the last one of several members of a name win', () => {
    expect(verdict('{"a":1,"b":2,"a":3}')).toEqual({ a: 3, b: 2 });
  });

  it('refuses a container with too many members or elements', () => {
    const limits = { ...DOOR_LIMITS, maxPerContainer: 2 };
    expect(verdict('{"a":[1,2]}', limits)).toEqual({ a: [1, 2] });
    expect(verdict('{"a":[1,2,3]}', limits)).toBe('422 /a');
    expect(verdict('[{"a":1,"b":2,"c":3}]', limits)).toBe('422 /0');
  });

  it('refuses a text with too many values', () => {
    const limits = { ...DOOR_LIMITS, maxValues: 4 };
    expect(verdict('[[1],2]', limits)).toEqual([[1], 2]);
    expect(verdict('[[1],2,3]', limits)).toBe('422 /2');
  });

  it('refuses a key that is too long', () => {
    const limits = { ...DOOR_LIMITS, maxKeyLength: 3 };
    expect(verdict('{"a":{"abc":1}}', limits)).toEqual({ a: { abc: 1 } });
    expect(verdict('{"a":{"abcd":1}}', limits)).toBe('422 /a');
  });

  it('cuts absurd keys in a pointer', () => {
    const parsed = parseJsonAtDoor(`{"${'k'.repeat(1000)}":NaN}`);
    expect(parsed).toMatchObject({ ok: false, error: { pointer: `/${'k'.repeat(256)}` } });
  });

  it('says what is wrong and where', () => {
    expect(message('[1,')).toBe('ends too early (offset 3)');
    expect(message('[1,x')).toBe('has an unexpected character (offset 3)');
    expect(message('[] []')).toBe('has text after its end (offset 3)');
    expect(message('["\\u0000"]')).toBe('contains the character U+0000');
    expect(message('{"\\u0000":1}')).toBe('has a key that contains the character U+0000');
    expect(message('[1e999]')).toBe('is not a finite number');
  });

  it('stops at the first problem in document order', () => {
    expect(verdict('[1e400, "unfinished')).toBe('422 /0');
    expect(verdict('[x, 1e400]')).toBe('400');
  });

  it('survives nesting of any depth without recursion', () => {
    expect(verdict('['.repeat(1_000_000))).toBe(`422 ${'/0'.repeat(64)}`);
    expect(verdict('{"a":'.repeat(1_000_000))).toBe(`422 ${'/a'.repeat(64)}`);
  });

  it('agrees with JSON.parse on every value it takes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const parsed = parseJsonAtDoor(text);
        expect(parsed).toEqual(parsed.ok ? { ok: true, value: JSON.parse(text) } : refusal);
      }),
      { numRuns: 2000 },
    );
  });

  it('never takes what JSON.parse refuses, and calls no JSON a syntax error', () => {
    const piece = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '\\',
        'u',
        '0',
        '00d8',
        'dc00',
        '1',
        '-',
        '.',
        'e',
        '+',
        ' ',
        '\n',
      ],
      ...[
        'true',
        'null',
        'NaN',
        '"a"',
        '"b":',
        '\\ud83d',
        '\\ude00',
        '\u0000',
        '\ud83d',
        '\u{1f600}',
        '9007199254740993',
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const text = pieces.join('');
        const parsed = parseJsonAtDoor(text);
        const reference = parseOrNothing(text);
        expect(agrees(parsed, reference)).toBe(true);
      }),
      { numRuns: 20_000 },
    );
  });

  it('takes a mutated text only when JSON.parse does', () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', '"', '\\', ',', '0', '}', '\u0000'),
        (text, at, inserted) => {
          const cut = at % (text.length + 1);
          const mutated = text.slice(0, cut) + inserted + text.slice(cut + 1);
          const parsed = parseJsonAtDoor(mutated);
          expect(agrees(parsed, parseOrNothing(mutated))).toBe(true);
        },
      ),
      { numRuns: 5000 },
    );
  });

  it('gives back nothing that PostgreSQL or a second reading would refuse', () => {
    const wild = fc.record({
      key: fc.string({ unit: 'binary', maxLength: 8 }),
      text: fc.string({ unit: 'binary', maxLength: 8 }),
      number: fc.double({ noNaN: true }),
    });
    fc.assert(
      fc.property(wild, ({ key, text, number }) => {
        const parsed = parseJsonAtDoor(JSON.stringify({ [key]: [text, number] }));
        if (!parsed.ok) return;
        const shown = JSON.stringify(parsed.value);
        expect(shown.includes('\\u0000')).toBe(false);
        expect(parseJsonAtDoor(shown)).toEqual({ ok: true, value: parsed.value });
      }),
      { numRuns: 5000 },
    );
  });
});

const refusal = { ok: false, error: expect.objectContaining({ kind: 'refused' }) as unknown };

/** What is taken is what JSON.parse gives; what is called no JSON, JSON.parse refuses as well. */
function agrees(parsed: ReturnType<typeof parseJsonAtDoor>, reference: readonly Json[] | null): boolean {
  if (parsed.ok) return isDeepStrictEqual([parsed.value], reference);
  return parsed.error.kind === 'refused' || reference === null;
}

/** The value in a list, or null where JSON.parse throws. */
function parseOrNothing(text: string): readonly Json[] | null {
  try {
    return [JSON.parse(text) as Json];
  } catch {
    return null;
  }
}
