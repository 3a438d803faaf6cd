import { type Json, isJsonObject, mergeObjects } from '../../json.ts';
import type { Leaf } from '../frame.ts';

/** Shows the resource that a pool gave to this attempt as `runtime.resource_key`, where `runtime` may be seen (11.4). */
export function withResource<T extends { readonly runtime: Json }>(view: T, leaf: Leaf): T {
  const resource = leaf.taken?.resource;
  if (resource === undefined) return view;
  const { runtime } = view;
  if (!isJsonObject(runtime) || !Object.hasOwn(runtime, 'resource_key')) return view;
  return { ...view, runtime: mergeObjects(runtime, { resource_key: resource }) };
}
