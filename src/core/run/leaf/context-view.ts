import type { StepBlock } from '../../definition/document.ts';
import type { Scope } from '../../expressions/scope.ts';
import { type Json, isJsonObject, jsonObject } from '../../json.ts';
import type { ViewOfContext } from '../context-section.ts';
import type { Draft } from '../draft.ts';
import { type Place, scopeAt } from '../place.ts';
import { runtimeSection } from '../runtime-section.ts';

/** The view of a step's context ([ACC-1] to [ACC-3]). */
export function contextView(draft: Draft, place: Place, block: StepBlock, attempt: number): ViewOfContext {
  return viewOf(draft, scopeAt(draft, place), block, attempt);
}

/** The same of what is seen in a scope. */
export function viewOf(draft: Draft, scope: Scope, block: StepBlock, attempt: number): ViewOfContext {
  const access = block.context_access;
  const { record } = draft;
  return {
    data: visibleData(withBindings(scope), access?.data ?? true),
    config: access?.config === false ? {} : record.config,
    audit: access === undefined || access.audit ? record.audit : [],
    // Few handlers ask for it.
    get runtime() {
      return access === undefined || access.runtime ? runtimeSection(record, attempt) : {};
    },
  };
}

/** Bindings and `_error` count as keys of data ([ACC-4]). */
function withBindings(scope: Scope): Json {
  const bound: [string, Json][] = [...scope.items];
  if (scope.error !== undefined) bound.push(['_error', scope.error]);
  if (bound.length === 0) return scope.data;
  return jsonObject([...(isJsonObject(scope.data) ? Object.entries(scope.data) : []), ...bound]);
}

function visibleData(
  data: Json,
  rule: boolean | 'all' | 'none' | { readonly fields: readonly string[] },
): Json {
  if (rule === true || rule === 'all') return data;
  if (rule === false || rule === 'none') return {};
  if (!isJsonObject(data)) return rule.fields.length > 0 ? data : {};
  return jsonObject(
    rule.fields.filter((key) => Object.hasOwn(data, key)).map((key) => [key, data[key] ?? null]),
  );
}

/** What the templates of a step see ([TPL-2]): outputs, state and instance id are not limited. */
export function viewScope(draft: Draft, place: Place, block: StepBlock, attempt: number): Scope {
  return viewScopeOf(draft, scopeAt(draft, place), block, attempt);
}

export function viewScopeOf(draft: Draft, full: Scope, block: StepBlock, attempt: number): Scope {
  if (block.context_access === undefined) return full;
  const view = viewOf(draft, full, block, attempt);
  // A name that is bound stays a root, so that what may not be seen is null and no mistake of the author.
  const seen = (name: string): boolean => isJsonObject(view.data) && Object.hasOwn(view.data, name);
  const items = new Map([...full.items].map(([name, item]) => [name, seen(name) ? item : null]));
  // `_error` needs no overlay: where it may be seen, the view already holds it.
  const { error: _, ...rest } = full;
  return { ...rest, data: view.data, config: view.config, runtime: view.runtime, items };
}
