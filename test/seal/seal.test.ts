import { describe, expect, it } from 'vitest';
import { createSeal, isSealKey, plainSeal } from '../../src/adapters/seal.ts';
import { systemEntropy } from '../../src/adapters/system.ts';

const KEY = 'a1'.repeat(32);
const OTHER = 'b2'.repeat(32);
const seal = createSeal({ key: KEY }, systemEntropy);

describe('sealed secrets', () => {
  it('open under the same key and context only', () => {
    const sealed = seal.seal('s3cret ü', 'acme\nrates');
    expect(sealed).not.toContain('s3cret');
    expect(seal.open(sealed, 'acme\nrates')).toBe('s3cret ü');
    expect(seal.open(sealed, 'acme\nother')).toBeNull();
    expect(createSeal({ key: OTHER }, systemEntropy).open(sealed, 'acme\nrates')).toBeNull();
  });

  it('differ each time, and do not open when a bit is changed', () => {
    const [one, two] = [seal.seal('x', 'c'), seal.seal('x', 'c')];
    expect(one).not.toBe(two);
    const damaged = `${one.slice(0, 8)}${one[8] === 'A' ? 'B' : 'A'}${one.slice(9)}`;
    expect(seal.open(damaged, 'c')).toBeNull();
    for (const text of ['', 'v1.', 'v1.AAAA', 'v2.AAAA', 'x']) expect(seal.open(text, 'c')).toBeNull();
  });

  it('open with the old key after a rotation, and what was kept before there was a key', () => {
    const rotated = createSeal({ key: OTHER, oldKey: KEY }, systemEntropy);
    expect(rotated.open(seal.seal('x', 'c'), 'c')).toBe('x');
    expect(rotated.open(plainSeal.seal('y', 'c'), 'c')).toBe('y');
    expect(plainSeal.open(rotated.seal('z', 'c'), 'c')).toBeNull();
    expect(seal.open(rotated.seal('z', 'c'), 'c')).toBeNull();
  });

  it('take 64 hex digits as a key and nothing else', () => {
    expect([KEY, KEY.toUpperCase()].map(isSealKey)).toEqual([true, true]);
    expect(['', KEY.slice(1), `${KEY}0`, 'g'.repeat(64)].map(isSealKey)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});
