import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
