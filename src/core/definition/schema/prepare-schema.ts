import type { Json, JsonObject } from '../../json.ts';
import { isJsonArray, isJsonObject, member } from '../../json.ts';
import { err, ok, type Result } from '../../result.ts';
import { jsonDepthExceeds } from '../bounds.ts';
import { keywordProblem } from './keyword-values.ts';
import { IN_PLACE_KEYWORDS, KEYWORDS } from './keywords.ts';
import { compilePattern, type LinearPattern } from './linear-pattern.ts';
import { findTarget, registerSchema, type SchemaPlace, type SchemaRegistry } from './references.ts';

export interface SchemaProblem {
  /** JSON pointer into the schema. */
  readonly pointer: string;
  readonly message: string;
}

/** A schema that is valid and safe to evaluate, with its references and patterns resolved. */
export interface PreparedSchema {
  readonly root: Json;
  /** What `$ref` and `$dynamicRef` of a schema name. */
  readonly targets: ReadonlyMap<JsonObject, readonly Json[]>;
  readonly patterns: ReadonlyMap<string, LinearPattern>;
  /** True when `unevaluated…` is used, which alone needs a record of what was looked at. */
  readonly tracksEvaluated: boolean;
}

const MAX_SCHEMA_JSON_DEPTH = 64;
const MAX_SUBSCHEMAS = 5000;
/** Longest way through schemas that judge the same value; the evaluation recurses along it. */
const MAX_IN_PLACE_CHAIN = 128;
/** All patterns of a schema together; their programs are kept as long as the schema is. */
const MAX_PATTERN_SIZE = 50_000;
const MAX_SCHEMA_PROBLEMS = 20;

interface Preparation {
  readonly registry: SchemaRegistry;
  readonly targets: Map<JsonObject, readonly Json[]>;
  readonly patterns: Map<string, LinearPattern>;
  readonly references: { readonly schema: JsonObject; readonly place: SchemaPlace; readonly text: string }[];
  readonly problems: SchemaProblem[];
  subschemas: number;
  patternSize: number;
  tracksEvaluated: boolean;
}

/**
 * Checks that a value is a JSON Schema of draft 2020-12 which can be evaluated safely ([PUB-4]), and prepares it.
 * Refused besides what is no schema: references to other documents, endless references, patterns that have no linear
 * matcher, more than 64 levels or 5,000 subschemas.
 */
export function prepareSchema(schema: Json): Result<PreparedSchema, readonly SchemaProblem[]> {
  if (!isJsonObject(schema) && typeof schema !== 'boolean') {
    return err([{ pointer: '', message: 'a JSON Schema is an object or a boolean' }]);
  }
  if (jsonDepthExceeds(schema, MAX_SCHEMA_JSON_DEPTH)) {
    return err([
      { pointer: '', message: `the schema is nested more than ${MAX_SCHEMA_JSON_DEPTH} levels deep` },
    ]);
  }
  const preparation: Preparation = {
    registry: new Map(),
    targets: new Map(),
    patterns: new Map(),
    references: [],
    problems: [],
    subschemas: 0,
    patternSize: 0,
    tracksEvaluated: false,
  };
  visitSchema(preparation, schema, { resource: '', pointer: '', shown: '' });
  resolveReferences(preparation);
  if (preparation.problems.length === 0) refuseEndlessReferences(preparation, schema);
  const { problems, targets, patterns, tracksEvaluated } = preparation;
  return problems.length === 0 ? ok({ root: schema, targets, patterns, tracksEvaluated }) : err(problems);
}

function refuse(preparation: Preparation, pointer: string, message: string): void {
  if (preparation.problems.length < MAX_SCHEMA_PROBLEMS) preparation.problems.push({ pointer, message });
}

function visitSchema(preparation: Preparation, schema: Json, outer: SchemaPlace): void {
  preparation.subschemas += 1;
  if (preparation.subschemas > MAX_SUBSCHEMAS) {
    if (preparation.subschemas === MAX_SUBSCHEMAS + 1) {
      refuse(preparation, '', `the schema has more than ${MAX_SUBSCHEMAS} subschemas`);
    }
    return;
  }
  if (!isJsonObject(schema)) {
    if (typeof schema !== 'boolean') refuse(preparation, outer.shown, 'a schema is an object or a boolean');
    registerSchema(preparation.registry, schema, outer);
    return;
  }
  const id = member(schema, '$id');
  const place = typeof id === 'string' ? { resource: id, pointer: '', shown: outer.shown } : outer;
  const clash = registerSchema(preparation.registry, schema, place);
  if (clash !== null) refuse(preparation, place.shown, clash);
  for (const [keyword, value] of Object.entries(schema))
    visitKeyword(preparation, schema, keyword, value, place);
}

