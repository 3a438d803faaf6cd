import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/**
 * Writes src/api/routes/route-paths.generated.ts: which module has the routes of a path, so that functions load one when it
 * is called. Run it after a route was added; a test fails while the two differ.
 */
const table = new URL('../src/api/routes/routes.ts', import.meta.url);
const target = new URL('../src/api/routes/route-paths.generated.ts', import.meta.url);

async function routePathsText() {
  const source = readFileSync(table, 'utf8');
  const modules = [...source.matchAll(/^import \{ (\w+) \} from '\.\/([\w-]+)\.ts';$/gm)].map(
    ([, name, file]) => ({ name, file }),
  );
  const routes = await routesByModule(modules);
  const byPath = new Map();
  for (const { file, path, mount } of routes) {
    const entry = byPath.get(path) ?? { isRoot: true, files: new Set() };
    byPath.set(path, { isRoot: entry.isRoot && mount === 'root', files: entry.files.add(file) });
  }
  const paths = [...byPath].map(
    ([path, { isRoot, files }]) =>
      `  { path: '${path}', isRoot: ${isRoot}, modules: [${[...files].map((file) => `'${file}'`).join(', ')}] },`,
  );
  const loads = modules.map(
    ({ name, file }) => `  '${file}': async () => [(await import('./${file}.ts')).${name}].flat(),`,
  );
  return [
    '// Written by scripts/build-route-paths.mjs from routes.ts.',
    "import type { Route } from '../route.ts';",
    '',
    'export const ROUTE_MODULES: Readonly<Record<string, () => Promise<readonly Route[]>>> = {',
    ...loads,
    '};',
    '',
    'export const ROUTE_PATHS: readonly {',
    '  readonly path: string;',
    '  readonly isRoot: boolean;',
    '  readonly modules: readonly string[];',
    '}[] = [',
    ...paths,
    '];',
    '',
  ].join('\n');
}

/** The sources are TypeScript, so they are bundled to be read. */
async function routesByModule(modules) {
  const folder = await mkdtemp(join(tmpdir(), 'stepwell-routes-'));
  try {
    const contents = modules.map(({ name, file }) => `export { ${name} } from './${file}.ts';`).join('\n');
    const resolveDir = new URL('.', table).pathname;
    const outfile = join(folder, 'routes.mjs');
    await build({
      stdin: { contents, resolveDir, loader: 'ts' },
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      logLevel: 'error',
    });
    const loaded = await import(pathToFileURL(outfile).href);
    return modules.flatMap(({ name, file }) =>
      [loaded[name]].flat().map(({ path, mount }) => ({ file, path, mount })),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

writeFileSync(target, await routePathsText());
spawnSync('node_modules/.bin/biome', ['format', '--write', target.pathname], { stdio: 'inherit' });
