import type { Scope } from '../../expressions/scope.ts';
import { type JsonObject, isJsonObject, mergeObjects } from '../../json.ts';
import type { ViewOfContext } from '../context-section.ts';
import type { Leaf } from '../frame.ts';

/** Shows the resource that a pool gave to this attempt as `runtime.resource_key`, where `runtime` may be seen (11.4). */
export function viewWithResource(view: ViewOfContext, leaf: Leaf): ViewOfContext {
  const resource = leaf.taken?.resource;
  return resource === undefined ? view : { ...view, runtime: shown(view.runtime, resource) };
}

/** The same for what templates see. */
export function withResource(scope: Scope, leaf: Leaf): Scope {
  const resource = leaf.taken?.resource;
  if (resource === undefined) return scope;
  const runtime = scope.runtime();
  return { ...scope, runtime: () => (isJsonObject(runtime) ? shown(runtime, resource) : runtime) };
}

function shown(runtime: JsonObject, resource: string): JsonObject {
  return Object.hasOwn(runtime, 'resource_key') ? mergeObjects(runtime, { resource_key: resource }) : runtime;
}
