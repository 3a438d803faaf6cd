/** [CB-3]: handlers without a circuit breaker. */
const UNTRACKED: ReadonlySet<string> = new Set([
  'noop',
  'log',
  'sleep',
  'fail',
  'self_modify',
  'emit_event',
  'send_signal',
  'query_instance',
  'human_review',
  'transform',
  'assert',
  'set_state',
  'get_state',
  'delete_state',
  'merge_state',
  'wait_for_event',
  'blob_put',
  'blob_get',
]);

export function isTracked(handler: string): boolean {
  return !UNTRACKED.has(handler);
}

/** [BUD-2]: attempts of these count as external calls, and so does every worker task. */
const EXTERNAL: ReadonlySet<string> = new Set(['http_request', 'tool_call', 'mcp_call', 'llm_call', 'embed']);

export function callsOutside(handler: string): boolean {
  return EXTERNAL.has(handler);
}

/** Handlers whose output may carry `usage` in tokens ([LLM-6]). */
const MODELS: ReadonlySet<string> = new Set(['llm_call', 'embed', 'agent']);

export function callsModel(handler: string): boolean {
  return MODELS.has(handler);
}
