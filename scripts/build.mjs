import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

/**
 * Builds dist/: one ES module per entry point with shared chunks, dependencies left as imports, and the declarations
 * under dist/types. The template database in dist/ is left alone, it has a step of its own.
 *
 * `node scripts/build.mjs <folder>` puts the modules there instead, without declarations: the package as it is now, for a
 * test that needs it.
 */
const outdir = process.argv[2] ?? 'dist';
const entryPoints = JSON.parse(readFileSync(new URL('entry-points.json', import.meta.url), 'utf8'));

await bundle();
swaggerUi();
if (outdir === 'dist') declarations();

async function bundle() {
  rmSync(`${outdir}/chunks`, { recursive: true, force: true });
  await build({
    entryPoints,
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    sourcemap: 'linked',
    logLevel: 'warning',
  });
}

/**
 * The API browser, beside the modules and in none of them: only the local server sends it. The package it comes from reports
 * its installs to others, so users do not get it as a dependency.
 */
function swaggerUi() {
  const source = 'node_modules/swagger-ui-dist';
  if (!existsSync(source)) {
    console.log('build: no /swagger-ui, its package is not installed');
    return;
  }
  mkdirSync(`${outdir}/swagger-ui`, { recursive: true });
  for (const file of [
    'swagger-ui-bundle.js',
    'swagger-ui-bundle.js.LICENSE.txt',
    'swagger-ui.css',
    'LICENSE',
    'NOTICE',
  ]) {
    cpSync(`${source}/${file}`, `${outdir}/swagger-ui/${file}`);
  }
}

/** Needs the compiler, a development dependency: an install without those gets the JavaScript only. */
function declarations() {
  if (!existsSync('node_modules/typescript')) {
    console.log('build: no declarations, the compiler is not installed');
    return;
  }
  rmSync('dist/types', { recursive: true, force: true });
  // The types of sst are there in the user's project only, so what is written over them is taken as it stands.
  for (const project of ['tsconfig.build.json', 'infra/tsconfig.build.json']) {
    const tsc = spawnSync('node_modules/.bin/tsc', ['-p', project], { stdio: 'inherit' });
    if (tsc.status !== 0) process.exit(1);
  }
}
