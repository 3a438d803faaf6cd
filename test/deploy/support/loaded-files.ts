import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';

/** What a process loads of a bundle before the first event. */
export interface LoadedFiles {
  readonly bytes: number;
  /** Sources and packages that these files are made of, as paths. */
  readonly inputs: readonly string[];
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

/** Follows the imports of a bundle's entry that are not deferred. */
export function loadedFiles(folder: string): LoadedFiles {
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
    bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
    inputs: found.flatMap(({ inputs }) => Object.keys(inputs)),
  };
}
