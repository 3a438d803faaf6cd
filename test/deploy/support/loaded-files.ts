import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import * as z from 'zod';
import { ROOT } from './tools.ts';

/** What a process loads of a bundle before the first event. */
export interface LoadedFiles {
  readonly bytes: number;
  /** The same with all that may be loaded later. */
  readonly bundleBytes: number;
  /** Sources of Stepwell, as they stand in the repository, and files of packages that these files are made of. */
  readonly modules: readonly string[];
}

const Outputs = z.record(
  z.string(),
  z.object({
    bytes: z.number(),
    entryPoint: z.string().optional(),
    inputs: z.record(z.string(), z.unknown()),
    imports: z.array(z.object({ path: z.string(), kind: z.string(), external: z.boolean().optional() })),
  }),
);

/** Follows the imports of a bundle's entry that are not deferred. `root` is the folder of the project. */
export function loadedFiles(folder: string, root: string): LoadedFiles {
  const described = readFileSync(join(dirname(folder), `${basename(folder)}.json`), 'utf8');
  const outputs = Outputs.parse(JSON.parse(described));
  const entry = Object.keys(outputs).find((path) => outputs[path]?.entryPoint?.includes('.sst/stepwell/'));
  if (entry === undefined) throw new Error(`${folder} has no entry`);
  const files = new Set<string>();
  const visit = (path: string): void => {
    if (files.has(path)) return;
    files.add(path);
    for (const { path: next, kind, external } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && external !== true) visit(next);
    }
  };
  visit(entry);
  const found = [...files].flatMap((path) => outputs[path] ?? []);
  return {
    bytes: sizeOf(found),
    bundleBytes: sizeOf(Object.values(outputs)),
    modules: [
      ...new Set(found.flatMap(({ inputs }) => Object.keys(inputs).flatMap((path) => modulesOf(root, path)))),
    ],
  };
}

function sizeOf(files: readonly { readonly bytes: number }[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

const SourceMap = z.object({ sources: z.array(z.string()) });

/** The package is installed as it is published, a few files that many modules went into; their source maps name these. */
function modulesOf(root: string, path: string): readonly string[] {
  const file = join(root, path);
  if (!path.startsWith('node_modules/stepwell/dist/')) return [relative(ROOT, file)];
  const { sources } = SourceMap.parse(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  return sources.map((source) => relative(ROOT, resolve(dirname(file), source)));
}
