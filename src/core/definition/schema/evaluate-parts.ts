import type { Json, JsonObject } from '../../json.ts';
import { canonicalJson, isJsonArray, isJsonObject, member } from '../../json.ts';
import { type Check, fail, goesOn, into, type Judge, spend } from './evaluation.ts';
import { matchesPattern, numberOf } from './evaluate-scalars.ts';

/** The keywords about arrays, without `unevaluatedItems`. */
export function checkItems(check: Check, schema: JsonObject, value: readonly Json[], judge: Judge): boolean {
  const [least, most] = [numberOf(schema, 'minItems'), numberOf(schema, 'maxItems')];
  if (least !== undefined && value.length < least) return fail(check, `must have at least ${least} items`);
  if (most !== undefined && value.length > most) return fail(check, `must have at most ${most} items`);
  if (member(schema, 'uniqueItems') === true && !allDistinct(check, value)) {
    return fail(check, 'must not have duplicate items');
  }
  const items = checkEachItem(check, schema, value, judge);
  return goesOn(check, items) && checkContains(check, schema, value, judge) && items;
}

/** By canonical text, so that a large array costs its size and not the square of it. */
function allDistinct(check: Check, value: readonly Json[]): boolean {
  const seen = new Set<string>();
  for (const item of value) {
    const text = canonicalJson(item);
    spend(check, 1 + text.length / 16);
    if (seen.has(text)) return false;
    seen.add(text);
  }
  return true;
}

function checkEachItem(check: Check, schema: JsonObject, value: readonly Json[], judge: Judge): boolean {
  const prefix = member(schema, 'prefixItems');
  const rest = member(schema, 'items');
  const fixed = isJsonArray(prefix) ? prefix : [];
  if (fixed.length === 0 && rest === undefined) return true;
  let valid = true;
  for (const [index, item] of value.entries()) {
    const itemSchema = index < fixed.length ? fixed[index] : rest;
    if (itemSchema === undefined) break;
    if (!judge(into(check, index), itemSchema, item)) valid = false;
    check.evaluated?.items.add(index);
    if (!goesOn(check, valid)) return false;
  }
  return valid;
}

function checkContains(check: Check, schema: JsonObject, value: readonly Json[], judge: Judge): boolean {
  const wanted = member(schema, 'contains');
  if (wanted === undefined) return true;
  const least = numberOf(schema, 'minContains') ?? 1;
  const most = numberOf(schema, 'maxContains') ?? Infinity;
  let count = 0;
  for (const [index, item] of value.entries()) {
    if (!judge({ ...into(check, index), report: false }, wanted, item)) continue;
    count += 1;
    check.evaluated?.items.add(index);
  }
  if (count < least)
    return fail(check, `must contain at least ${least} items that match contains, has ${count}`);
  if (count > most)
    return fail(check, `must contain at most ${most} items that match contains, has ${count}`);
  return true;
}

/** The keywords about objects, without `dependentSchemas` and `unevaluatedProperties`. */
export function checkMembers(check: Check, schema: JsonObject, value: JsonObject, judge: Judge): boolean {
  const names = check.report ? Object.keys(value) : tagsFirst(schema, Object.keys(value));
  const [least, most] = [numberOf(schema, 'minProperties'), numberOf(schema, 'maxProperties')];
  if (least !== undefined && names.length < least) return fail(check, `must have at least ${least} members`);
  if (most !== undefined && names.length > most) return fail(check, `must have at most ${most} members`);
  let valid = checkRequired(check, schema, value);
  for (const name of names) {
    if (!goesOn(check, valid)) return false;
    if (!checkMember(check, schema, name, value, judge)) valid = false;
  }
  return valid;
}

/**
 * Members with a fixed value first: a branch of `oneOf` that is told apart by such a member is then left before its other
 * members are walked, which matters when they lead to the same choice again, level by level.
 */
function tagsFirst(schema: JsonObject, names: readonly string[]): readonly string[] {
  const properties = member(schema, 'properties');
  const isTag = (name: string): boolean => {
    const own = member(properties, name);
    return member(own, 'const') !== undefined || member(own, 'enum') !== undefined;
  };
  return [...names.filter(isTag), ...names.filter((name) => !isTag(name))];
}

function checkRequired(check: Check, schema: JsonObject, value: JsonObject): boolean {
  const needed = new Set(namesOf(member(schema, 'required')));
  const dependent = member(schema, 'dependentRequired');
  for (const [name, others] of isJsonObject(dependent) ? Object.entries(dependent) : []) {
    if (Object.hasOwn(value, name)) for (const other of namesOf(others)) needed.add(other);
  }
  spend(check, needed.size / 8);
  let valid = true;
  for (const name of needed) {
    if (!Object.hasOwn(value, name)) valid = fail(check, `must have the member '${name}'`);
  }
  return valid;
}

function checkMember(
  check: Check,
  schema: JsonObject,
  name: string,
  value: JsonObject,
  judge: Judge,
): boolean {
  spend(check, 0.5);
  const child = value[name] ?? null;
  let valid = true;
  const nameSchema = member(schema, 'propertyNames');
  if (nameSchema !== undefined && !judge({ ...into(check, name) }, nameSchema, name)) valid = false;
  const schemas = memberSchemas(check, schema, name);
  const additional = member(schema, 'additionalProperties');
  if (schemas.length === 0 && additional === false) return fail(check, `must not have the member '${name}'`);
  if (schemas.length === 0 && additional !== undefined) schemas.push(additional);
  for (const memberSchema of schemas) {
    check.evaluated?.members.add(name);
    if (!judge(into(check, name), memberSchema, child)) valid = false;
    if (!goesOn(check, valid)) return false;
  }
  return valid;
}

function memberSchemas(check: Check, schema: JsonObject, name: string): Json[] {
  const own = member(member(schema, 'properties'), name);
  const found = own === undefined ? [] : [own];
  const patterns = member(schema, 'patternProperties');
  for (const [pattern, patternSchema] of isJsonObject(patterns) ? Object.entries(patterns) : []) {
    if (matchesPattern(check, pattern, name)) found.push(patternSchema);
  }
  return found;
}

/** `unevaluatedItems` and `unevaluatedProperties`: what no other keyword of a matching schema has looked at. */
export function checkUnevaluated(check: Check, schema: JsonObject, value: Json, judge: Judge): boolean {
  if (isJsonArray(value)) {
    const rest = member(schema, 'unevaluatedItems');
    if (rest === undefined) return true;
    return value.every((item, index) => {
      if (check.evaluated?.items.has(index) === true) return true;
      check.evaluated?.items.add(index);
      return judge(into(check, index), rest, item);
    });
  }
  const rest = member(schema, 'unevaluatedProperties');
  if (rest === undefined || !isJsonObject(value)) return true;
  return Object.entries(value).every(([name, child]) => {
    if (check.evaluated?.members.has(name) === true) return true;
    check.evaluated?.members.add(name);
    if (rest === false) return fail(check, `must not have the member '${name}'`);
    return judge(into(check, name), rest, child);
  });
}

function namesOf(value: Json | undefined): readonly string[] {
  return isJsonArray(value) ? value.filter((name) => typeof name === 'string') : [];
}
