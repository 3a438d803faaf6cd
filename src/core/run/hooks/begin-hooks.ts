import { type JsonObject, canonicalJson, utf8Bytes } from '../../json.ts';
import type { Draft } from '../draft.ts';
import { currentList } from '../plan.ts';
import { errorSummary } from '../failures.ts';
import { type FailedLeaf, ROOT_KEY } from '../frame.ts';
import type { TerminalState } from '../states.ts';
import { type HooksPending, hasHooksToRun } from './hooks-pending.ts';

/** The error object is stored with the hooks; beyond this it goes without the details of its errors. */
const ERROR_BYTES_MAX = 65_536;

/**
 * Notes in the terminal transaction what cleanup the end asks for ([HOOK-1], [HOOK-4]). Tasks that workers still have of
 * an earlier end are kept. Answers what the settle needs to know.
 */
export function beginHooks(
  draft: Draft,
  end: TerminalState,
  failures: readonly FailedLeaf[],
): { readonly dueAt: number | null; readonly openWaits: number } {
  const before = draft.record.hooks ?? null;
  const hooks = hooksOf(draft, end, failures) ?? before;
  if (hooks !== before) draft.instance.set({ hooks });
  return {
    dueAt: hasHooksToRun(hooks) ? draft.env.now : null,
    openWaits: hooks === null ? 0 : hooks.tasks.length,
  };
}

function hooksOf(draft: Draft, end: TerminalState, failures: readonly FailedLeaf[]): HooksPending | null {
  const { on_failure: onFailure, on_cancel: onCancel, interceptors } = draft.plan.document;
  const { runNo, runId, hooks } = draft.record;
  const common = { runNo, runId, next: 0, tasks: hooks?.tasks ?? [] };
  switch (end) {
    case 'completed':
      return null;
    case 'failed': {
      // An interceptor that is really called has to come after the end is durable, as the hooks do ([INT-4]).
      const wanted = (onFailure ?? []).length > 0 || interceptors?.on_failure?.invoke === true;
      return wanted ? { cause: 'on_failure', ...common, error: errorOf(draft, failures) } : null;
    }
    case 'cancelled':
      return (onCancel ?? []).length > 0 ? { cause: 'on_cancel', ...common } : null;
  }
}

/** [CERR-4]. */
function errorOf(draft: Draft, failures: readonly FailedLeaf[]): JsonObject {
  const list = draft.frames.get(ROOT_KEY);
  const root =
    list === undefined ? draft.plan.document.blocks[0] : currentList(draft.plan, list)[list.cursor];
  const error = {
    failed_blocks: root === undefined ? [] : [root.id],
    source: 'instance',
    block_id: null,
    errors: failures.map(errorSummary),
  };
  if (utf8Bytes(canonicalJson(error)) <= ERROR_BYTES_MAX) return error;
  const short = failures.slice(0, 100).map(({ blockId, failure: { message, code } }) => ({
    block_id: blockId,
    message: message.slice(0, 500),
    ...(code === undefined ? {} : { code }),
  }));
  return { ...error, errors: short };
}
