import { readFile } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { err, ok, type Result } from '../../core/result.ts';
import { type DefinedHandler, isDefinedHandler } from '../../sdk/handler.ts';
import { importBundled } from './import-bundled.ts';
import { importModule, type LoadProblem, loadProblem } from './import-module.ts';

export type { LoadProblem } from './import-module.ts';

const TYPESCRIPT: ReadonlySet<string> = new Set(['.ts', '.mts']);
const JAVASCRIPT: ReadonlySet<string> = new Set(['.js', '.mjs']);

/**
 * Loads a user's handlers file (.ts, .mts, .js, .mjs) and gives every handler it exports: named exports, and a default
 * export that is a handler or an array of handlers. TypeScript is bundled first, JavaScript is imported as it is. A file
 * whose content has changed is loaded anew (of JavaScript only the file itself, not what it imports). `nameProblem` says
 * why a name cannot be taken, null when it can.
 */
export async function loadHandlers(
  path: string,
  nameProblem: (name: string) => string | null,
): Promise<Result<readonly DefinedHandler[], LoadProblem>> {
  const file = resolve(path);
  const imported = await importFile(file);
  if (!imported.ok) return imported;
  const handlers = exportedHandlers(imported.value, basename(file));
  if (!handlers.ok) return handlers;
  const problem = firstNameProblem(handlers.value, nameProblem, basename(file));
  return problem === null ? handlers : err(problem);
}

async function importFile(file: string): Promise<Result<object, LoadProblem>> {
  const extension = extname(file);
  if (!TYPESCRIPT.has(extension) && !JAVASCRIPT.has(extension)) {
    return err(loadProblem(`${basename(file)} is no handlers file`, 'Name a .ts, .mts, .js or .mjs file.'));
  }
  const source = await readSource(file);
  if (source === null) {
    return err(
      loadProblem(`${file} cannot be read`, 'Check the path; it is relative to the current folder.'),
    );
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

/** Every handler of the module, each object once. Other named exports are left alone. */
function exportedHandlers(module: object, file: string): Result<readonly DefinedHandler[], LoadProblem> {
  const handlers = new Set<DefinedHandler>();
  for (const [name, value] of Object.entries(module)) {
    if (name === 'default' && Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        if (!isDefinedHandler(item)) {
          return err(
            loadProblem(
              `item ${index} of the default export of ${file} is no handler`,
              'Put only results of defineHandler(...) into the array.',
            ),
          );
        }
        handlers.add(item);
      }
    } else if (isDefinedHandler(value)) handlers.add(value);
  }
  if (handlers.size > 0) return ok([...handlers]);
  return err(
    loadProblem(
      `${file} exports no handler`,
      "Export at least one: export const hello = defineHandler('hello', {}, async (input) => ({ input })).",
    ),
  );
}

function firstNameProblem(
  handlers: readonly DefinedHandler[],
  nameProblem: (name: string) => string | null,
  file: string,
): LoadProblem | null {
  const names = new Set<string>();
  for (const { name } of handlers) {
    const problem = nameProblem(name);
    if (problem !== null)
      return loadProblem(`${file}: ${problem}`, 'Rename the handler and the steps that use it.');
    if (names.has(name)) {
      return loadProblem(
        `${file}: two handlers are called ${name}`,
        `Give one of them another name, for example ${name}@2.`,
      );
    }
    names.add(name);
  }
  return null;
}
