import type { Draft } from '../draft.ts';

/** [OP-2]: error rows of cleanup hooks go with a new run as all others do; their results stay. */
export function forgetFailedHooks(draft: Draft): void {
  const blockIds = (draft.plan.document.on_failure ?? []).map(({ id }) => id);
  if (blockIds.length === 0) return;
  draft.supersede({ blockIds, kinds: ['hook_error'], iteration: null, keepLatest: false });
}
