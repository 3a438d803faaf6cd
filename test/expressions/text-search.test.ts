import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { containsText, countText, splitText } from '../../src/core/expressions/text-search.ts';

/** Few letters, so that patterns overlap themselves and nearly match. */
const letters = (maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'b'), maxLength });

describe('searching agrees with the platform', () => {
  test('for any text and pattern', () => {
    const pattern = fc.oneof(letters(8), letters(40)).filter((text) => text !== '');
    fc.assert(
      fc.property(letters(200), pattern, fc.integer({ min: 0, max: 4 }), (text, part, copies) => {
        const whole = text + (part + text).repeat(copies);
        expect(containsText(whole, part)).toBe(whole.includes(part));
        expect(splitText(whole, part)).toEqual(whole.split(part));
        expect(countText(whole, part)).toBe(whole.split(part).length - 1);
      }),
      { numRuns: 1000 },
    );
  });

  test('for a long pattern that nearly matches everywhere', () => {
    const half = 'a'.repeat(200_000);
    const text = half.repeat(10);
    expect(containsText(text, `${half}b${half}`)).toBe(false);
    expect(containsText(`${text}b${text}`, `${half}b${half}`)).toBe(true);
    expect(countText(text, half)).toBe(10);
    expect(splitText(text, half)).toEqual(Array(11).fill(''));
  });
});
