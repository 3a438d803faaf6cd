import { expect, test } from 'vitest';
import { cachedByText } from '../../src/core/expressions/cache.ts';

/** A cached parser and how often it had to parse each text. */
function countingParser(): { parse: (text: string) => { text: string }; parsed: string[] } {
  const parsed: string[] = [];
  const parse = cachedByText((text) => {
    parsed.push(text);
    return { text };
  });
  return { parse, parsed };
}

test('a text is parsed once while it is in the cache', () => {
  const { parse, parsed } = countingParser();
  expect(parse('a')).toBe(parse('a'));
  parse('b');
  parse('a');
  expect(parsed).toEqual(['a', 'b']);
});

test('the oldest texts leave when the cache is full', () => {
  const { parse, parsed } = countingParser();
  const texts = Array.from({ length: 200 }, (_, index) => String(index).padEnd(8000, '.'));
  for (const text of texts) parse(text);
  parsed.length = 0;
  for (const text of texts.slice(-50)) parse(text);
  expect(parsed).toEqual([]);
  parse('0'.padEnd(8000, '.'));
  expect(parsed).toHaveLength(1);
});

test('many small texts are bounded too', () => {
  const { parse, parsed } = countingParser();
  for (let index = 0; index < 20_000; index += 1) parse(String(index));
  parsed.length = 0;
  parse('0');
  expect(parsed).toEqual(['0']);
});

test('very long texts are parsed each time', () => {
  const { parse, parsed } = countingParser();
  const long = 'x'.repeat(10_000);
  expect(parse(long)).toEqual(parse(long));
  expect(parsed).toHaveLength(2);
});
