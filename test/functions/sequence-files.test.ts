import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeEntries } from '../../infra/entries.ts';

const TRIP = '{ "name": "trip", "blocks": [] }';

describe('the files of a project that hold sequences', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'stepwell-sequences-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const write = (file: string, text = ''): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  };
  /** What the function of a deployment is bundled from. */
  const entry = (sequences: string): string => {
    writeEntries({ root, name: 'Workflows', sequences });
    return readFileSync(join(root, '.sst/stepwell/Workflows/deploy.ts'), 'utf8');
  };
  const filesIn = (text: string): readonly string[] =>
    [...text.matchAll(/"([^"]+)": sequence\d/g)].map(([, file = '']) => file);

  it('are those of all subfolders, in the order of their names', () => {
    for (const file of ['b.ts', 'a/z.mjs', 'a/deep/y.js', 'c.mts']) write(`sequences/${file}`);
    write('sequences/a/x.json', TRIP);
    expect(filesIn(entry('sequences'))).toEqual([
      'sequences/a/deep/y.js',
      'sequences/a/x.json',
      'sequences/a/z.mjs',
      'sequences/b.ts',
      'sequences/c.mts',
    ]);
  });

  it('are not those of packages and hidden folders, no tests, no declarations and nothing else', () => {
    for (const file of [
      'node_modules/p/a.ts',
      '.git/a.ts',
      'a.test.ts',
      'a.spec.js',
      'a.d.ts',
      'a.md',
      'b.ts',
    ])
      write(`sequences/${file}`);
    expect(filesIn(entry('sequences'))).toEqual(['sequences/b.ts']);
  });

  it('may be one, or a link to a folder', () => {
    write('flows.ts');
    write('elsewhere/a.ts');
    mkdirSync(join(root, 'sequences'));
    symlinkSync(join(root, 'elsewhere'), join(root, 'sequences/linked'));
    expect(filesIn(entry('flows.ts'))).toEqual(['flows.ts']);
    expect(filesIn(entry('sequences'))).toEqual(['sequences/linked/a.ts']);
  });

  it('are imported where they are, JSON as a document', () => {
    write('sequences/a/x.json', TRIP);
    write('sequences/b.ts');
    const text = entry('sequences');
    expect(text).toContain("import sequence0 from '../../../sequences/a/x.json';");
    expect(text).toContain("import * as sequence1 from '../../../sequences/b.ts';");
  });

  it('are named with line and column when they are no JSON', () => {
    write('sequences/deep/trip.json', '{\n  "name": "trip",\n}');
    expect(() => entry('sequences')).toThrow(
      /sequences\/deep\/trip\.json is not JSON: it has an unexpected character, line 3, column 1/,
    );
  });
});
