/** Every name of the table in handlers.md 13: users' handlers may not take them. */
export const BUILT_IN_NAMES: ReadonlySet<string> = new Set([
  'noop',
  'log',
  'transform',
  'assert',
  'sleep',
  'fail',
  'set_state',
  'get_state',
  'delete_state',
  'merge_state',
  'http_request',
  'tool_call',
  'emit_event',
  'send_signal',
  'query_instance',
  'wait_for_event',
  'human_review',
  'self_modify',
  'continue_as_new',
  'blob_put',
  'blob_get',
  'llm_call',
  'embed',
  'agent',
  'mcp_call',
  'memory_store',
  'memory_search',
  'memory_delete',
]);

/** Executed by the engine core itself, there is nothing to call. */
export const ENGINE_EXECUTED_NAMES: ReadonlySet<string> = new Set(['sleep']);

/** Names of a user's handlers [REG-1]; `@` is for versions such as `charge@2` (RULINGS B8). */
const HANDLER_NAME = /^[A-Za-z_][A-Za-z0-9_.:@-]{0,127}$/;

/** Why a user's handler cannot have this name, null when it can [REG-1]. */
export function handlerNameProblem(name: string): string | null {
  if (BUILT_IN_NAMES.has(name)) return `${name} is the name of a built-in handler; choose another name`;
  if (HANDLER_NAME.test(name)) return null;
  return `"${name}" is no handler name: a letter or _, then up to 127 letters, digits or _ . : @ -`;
}
