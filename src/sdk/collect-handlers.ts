import type { Advice } from '../core/advice.ts';
import { err, ok, type Result } from '../core/result.ts';
import { type DefinedHandler, isDefinedHandler } from './handler.ts';

/**
 * The handlers of a user's module: named exports, and a default export that is a handler or an array of handlers.
 * `nameProblem` says why a name cannot be taken (built-in, malformed), null when it can; two different handlers of one
 * name are refused too. `file` is only for the texts.
 */
export function collectHandlers(
  module: object,
  file: string,
  nameProblem: (name: string) => string | null,
): Result<readonly DefinedHandler[], Advice> {
  const handlers = exportedHandlers(module, file);
  if (!handlers.ok) return handlers;
  const problem = firstNameProblem(handlers.value, nameProblem, file);
  return problem === null ? handlers : err(problem);
}

/** Every handler of the module, each object once. Other named exports are left alone. */
function exportedHandlers(module: object, file: string): Result<readonly DefinedHandler[], Advice> {
  const handlers = new Set<DefinedHandler>();
  for (const [name, value] of Object.entries(module)) {
    if (name === 'default' && Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        if (!isDefinedHandler(item)) {
          return err({
            message: `item ${index} of the default export of ${file} is no handler`,
            next: 'Put only results of defineHandler(...) into the array.',
          });
        }
        handlers.add(item);
      }
    } else if (isDefinedHandler(value)) handlers.add(value);
  }
  if (handlers.size > 0) return ok([...handlers]);
  return err({
    message: `${file} exports no handler`,
    next: "Export at least one: export const hello = defineHandler('hello', {}, async (input) => ({ input })).",
  });
}

function firstNameProblem(
  handlers: readonly DefinedHandler[],
  nameProblem: (name: string) => string | null,
  file: string,
): Advice | null {
  const names = new Set<string>();
  for (const { name } of handlers) {
    const problem = nameProblem(name);
    if (problem !== null)
      return { message: `${file}: ${problem}`, next: 'Rename the handler and the steps that use it.' };
    if (names.has(name)) {
      return {
        message: `${file}: two handlers are called ${name}`,
        next: `Give one of them another name, for example ${name}@2.`,
      };
    }
    names.add(name);
  }
  return null;
}
