import { collectHandlers } from '../src/sdk/collect-handlers.ts';
import type { DefinedHandler } from '../src/sdk/handler.ts';
import type { Project } from './project.ts';

/**
 * The handlers of the project. Throws with the reason when something else stands where they should be. In a file of its own,
 * so that what runs turns does not load what reads sequences (docs/decisions/0014).
 */
export function handlersOf({ handlers = [] }: Project): readonly DefinedHandler[] {
  const module = Array.isArray(handlers) ? { default: handlers } : handlers;
  if (Array.isArray(handlers) && handlers.length === 0) return [];
  const collected = collectHandlers(module, 'the list of handlers', () => null);
  if (!collected.ok) throw new Error(`${collected.error.message}. ${collected.error.next}`);
  return collected.value;
}
