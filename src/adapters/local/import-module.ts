import { basename } from 'node:path';
import { err, ok, type Result } from '../../core/result.ts';

/** Why handlers could not be loaded: what happened, and what the user can do next. */
export interface LoadProblem {
  readonly message: string;
  readonly next: string;
}

export function loadProblem(message: string, next: string): LoadProblem {
  return { message, next };
}

/** Imports a module; what its code throws is the user's problem to see, not a crash of ours. */
export async function importModule(url: string, file: string): Promise<Result<object, LoadProblem>> {
  try {
    const module: unknown = await import(/* @vite-ignore */ url);
    if (typeof module === 'object' && module !== null) return ok(module);
    return err(loadProblem(`${basename(file)} is no module`, 'Write it as an ES module with exports.'));
  } catch (error) {
    return err(importProblem(error, basename(file)));
  }
}

function importProblem(error: unknown, file: string): LoadProblem {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ERR_MODULE_NOT_FOUND') {
    return loadProblem(
      `${file} imports what cannot be found: ${message}`,
      'Install the package, or correct the import.',
    );
  }
  if (error instanceof SyntaxError) {
    return loadProblem(
      `${file} has a syntax error: ${message}`,
      'Correct it; a .js file must be an ES module ("type": "module").',
    );
  }
  return loadProblem(
    `${file} threw while it was loaded: ${message}`,
    'Correct the code at the top level of the file.',
  );
}
