import { readFile } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Advice } from '../../core/advice.ts';
import { err, type Result } from '../../core/result.ts';
import { importBundled } from './import-bundled.ts';
import { importModule } from './import-module.ts';

const TYPESCRIPT: ReadonlySet<string> = new Set(['.ts', '.mts']);
const JAVASCRIPT: ReadonlySet<string> = new Set(['.js', '.mjs']);

/**
 * Loads a user's handlers file (.ts, .mts, .js, .mjs) as a module; `collectHandlers` of the SDK takes the handlers out
 * of it. TypeScript is bundled first, JavaScript is imported as it is. A file whose content has changed is loaded anew
 * (of JavaScript only the file itself, not what it imports). Expected mistakes of the user are errors with advice.
 */
export async function loadHandlersFile(path: string): Promise<Result<object, Advice>> {
  const file = resolve(path);
  const extension = extname(file);
  if (!TYPESCRIPT.has(extension) && !JAVASCRIPT.has(extension)) {
    return err({
      message: `${basename(file)} is no handlers file`,
      next: 'Name a .ts, .mts, .js or .mjs file.',
    });
  }
  const source = await readSource(file);
  if (source === null) {
    return err({
      message: `${file} cannot be read`,
      next: 'Check the path; it is relative to the current folder.',
    });
  }
  if (TYPESCRIPT.has(extension)) return await importBundled(file);
  return await importModule(
    `${pathToFileURL(file).href}?content=${bytesToHex(sha256(source)).slice(0, 16)}`,
    file,
  );
}

async function readSource(file: string): Promise<Uint8Array | null> {
  try {
    return await readFile(file);
  } catch {
    return null;
  }
}
