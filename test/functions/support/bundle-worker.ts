import { builtinModules } from 'node:module';
import { resolve } from 'node:path';
import { build } from 'esbuild';

export interface BundledWorker {
  readonly text: string;
  /** Modules of Node that the bundle imports, whichever way. */
  readonly builtins: readonly string[];
  /** What of it is in the bundle: sources and files of packages. */
  readonly modules: readonly string[];
}

const ROOT = resolve(import.meta.dirname, '../../..');
const BUILTINS = [...builtinModules, ...builtinModules.map((name) => `node:${name}`)];

/** Bundles a module as wrangler does for a Worker without compatibility flags; paths are those of the repository. */
export async function bundleWorker(source: string): Promise<BundledWorker> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: ROOT, loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['workerd', 'module', 'main'],
    conditions: ['workerd', 'worker', 'browser', 'import'],
    target: 'es2022',
    external: BUILTINS,
    outdir: 'out',
    write: false,
    metafile: true,
    absWorkingDir: ROOT,
    logLevel: 'silent',
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  const names = imports.map(({ path }) => path.replace(/^node:/, ''));
  const kept = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  return {
    modules: kept.flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
    text: outputFiles[0]?.text ?? '',
    builtins: [...new Set(names.filter((name) => builtinModules.includes(name)))].toSorted(),
  };
}
