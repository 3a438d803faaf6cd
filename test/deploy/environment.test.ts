import { describe, expect, it } from 'vitest';
import { checkSize } from '../../infra/environment-size.ts';

describe('the environment of a function', () => {
  it('may have 4 KB, counted in bytes of names and values', () => {
    expect(() => checkSize({ A: 'x'.repeat(4095) })).not.toThrow();
    expect(() => checkSize({ A: 'ü'.repeat(2048) })).toThrow('4097 bytes');
  });

  it('that is larger is refused with the names of the largest variables and no value', () => {
    const variables = { A: 'x', LONG: 'secret'.repeat(700), B: 'y', C: 'z', LONGER: 'hidden'.repeat(800) };
    expect(() => checkSize(variables)).toThrow(/shorten LONGER \(4806\), LONG \(4204\), A \(2\), or/);
    expect(() => checkSize(variables)).not.toThrow(/secret{2}|hidden/);
  });
});
