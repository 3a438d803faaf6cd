import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Writes the `exports` of package.json from entry-points.json, the one table of what is built and imported from outside:
 * `index` is the package itself, `cli` its program, every other name a path of it. A new entry point is one line there,
 * and a run of this script; a test fails while the two differ.
 */
const manifestUrl = new URL('../package.json', import.meta.url);

export function exportsOf(entryPoints) {
  const libraries = Object.entries(entryPoints).filter(([name]) => name !== 'cli');
  const targets = libraries.map(([name, source]) => [
    name === 'index' ? '.' : `./${name}`,
    { types: `./dist/types/${source.replace(/\.ts$/, '.d.ts')}`, default: `./dist/${name}.js` },
  ]);
  return { ...Object.fromEntries(targets), './package.json': './package.json' };
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const entryPoints = JSON.parse(readFileSync(new URL('entry-points.json', import.meta.url), 'utf8'));
  const manifest = JSON.parse(readFileSync(manifestUrl, 'utf8'));
  writeFileSync(
    manifestUrl,
    `${JSON.stringify({ ...manifest, exports: exportsOf(entryPoints) }, null, 2)}\n`,
  );
}