function visitKeyword(
  preparation: Preparation,
  schema: JsonObject,
  keyword: string,
  value: Json,
  place: SchemaPlace,
): void {
  const kind = KEYWORDS.get(keyword);
  if (kind === undefined) return;
  const at = below(place, keyword);
  const problem = keywordProblem(keyword, kind, value);
  if (problem !== null) return refuse(preparation, at.shown, problem);
  if (keyword.startsWith('unevaluated')) preparation.tracksEvaluated = true;
  if (kind === 'reference' && typeof value === 'string') {
    preparation.references.push({ schema, place: at, text: value });
  }
  if (kind === 'pattern' && typeof value === 'string') usePattern(preparation, value, at.shown);
  if (kind === 'schema') visitSchema(preparation, value, at);
  if (kind === 'schemas' && isJsonArray(value)) {
    for (const [index, item] of value.entries()) visitSchema(preparation, item, below(at, String(index)));
  }
  if ((kind === 'schema map' || kind === 'pattern map') && isJsonObject(value)) {
    for (const [name, item] of Object.entries(value)) {
      const itemPlace = below(at, name);
      if (kind === 'pattern map') usePattern(preparation, name, itemPlace.shown);
      visitSchema(preparation, item, itemPlace);
    }
  }
}

function usePattern(preparation: Preparation, source: string, pointer: string): void {
  if (preparation.patterns.has(source)) return;
  const compiled = compilePattern(source);
  if (!compiled.ok) return refuse(preparation, pointer, compiled.error);
  preparation.patterns.set(source, compiled.value);
  preparation.patternSize += compiled.value.size;
  if (preparation.patternSize > MAX_PATTERN_SIZE) {
    refuse(preparation, pointer, 'the patterns of the schema are too large together');
  }
}

function resolveReferences(preparation: Preparation): void {
  const { targets } = preparation;
  for (const { schema, place, text } of preparation.references) {
    const target = findTarget(preparation.registry, text, place);
    if (target.ok) targets.set(schema, [...(targets.get(schema) ?? []), target.value]);
    else refuse(preparation, place.shown, target.error);
  }
}

/**
 * A reference that leads back to itself without going into the value would be evaluated for ever, and a long chain would
 * exhaust the stack. References that go into the value end where the value ends.
 */
function refuseEndlessReferences(preparation: Preparation, root: Json): void {
  const lengths = new Map<JsonObject, number>();
  const chainLength = (schema: Json, above: number): number => {
    if (!isJsonObject(schema)) return 0;
    const known = lengths.get(schema);
    if (known !== undefined) return known;
    if (above > MAX_IN_PLACE_CHAIN) return Infinity;
    // A schema that is met again while its own length is still open is part of a circle.
    lengths.set(schema, Infinity);
    const length =
      1 + Math.max(0, ...inPlace(preparation, schema).map((next) => chainLength(next, above + 1)));
    lengths.set(schema, length);
    return length;
  };
  const schemas = [root, ...[...preparation.registry.values()]];
  if (schemas.some((schema) => chainLength(schema, 0) > MAX_IN_PLACE_CHAIN)) {
    refuse(
      preparation,
      '',
      'a $ref leads back to itself without going into the value, or the chain is too long',
    );
  }
}

/** Schemas that judge the same value as this one. */
function inPlace(preparation: Preparation, schema: JsonObject): readonly Json[] {
  const next = [...(preparation.targets.get(schema) ?? [])];
  for (const keyword of IN_PLACE_KEYWORDS) {
    const value = member(schema, keyword);
    if (value === undefined) continue;
    if (isJsonArray(value)) next.push(...value);
    else if (keyword === 'dependentSchemas' && isJsonObject(value)) next.push(...Object.values(value));
    else next.push(value);
  }
  return next;
}

function below(place: SchemaPlace, name: string): SchemaPlace {
  const part = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return { resource: place.resource, pointer: place.pointer + part, shown: place.shown + part };
}
