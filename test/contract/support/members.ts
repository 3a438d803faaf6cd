import { isJsonArray, isJsonObject, type Json, type JsonObject, member } from '../../../src/core/json.ts';
import { misfits } from './documented.ts';

/** Called for each object of a schema, with its way from the top (`[].context`) and, where there is one, its value. */
type Visitor = (
  object: { readonly kind: string; readonly names: readonly string[] },
  way: string,
  value?: Json,
) => void;

/**
 * Goes through the objects of a schema; with a value, through those that the value has. Objects with the same members are one
 * kind, wherever they are shown.
 */
export function visitObjects(visit: Visitor, schema: JsonObject, way = '', value?: Json): void {
  const branches = [member(schema, 'anyOf'), member(schema, 'oneOf')].flatMap((one) =>
    isJsonArray(one) ? one : [],
  );
  for (const branch of branches.filter(isJsonObject)) {
    if (value === undefined || misfits(branch, value).length === 0) visitObjects(visit, branch, way, value);
  }
  const items = member(schema, 'items');
  if (isJsonObject(items)) {
    if (value === undefined) visitObjects(visit, items, `${way}[]`);
    else for (const one of isJsonArray(value) ? value : []) visitObjects(visit, items, `${way}[]`, one);
  }
  const properties = member(schema, 'properties');
  if (!isJsonObject(properties) || (value !== undefined && !isJsonObject(value))) return;
  const names = Object.keys(properties);
  visit({ kind: names.toSorted().join(), names }, way, value);
  for (const [name, shape] of Object.entries(properties)) {
    const held = member(value, name);
    if (isJsonObject(shape) && (value === undefined || held !== undefined)) {
      visitObjects(visit, shape, `${way}.${name}`, held);
    }
  }
}
