import { describe, expect, it } from 'vitest';
import { isDotSegment } from '../../src/core/dot-segments.ts';

describe('a name that stands in a path', () => {
  it('may be anything but what URLs leave out', () => {
    expect(['.', '..'].filter(isDotSegment)).toEqual(['.', '..']);
    expect(['', '...', '. ', '.a', '%2e', '․'].filter(isDotSegment)).toEqual([]);
    for (const name of ['.', '..'])
      expect(new URL(`http://a/b/${encodeURIComponent(name)}`).pathname).not.toContain(name);
  });
});
