import { describe, expect, it } from 'vitest';
import { callOutput, outputSizeFailure, toJson } from '../../src/core/call-output.ts';

class Account {
  readonly owner = 'ada';
  readonly missing = undefined;
}

const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;

function* nothing(): Generator<never> {}

/** Nested `levels` deep. */
function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

/** 2^40 values when unfolded, forty objects in memory. */
function sharedTwice(): unknown {
  let value: unknown = 1;
  for (let level = 0; level < 40; level += 1) value = { a: value, b: value };
  return value;
}

describe('output of a handler in code', () => {
  it.each([
    ['undefined', undefined, null],
    ['null', null, null],
    ['zero', -0, -0],
    ['a date', new Date(Date.UTC(2027, 1, 9, 8, 30)), '2027-02-09T08:30:00.000Z'],
    ['a date inside', { at: [new Date(0)] }, { at: ['1970-01-01T00:00:00.000Z'] }],
    ['an undefined member', { a: undefined, b: 1 }, { b: 1 }],
    ['an undefined item', [undefined, 1], [null, 1]],
    ['an object with toJSON', { price: { toJSON: () => '12.50' } }, { price: '12.50' }],
    ['a URL', new URL('https://example.org/a?b=c'), 'https://example.org/a?b=c'],
    ['an instance of a class', new Account(), { owner: 'ada' }],
    ['an object without prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ['a pair of surrogates', '\u{1f600}', '\u{1f600}'],
    ['64 levels', nested(64), nested(64)],
    ['one object in two places', [{ a: 1 }, { a: 1 }], [{ a: 1 }, { a: 1 }]],
  ])('becomes JSON: %s (RULINGS B11)', (_, value, expected) => {
    expect(callOutput(value)).toEqual({ ok: true, value: expected });
  });

  it.each([
    ['NaN at /a', { a: Number.NaN }],
    ['Infinity at /a/0', { a: [Number.POSITIVE_INFINITY] }],
    ['-Infinity', Number.NEGATIVE_INFINITY],
    ['a BigInt at /n (write it as text)', { n: 10n }],
    ['a function', () => 1],
    ['a function at /items/1', { items: [1, () => 1] }],
    ['a symbol at /a~1b/c~0d', { 'a/b': { 'c~d': Symbol('x') } }],
    ['a cycle at /self', cyclic],
    ['a Map', new Map([['a', 1]])],
    ['a Set at /tags', { tags: new Set(['a']) }],
    ['a RegExp', /x/],
    ['a Promise at /later', { later: Promise.resolve(1) }],
    ['a Error', new Error('not an output')],
    ['a Uint8Array', new Uint8Array(2)],
    ['a Buffer at /file', { file: Buffer.from('ab') }],
    ['an invalid Date', new Date(Number.NaN)],
    ['a lone surrogate', '\ud800'],
    ['a lone surrogate at /a', { a: 'x\udc00y' }],
    ['a NUL character', 'a\u0000b'],
    ['a NUL character in a member name at /a', { a: { 'k\u0000': 1 } }],
    [`nesting deeper than 64 at ${'/0'.repeat(64)}`, nested(65)],
    [
      'a value that cannot be read (no)',
      {
        get bad() {
          throw new Error('no');
        },
      },
    ],
    [
      'a value that cannot be read (it threw)',
      {
        // Throws a value that is no Error, as a user's code may.
        toJSON: () => nothing().throw('text'),
      },
    ],
  ])('fails permanently with INVALID_OUTPUT: %s', (phrase, value) => {
    expect(callOutput(value)).toEqual({
      ok: false,
      error: { message: `the handler returned ${phrase}`, retryable: false, code: 'INVALID_OUTPUT' },
    });
  });

  it('keeps a member called __proto__ as an ordinary one', () => {
    const result = callOutput(JSON.parse('{"__proto__": {"admin": true}}'));
    expect(result.ok && JSON.stringify(result.value)).toBe('{"__proto__":{"admin":true}}');
    expect(Object.hasOwn(Object.prototype, 'admin')).toBe(false);
  });

  it('takes a result of exactly the limit and refuses one byte more with OUTPUT_TOO_LARGE [DISP-2]', () => {
    expect(callOutput('é'.repeat(49), 100)).toMatchObject({ ok: true });
    const refused = { ok: false, error: { code: 'OUTPUT_TOO_LARGE', retryable: false } };
    expect(callOutput(`${'é'.repeat(49)}x`, 100)).toMatchObject(refused);
    expect(callOutput('x'.repeat(8 * 1024 * 1024 - 2))).toMatchObject({ ok: true });
    expect(callOutput('x'.repeat(8 * 1024 * 1024 - 1))).toMatchObject(refused);
    expect(outputSizeFailure([1, 2])).toBeNull();
  });

  it('stops unfolding a small object with very many values', () => {
    expect(callOutput(sharedTwice(), 10_000)).toMatchObject({ error: { code: 'OUTPUT_TOO_LARGE' } });
    expect(callOutput(new Array(2 ** 32 - 1), 10_000)).toMatchObject({ error: { code: 'OUTPUT_TOO_LARGE' } });
    expect(toJson([1, 2, 3], 3)).toEqual({ ok: false, error: 'too many values' });
  });
});
