import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Esbuild from 'esbuild';
import type { Advice } from '../../core/advice.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { importModule } from './import-module.ts';

/**
 * Imports a TypeScript file: its own files are bundled with esbuild into one module, packages stay outside. The module
 * lies in a folder of its own beside the file while it is imported, so that packages are found as the file finds them.
 * `import.meta.url` of all bundled files is that of the given file.
 */
export async function importBundled(file: string): Promise<Result<object, Advice>> {
  const code = await bundle(file);
  if (!code.ok) return code;
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(dirname(file), '.stepwell-'));
    const module = join(folder, 'handlers.mjs');
    await writeFile(module, code.value);
    return await importModule(pathToFileURL(module).href, file);
  } catch {
    return err({
      message: `the folder ${dirname(file)} cannot be written to`,
      next: 'TypeScript is bundled there for a moment; make it writable, or give a .mjs file.',
    });
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

async function bundle(file: string): Promise<Result<string, Advice>> {
  const esbuild = await importEsbuild();
  if (esbuild === null) {
    return err({
      message: `${basename(file)} needs esbuild`,
      next: 'Install it (npm install --save-dev esbuild), or give a .mjs file.',
    });
  }
  try {
    const result = await esbuild.build({
      entryPoints: [file],
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      sourcemap: 'inline',
      sourcesContent: false,
      logLevel: 'silent',
      define: {
        'import.meta.url': JSON.stringify(pathToFileURL(file).href),
        'import.meta.filename': JSON.stringify(file),
        'import.meta.dirname': JSON.stringify(dirname(file)),
      },
    });
    return ok(result.outputFiles[0]?.text ?? '');
  } catch (error) {
    return err({
      message: `${basename(file)} cannot be compiled: ${buildMessage(error)}`,
      next: 'Correct the error and load it again.',
    });
  }
}

/** esbuild is only loaded for TypeScript; an installation that runs JavaScript does not need it. */
async function importEsbuild(): Promise<Pick<typeof Esbuild, 'build'> | null> {
  try {
    return await import('esbuild');
  } catch {
    return null;
  }
}

/** The first errors of a failed build with their places. */
function buildMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!('errors' in error) || !Array.isArray(error.errors)) return error.message;
  const lines = error.errors
    .slice(0, 5)
    .map((item: { text?: string; location?: { file: string; line: number } | null }) => {
      const place = item.location ? `${item.location.file}:${item.location.line}: ` : '';
      return `${place}${item.text ?? ''}`;
    });
  return lines.join('; ');
}
