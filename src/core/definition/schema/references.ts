import type { Json } from '../../json.ts';
import { member } from '../../json.ts';
import { err, ok, type Result } from '../../result.ts';

/** Where a subschema stands: its resource (the nearest `$id`, or empty), the pointer in it, and the pointer from the top. */
export interface SchemaPlace {
  readonly resource: string;
  readonly pointer: string;
  readonly shown: string;
}

/** Subschemas by `resource#pointer` and `resource#anchor`. */
export type SchemaRegistry = Map<string, Json>;

/** Makes a subschema known under its pointer and its anchors; a text when a name is taken. */
export function registerSchema(registry: SchemaRegistry, schema: Json, place: SchemaPlace): string | null {
  const names = [place.pointer, ...anchorsOf(schema)];
  for (const name of names) {
    const key = `${withoutEmptyFragment(place.resource)}#${name}`;
    if (registry.has(key)) return 'an $id or $anchor is used twice';
    registry.set(key, schema);
  }
  return null;
}

/**
 * The schema a reference names. Only schemas of this document can be named: by pointer, by anchor, or by an `$id` as it
 * is written. Nothing is ever fetched.
 */
export function findTarget(
  registry: SchemaRegistry,
  reference: string,
  place: SchemaPlace,
): Result<Json, string> {
  const hash = reference.indexOf('#');
  const base = hash < 0 ? reference : reference.slice(0, hash);
  const fragment = hash < 0 ? '' : reference.slice(hash + 1);
  const resource = base === '' ? withoutEmptyFragment(place.resource) : base;
  if (!registry.has(`${resource}#`)) {
    return err('$ref names another document; references to other documents are not fetched');
  }
  const decoded = decodeFragment(fragment);
  const target = decoded === null ? undefined : registry.get(`${resource}#${decoded}`);
  return target === undefined ? err('$ref names no schema of this document') : ok(target);
}

function anchorsOf(schema: Json): readonly string[] {
  return ['$anchor', '$dynamicAnchor']
    .map((keyword) => member(schema, keyword))
    .filter((anchor): anchor is string => typeof anchor === 'string');
}

function withoutEmptyFragment(id: string): string {
  return id.endsWith('#') ? id.slice(0, -1) : id;
}

function decodeFragment(fragment: string): string | null {
  try {
    return decodeURIComponent(fragment);
  } catch {
    // A stray percent sign names nothing.
    return null;
  }
}
