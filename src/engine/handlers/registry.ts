import type { Failure } from '../../core/failure.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { StepHandler } from '../../ports/step-handler.ts';
import { isPluginName, unavailableFailure } from '../../core/run/leaf/unavailable.ts';
import { BUILT_IN_NAMES, ENGINE_EXECUTED_NAMES, handlerNameProblem } from './handler-names.ts';

/**
 * What a step's handler name stands for in this process:
 * `handler` is called here; `engine` (only `sleep`) is executed by the engine core; `unavailable` is a plugin, or a
 * built-in of a later version: the step fails with the failure, a built-in only if no worker polled for its name within
 * the last 120 s (RULINGS B8, code HANDLER_NOT_AVAILABLE);
 * `unknown` is not known here: another live build may have it, else it is a worker handler [DISP-1], [REG-3].
 */
export type HandlerLookup =
  | { readonly type: 'handler'; readonly handler: StepHandler }
  | { readonly type: 'engine' }
  | { readonly type: 'unavailable'; readonly failure: Failure }
  | { readonly type: 'unknown' };

export interface HandlerRegistry {
  /** Looks the name up, letter case included. */
  lookup(name: string): HandlerLookup;
  /** Names that run in this process, `sleep` included, sorted: for warnings, `/info` and the table of names. */
  readonly names: readonly string[];
  /** Names of the user's handlers, sorted. */
  readonly userNames: readonly string[];
}

/**
 * A registry of built-in handlers and the user's [REG-1]. The error lists every name that is not allowed or is there
 * twice; nothing of such a set may be used, because which handler runs would depend on the order of files.
 */
export function createHandlerRegistry(
  builtIns: readonly StepHandler[],
  users: readonly StepHandler[] = [],
): Result<HandlerRegistry, readonly string[]> {
  const handlers = new Map<string, StepHandler>();
  const problems: string[] = [];
  for (const handler of builtIns) {
    if (handlers.has(handler.name)) problems.push(`built-in ${handler.name} is there twice`);
    handlers.set(handler.name, handler);
  }
  for (const handler of users) {
    const nameProblem = handlerNameProblem(handler.name);
    if (nameProblem !== null) problems.push(nameProblem);
    else if (handlers.has(handler.name)) problems.push(`handler ${handler.name} is registered twice`);
    handlers.set(handler.name, handler);
  }
  if (problems.length > 0) return err(problems);
  return ok({
    lookup: (name) => lookupIn(handlers, name),
    names: [...handlers.keys(), ...ENGINE_EXECUTED_NAMES].sort(),
    userNames: users.map((handler) => handler.name).sort(),
  });
}

function lookupIn(handlers: ReadonlyMap<string, StepHandler>, name: string): HandlerLookup {
  const handler = handlers.get(name);
  if (handler !== undefined) return { type: 'handler', handler };
  if (ENGINE_EXECUTED_NAMES.has(name)) return { type: 'engine' };
  if (BUILT_IN_NAMES.has(name) || isPluginName(name))
    return { type: 'unavailable', failure: unavailableFailure(name) };
  return { type: 'unknown' };
}
