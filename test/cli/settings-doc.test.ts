import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeSettings, markdownRow } from '../../src/cli/settings/describe.ts';

describe('docs/settings.md', () => {
  it('lists every setting with its default and its meaning, in the order of the schema', () => {
    const documented = readFileSync('docs/settings.md', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `STEPWELL_'));
    // `stepwell settings --markdown` prints them.
    expect(documented).toEqual(describeSettings().map(markdownRow));
  });

  it('has something to say about every setting and about what it takes', () => {
    for (const { about, takes } of describeSettings()) {
      expect(about).toMatch(/^[A-Z].*\.$/);
      expect(takes).not.toMatch(/^$|Invalid/);
    }
  });
});
