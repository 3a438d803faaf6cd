import { basename } from 'node:path';
import type { Advice } from '../../core/advice.ts';
import { err, ok, type Result } from '../../core/result.ts';

/** Imports a module; what its code throws is the user's problem to see, not a crash of ours. */
export async function importModule(url: string, file: string): Promise<Result<object, Advice>> {
  try {
    const module: unknown = await import(/* @vite-ignore */ url);
    if (typeof module === 'object' && module !== null) return ok(module);
    return err({ message: `${basename(file)} is no module`, next: 'Write it as an ES module with exports.' });
  } catch (error) {
    return err(importProblem(error, basename(file)));
  }
}

function importProblem(error: unknown, file: string): Advice {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ERR_MODULE_NOT_FOUND') {
    return {
      message: `${file} imports what cannot be found: ${message}`,
      next: 'Install the package, or correct the import.',
    };
  }
  if (error instanceof SyntaxError) {
    return {
      message: `${file} has a syntax error: ${message}`,
      next: 'Correct it; a .js file must be an ES module ("type": "module").',
    };
  }
  return {
    message: `${file} threw while it was loaded: ${message}`,
    next: 'Correct the code at the top level of the file.',
  };
}
