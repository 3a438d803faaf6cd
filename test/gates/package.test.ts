import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import entryPoints from '../../scripts/entry-points.json' with { type: 'json' };

const target = z.union([z.string(), z.object({ types: z.string(), default: z.string() })]);
const manifest = z
  .object({
    exports: z.record(z.string(), target),
    dependencies: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
  })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));

describe('the package manifest', () => {
  const libraries = Object.entries(entryPoints).filter(([name]) => name !== 'cli');

  it.each(libraries)('exports the entry point %s from where the build writes it', (name, source) => {
    expect(manifest.exports[name === 'index' ? '.' : `./${name}`]).toEqual({
      types: `./dist/types/${source.replace(/\.ts$/, '.d.ts')}`,
      default: `./dist/${name}.js`,
    });
  });

  it.each(Object.entries(entryPoints).filter(([, source]) => existsSync(source)))(
    'finds %s built',
    (name) => {
      expect(existsSync(`dist/${name}.js`)).toBe(true);
    },
  );

  it('pins every package to one version', () => {
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });
});
