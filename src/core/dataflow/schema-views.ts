import { prepareSchema } from '../definition/schema/prepare-schema.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, member } from '../json.ts';

/** Schemas that hold together for one value: a schema itself, what its references name, and its `allOf`. */
export type SchemaView = readonly JsonObject[];

/** A schema that is walked: every value fits at least one of the views of its place. */
export interface WalkedSchema {
  readonly root: Json;
  /** The views of a schema inside it. None: no value fits it. A view without parts says nothing. */
  readonly viewsOf: (schema: Json) => readonly SchemaView[];
}

/** Beyond so many combinations of `anyOf` and `oneOf` nothing is said about a value. */
export const VIEWS_MAX = 64;

const NOTHING_SAID: readonly SchemaView[] = [[]];

/**
 * A schema for walking along paths. Each part is looked at once, however many references name it. One that is no usable
 * schema is walked without its references.
 */
export function walkedSchema(root: Json): WalkedSchema {
  const prepared = prepareSchema(root);
  const targets = prepared.ok ? prepared.value.targets : new Map<JsonObject, readonly Json[]>();
  const known = new Map<JsonObject, readonly SchemaView[]>();
  const viewsOf = (schema: Json): readonly SchemaView[] => {
    if (schema === false) return [];
    if (!isJsonObject(schema)) return NOTHING_SAID;
    const before = known.get(schema);
    if (before !== undefined) return before;
    // Until it is known, which only an endless reference would notice.
    known.set(schema, NOTHING_SAID);
    let views: readonly SchemaView[] = [[schema]];
    for (const also of [...(targets.get(schema) ?? []), ...listOf(schema, 'allOf')]) {
      views = combined(views, viewsOf(also));
    }
    for (const keyword of ['anyOf', 'oneOf']) {
      const branches = listOf(schema, keyword);
      if (branches.length > 0) views = combined(views, branches.flatMap(viewsOf));
    }
    known.set(schema, views);
    return views;
  };
  return { root, viewsOf };
}

/** Every view of one side together with every view of the other. */
export function combined(left: readonly SchemaView[], right: readonly SchemaView[]): readonly SchemaView[] {
  if (left.length * right.length > VIEWS_MAX) return NOTHING_SAID;
  return left.flatMap((one) => right.map((other) => [...one, ...other]));
}

/** The elements of a keyword whose value is a list; none when it is absent or something else. */
export function listOf(schema: JsonObject, keyword: string): readonly Json[] {
  const value = member(schema, keyword);
  return isJsonArray(value) ? value : [];
}

/** The types that a schema names; undefined when it names none. */
export function typesOf(schema: JsonObject): readonly Json[] | undefined {
  const type = member(schema, 'type');
  if (type === undefined) return undefined;
  return isJsonArray(type) ? type : [type];
}
