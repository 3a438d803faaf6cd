import type { Json, JsonObject } from '../../json.ts';
import { canonicalJson, isJsonArray, isJsonObject, member } from '../../json.ts';
import { type Check, type Evaluated, fail, goesOn, spend } from './evaluation.ts';
import { checkItems, checkMembers, checkUnevaluated } from './evaluate-parts.ts';
import { checkNumber, checkText } from './evaluate-scalars.ts';

/** The recursion goes along the value and along schemas of the same value; both are bounded, their product here. */
const MAX_EVALUATION_DEPTH = 400;

/** Judges a value by a schema ([SCHEMA-1], [INS-5]). The schema belongs to the run's prepared schema. */
export function evaluate(check: Check, schema: Json, value: Json): boolean {
  spend(check, 1);
  if (check.depth > MAX_EVALUATION_DEPTH) spend(check, Infinity);
  if (check.run.meter.left < 0) return false;
  if (!isJsonObject(schema)) return schema === true || fail(check, 'no value is allowed here');
  const evaluated: Evaluated | null = check.run.prepared.tracksEvaluated
    ? { members: new Set(), items: new Set() }
    : null;
  const inner: Check = evaluated === null ? check : { ...check, evaluated };
  let valid = true;
  for (const part of partsOf(schema)) {
    if (!part.judge(inner, schema, value)) valid = false;
    if (!goesOn(check, valid)) return false;
  }
  if (valid && evaluated !== null && check.evaluated !== null) {
    for (const name of evaluated.members) check.evaluated.members.add(name);
    for (const index of evaluated.items) check.evaluated.items.add(index);
  }
  return valid;
}

/** A group of keywords that are judged together. */
interface Part {
  readonly keywords: readonly string[];
  readonly judge: (check: Check, schema: JsonObject, value: Json) => boolean;
}

/** The order matters in one place: what is unevaluated is known when everything else has been looked at. */
const PARTS: readonly Part[] = [
  { keywords: ['type'], judge: checkType },
  { keywords: ['const', 'enum'], judge: checkValue },
  {
    keywords: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
    judge: (check, schema, value) => typeof value !== 'number' || checkNumber(check, schema, value),
  },
  {
    keywords: ['minLength', 'maxLength', 'pattern', 'format'],
    judge: (check, schema, value) => typeof value !== 'string' || checkText(check, schema, value),
  },
  {
    keywords: [
      ...['prefixItems', 'items', 'contains', 'minContains', 'maxContains'],
      ...['minItems', 'maxItems', 'uniqueItems'],
    ],
    judge: (check, schema, value) => !isJsonArray(value) || checkItems(check, schema, value, evaluate),
  },
  {
    keywords: [
      ...['properties', 'patternProperties', 'additionalProperties', 'propertyNames'],
      ...['required', 'dependentRequired', 'minProperties', 'maxProperties'],
    ],
    judge: (check, schema, value) => !isJsonObject(value) || checkMembers(check, schema, value, evaluate),
  },
  { keywords: ['$ref', '$dynamicRef'], judge: checkReference },
  { keywords: ['allOf', 'anyOf', 'oneOf', 'not'], judge: checkCombinations },
  { keywords: ['if', 'then', 'else'], judge: checkCondition },
  { keywords: ['dependentSchemas'], judge: checkDependentSchemas },
  {
    keywords: ['unevaluatedItems', 'unevaluatedProperties'],
    judge: (check, schema, value) => checkUnevaluated(check, schema, value, evaluate),
  },
];

/** Most schemas use two or three keywords, and looking for the others each time took most of the time. */
const knownParts = new WeakMap<JsonObject, readonly Part[]>();

function partsOf(schema: JsonObject): readonly Part[] {
  const known = knownParts.get(schema);
  if (known !== undefined) return known;
  const parts = PARTS.filter((part) => part.keywords.some((keyword) => Object.hasOwn(schema, keyword)));
  knownParts.set(schema, parts);
  return parts;
}

function checkType(check: Check, schema: JsonObject, value: Json): boolean {
  const type = member(schema, 'type');
  const allowed = (isJsonArray(type) ? type : [type]).filter((name) => typeof name === 'string');
  return allowed.some((name) => hasType(name, value)) || fail(check, `must be ${allowed.join(' or ')}`);
}

