import type { StepBlock } from '../../definition/document.ts';
import type { Scope } from '../../expressions/scope.ts';
import type { Draft } from '../draft.ts';
import type { ViewOfContext } from '../context-section.ts';
import { viewOf, viewScopeOf, viewedNow } from '../leaf/context-view.ts';
import { ROOT_PLACE, scopeAt } from '../place.ts';
import type { HooksPending } from './hooks-pending.ts';

/** What the texts of a hook see: the context as the run left it, and what failed as `data._error` ([CERR-4]). */
export function hookScope(draft: Draft, hooks: HooksPending): Scope {
  const scope = scopeAt(draft, ROOT_PLACE);
  return hooks.error === undefined ? scope : { ...scope, error: hooks.error };
}

/** The same as `context_access` of the hook leaves it ([TPL-2]). */
export function hookViewScope(draft: Draft, hooks: HooksPending, block: StepBlock): Scope {
  return viewScopeOf(draft, hookScope(draft, hooks), block, 0);
}

export function hookContext(draft: Draft, hooks: HooksPending, block: StepBlock): ViewOfContext {
  return viewOf(viewedNow(draft), hookScope(draft, hooks), block, 0);
}
