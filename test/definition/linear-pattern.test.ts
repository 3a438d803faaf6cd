import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePattern } from '../../src/core/definition/schema/linear-pattern.ts';

function matches(pattern: string, text: string): boolean {
  const compiled = compilePattern(pattern);
  if (!compiled.ok) throw new Error(`${pattern}: ${compiled.error}`);
  return compiled.value.matches(text, { left: 10_000_000 });
}

function problem(pattern: string): string {
  const compiled = compilePattern(pattern);
  return compiled.ok ? '' : compiled.error;
}

describe('patterns in linear time', () => {
  it.each([
    ['^[A-Z]{3}-\\d{4}$', 'ABC-1234'],
    ['^[a-z]+(\\.[a-z]+)*$', 'a.bc.d'],
    ['^(?<year>\\d{4})(?:-\\d\\d)?$', '2027-02'],
    ['^\\S+@\\S+\\.\\S+$', 'a@b.c'],
    ['\\bfoo\\b', 'a foo b'],
    ['\\Boo\\B', 'fooo'],
    ['^\\p{L}+$', 'Grüße'],
    ['^\\P{L}+$', '123'],
    ['^.$', '😀'],
    ['^😀+$', '😀😀'],
    ['^\\u{1F600}\\ud83d\\ude00\\x41\\u0042\\cJ$', '😀😀AB\n'],
    ['[^\\]\\-a]', 'b'],
    ['a|', ''],
    ['', ''],
    ['^(a|b|cd)*?e{0,2}$', 'abcdee'],
    ['^a{2}b{2,}c{1,3}$', 'aabbbc'],
    ['\\/\\.\\*', '/.*'],
    ['^(?:)*$', ''],
    ['^(?:){3,5}x$', 'x'],
    ['^(?:){0,1000000000}x(?:){1000000000}$', 'x'],
    ['^(?:^|a)b', 'b'],
  ])('%s matches %j', (pattern, text) => {
    expect(new RegExp(pattern, 'u').test(text)).toBe(true);
    expect(matches(pattern, text)).toBe(true);
  });

  it.each([
    ['^[A-Z]{3}-\\d{4}$', 'ABC-123'],
    ['^.$', '\n'],
    ['^a{2}b{2,}c{1,3}$', 'aabc'],
    ['\\bfoo\\b', 'afoo'],
    ['^abc', 'xabc'],
    ['x$', 'x\n'],
    ['[^\\]\\-a]', '-'],
  ])('%s does not match %j', (pattern, text) => {
    expect(new RegExp(pattern, 'u').test(text)).toBe(false);
    expect(matches(pattern, text)).toBe(false);
  });

  it('agrees with the built-in engine on random patterns and texts', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '\\w', '^', '$', '\\b', 'é', '-');
    const pattern = fc.letrec<{ p: string }>((tie) => ({
      p: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        atom,
        fc.tuple(tie('p'), tie('p')).map(([left, right]) => left + right),
        fc.tuple(tie('p'), tie('p')).map(([left, right]) => `(${left}|${right})`),
        fc
          .tuple(tie('p'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{0,}', '*?', '{1,2}?'))
          .map(([inner, quantifier]) => `(?:${inner})${quantifier}`),
      ),
    })).p;
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '1', '-', 'é', '\n', '😀'), maxLength: 12 });
    fc.assert(
      fc.property(pattern, text, (source, subject) => {
        expect(matches(source, subject)).toBe(new RegExp(source, 'u').test(subject));
      }),
      { numRuns: 2000 },
    );
  });

  it.each(['^(a+)+$', '^(a|a)*$', '(.*a){20}', '^(([a-z])+.)+[A-Z]([a-z])+$', 'a*a*a*a*a*a*b'])(
    'the work for %s grows with the text and not faster',
    (pattern) => {
      const compiled = compilePattern(pattern);
      const work = (length: number): number => {
        const meter = { left: 1e9 };
        if (compiled.ok) compiled.value.matches(`${'a'.repeat(length)}!`, meter);
        return 1e9 - meter.left;
      };
      expect(work(4000) / work(2000)).toBeLessThan(2.1);
    },
  );

  it('gives up when the meter is empty', () => {
    const compiled = compilePattern('^(a|b)*$');
    const meter = { left: 50 };
    expect(compiled.ok && compiled.value.matches('ab'.repeat(1000), meter)).toBe(false);
    expect(meter.left).toBeLessThan(0);
  });

  it('stops early on a text that an anchored pattern cannot match', () => {
    const compiled = compilePattern('^b');
    const meter = { left: 1000 };
    expect(compiled.ok && compiled.value.matches('a'.repeat(100_000), meter)).toBe(false);
    expect(meter.left).toBeGreaterThan(990);
  });

  it.each(['(', '[a', 'a{2,1}', '\\', '*a', '(?<n', '\\p{Nope}', '[b-a]'])(
    '%s is no regular expression',
    (pattern) => {
      expect(problem(pattern)).toBe('the pattern is not a regular expression');
    },
  );

  it.each(['(?=a)b', '(?!a)b', '(?<=a)b', '(?<!a)b'])('%s looks around and is refused', (pattern) => {
    expect(problem(pattern)).toContain('look-around');
  });

  it.each(['(a)\\1', '(?<n>a)\\k<n>'])('%s refers back and is refused', (pattern) => {
    expect(problem(pattern)).toContain('back-references');
  });

  it.each(['((a{0,1000}){0,1000})', 'a{100000}', '(a|b){20000}', '((a{100}){100}|b)+', '((a{100}){101})*'])(
    '%s is too large when written out',
    (pattern) => {
      expect(problem(pattern)).toContain('too large');
    },
  );

  it('long and deeply nested patterns are refused', () => {
    expect(problem('a'.repeat(2001))).toContain('at most 2000 characters');
    expect(problem('('.repeat(65) + ')'.repeat(65))).toContain('nested more than 64');
    expect(problem('('.repeat(64) + ')'.repeat(64))).toBe('');
  });
});
