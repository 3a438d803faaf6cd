import type { StepBlock } from '../../definition/document.ts';
import type { Scope } from '../../expressions/scope.ts';
import { type Json, isJsonObject, jsonObject } from '../../json.ts';
import type { ViewOfContext } from '../context-section.ts';
import type { Draft } from '../draft.ts';
import type { Leaf } from '../frame.ts';
import { viewWithResource } from '../limits/resource.ts';
import { type Place, scopeAt } from '../place.ts';
import type { InstanceRecord } from '../record.ts';
import { runtimeSection } from '../runtime-section.ts';

/** The view of a step's context ([ACC-1] to [ACC-3]). */
export function contextView(draft: Draft, place: Place, block: StepBlock, leaf: Leaf): ViewOfContext {
  return contextLater(draft, scopeAt(draft, place), block, leaf)();
}

/** The same of what is seen in a scope, as it is now; made when it is asked for, since few handlers do. */
export function contextLater(
  { record }: Pick<Draft, 'record'>,
  scope: Scope,
  block: StepBlock,
  leaf: Leaf,
): () => ViewOfContext {
  const { config, audit } = record;
  return () => viewWithResource(viewOf({ config, audit, record }, scope, block, leaf.attempt), leaf);
}

/** The sections of a context as they were at some moment; the record goes on changing. */
interface Viewed extends Pick<InstanceRecord, 'config' | 'audit'> {
  readonly record: InstanceRecord;
}

/** The same without what a pool gave. */
export function viewOf(
  { config, audit, record }: Viewed,
  scope: Scope,
  block: StepBlock,
  attempt: number,
): ViewOfContext {
  const access = block.context_access;
  return {
    data: visibleData(withBindings(scope), access?.data ?? true),
    config: access?.config === false ? {} : config,
    audit: access === undefined || access.audit ? audit : [],
    // Few of those who ask for a view ask for it.
    get runtime() {
      return access === undefined || access.runtime ? runtimeSection(record, attempt) : {};
    },
  };
}

/** What a view is made of, as it is now. */
export function viewedNow({ record }: Pick<Draft, 'record'>): Viewed {
  return { config: record.config, audit: record.audit, record };
}

/** Bindings and `_error` count as keys of data ([ACC-4]). */
function withBindings(scope: Scope): Json {
  if (scope.items.size === 0 && scope.error === undefined) return scope.data;
  const bound: [string, Json][] = [...scope.items];
  if (scope.error !== undefined) bound.push(['_error', scope.error]);
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
  const view = viewOf(viewedNow(draft), full, block, attempt);
  // A name that is bound stays a root, so that what may not be seen is null and no mistake of the author.
  const seen = (name: string): boolean => isJsonObject(view.data) && Object.hasOwn(view.data, name);
  const items = new Map([...full.items].map(([name, item]) => [name, seen(name) ? item : null]));
  // `_error` needs no overlay: where it may be seen, the view already holds it.
  const { error: _, ...rest } = full;
  return { ...rest, data: view.data, config: view.config, runtime: () => view.runtime, items };
}