function hasType(name: string, value: Json): boolean {
  if (name === 'null') return value === null;
  if (name === 'array') return isJsonArray(value);
  if (name === 'object') return isJsonObject(value);
  if (name === 'integer') return typeof value === 'number' && Number.isInteger(value);
  return typeof value === name;
}

function checkValue(check: Check, schema: JsonObject, value: Json): boolean {
  const same = comparison(check, value);
  const constant = member(schema, 'const');
  if (constant !== undefined && !same(constant)) return fail(check, () => `must be ${brief(constant)}`);
  const choices = member(schema, 'enum');
  if (!isJsonArray(choices) || choices.some(same)) return true;
  return fail(check, () => `must be one of ${brief(choices)}`);
}

/** Compares values with one value, whose text is written at most once: it may be large, and the choices many. */
function comparison(check: Check, value: Json): (other: Json) => boolean {
  let text: string | null = null;
  return (other) => {
    spend(check, 0.1);
    if (value === other) return true;
    if (typeof value !== 'object' || typeof other !== 'object' || value === null || other === null)
      return false;
    if (text === null) {
      text = canonicalJson(value);
      spend(check, text.length / 16);
    }
    const otherText = canonicalJson(other);
    spend(check, otherText.length / 16);
    return text === otherText;
  };
}

/** A value in a message, short enough to read. */
function brief(value: Json): string {
  const text = canonicalJson(value);
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}

function checkReference(check: Check, schema: JsonObject, value: Json): boolean {
  const targets = check.run.prepared.targets.get(schema);
  return targets?.map((target) => evaluate(deeper(check), target, value)).includes(false) !== true;
}

function checkCombinations(check: Check, schema: JsonObject, value: Json): boolean {
  let valid = true;
  for (const part of listOf(schema, 'allOf')) {
    if (!evaluate(deeper(check), part, value)) valid = false;
    if (!goesOn(check, valid)) return false;
  }
  const any = listOf(schema, 'anyOf');
  if (any.length > 0 && countMatches(check, any, value, 1) === 0) {
    valid = fail(check, 'must match at least one schema of anyOf');
  }
  const one = listOf(schema, 'oneOf');
  if (one.length > 0) {
    const matches = countMatches(check, one, value, 2);
    const number = matches === 0 ? 'none' : 'several';
    if (matches !== 1) valid = fail(check, `must match exactly one schema of oneOf, matches ${number}`);
  }
  const not = member(schema, 'not');
  if (not !== undefined && evaluate(quiet(check, null), not, value)) {
    valid = fail(check, 'must not match the schema of not');
  }
  return valid;
}

/** Matching schemas, counted up to `enough`; all of them must be looked at when their traces are needed. */
function countMatches(check: Check, schemas: readonly Json[], value: Json, enough: number): number {
  let matches = 0;
  for (const schema of schemas) {
    if (evaluate(quiet(check, check.evaluated), schema, value)) matches += 1;
    if (matches >= enough && check.evaluated === null) break;
  }
  return matches;
}

function checkCondition(check: Check, schema: JsonObject, value: Json): boolean {
  const condition = member(schema, 'if');
  if (condition === undefined) return true;
  const branch = member(schema, evaluate(quiet(check, check.evaluated), condition, value) ? 'then' : 'else');
  return branch === undefined || evaluate(deeper(check), branch, value);
}

function checkDependentSchemas(check: Check, schema: JsonObject, value: Json): boolean {
  const dependent = member(schema, 'dependentSchemas');
  if (!isJsonObject(dependent) || !isJsonObject(value)) return true;
  let valid = true;
  for (const [name, part] of Object.entries(dependent)) {
    if (Object.hasOwn(value, name) && !evaluate(deeper(check), part, value)) valid = false;
    if (!goesOn(check, valid)) return false;
  }
  return valid;
}

function listOf(schema: JsonObject, keyword: string): readonly Json[] {
  const value = member(schema, keyword);
  return isJsonArray(value) ? value : [];
}

function deeper(check: Check): Check {
  return { ...check, depth: check.depth + 1 };
}

function quiet(check: Check, evaluated: Evaluated | null): Check {
  return { ...check, depth: check.depth + 1, report: false, evaluated };
}
