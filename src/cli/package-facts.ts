import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

const PackageJson = z.looseObject({ name: z.string(), version: z.string() });

/** Our own package: the nearest package.json above this file, in src/ as well as in dist/ and its chunks. */
export function packageFacts(): { readonly root: string; readonly version: string } {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && folder !== dirname(folder)) folder = dirname(folder);
  const { version } = PackageJson.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
  return { root: folder, version };
}

/** A page of the documentation as the current folder reaches it; the package brings it along, the container image does not. */
export function docPath(page: string): string {
  const path = join(packageFacts().root, 'docs', page);
  return existsSync(path) ? relative('', path) : `docs/${page}`;
}
