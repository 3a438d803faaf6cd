import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import entryPoints from '../../scripts/entry-points.json' with { type: 'json' };

const manifest = z
  .object({
    exports: z.record(z.string(), z.unknown()),
    dependencies: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
  })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));

describe('the package manifest', () => {
  it('exports what the table of entry points lists, and nothing else (scripts/build-exports.mjs)', () => {
    const libraries = Object.entries(entryPoints).filter(([name]) => name !== 'cli');
    const wanted = libraries.map(([name, source]) => [
      name === 'index' ? '.' : `./${name}`,
      { types: `./dist/types/${source.replace(/\.ts$/, '.d.ts')}`, default: `./dist/${name}.js` },
    ]);
    expect(manifest.exports).toEqual({
      ...Object.fromEntries(wanted),
      './package.json': './package.json',
    });
  });

  it.each(Object.entries(entryPoints))('finds %s built', (name, source) => {
    expect(existsSync(source)).toBe(true);
    expect(existsSync(`dist/${name}.js`)).toBe(true);
  });

  it('pins every package to one version', () => {
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });
});
