import { isDigits } from '../expressions/lexical.ts';
import { isJsonObject, type Json, type JsonObject, member } from '../json.ts';
import { combined, listOf, type SchemaView, typesOf, VIEWS_MAX, type WalkedSchema } from './schema-views.ts';

/**
 * Where a path leads by a schema. `unknown`: to where the schema says nothing; `missing`: to what cannot be there. `at` is
 * the number of segments before the one that decided it.
 */
export type Walked =
  | { readonly kind: 'unknown'; readonly at: number }
  | { readonly kind: 'missing'; readonly at: number }
  | { readonly kind: 'found'; readonly isOptional: boolean; readonly isNullable: boolean };

/** Follows the segments of a path through a schema (http-api.md 4.2). */
export function walkSchema(schema: WalkedSchema, segments: readonly string[]): Walked {
  let views = schema.viewsOf(schema.root);
  let isOptional = false;
  let isNullable = false;
  for (const [at, segment] of segments.entries()) {
    isNullable ||= views.some(allowsNull);
    const usable = views.filter((view) => !isNullOnly(view));
    const steps = usable.map((view) => step(schema, view, segment));
    if (steps.includes('unknown')) return { kind: 'unknown', at };
    const found = steps.filter((next) => typeof next === 'object');
    if (found.length === 0) return { kind: 'missing', at };
    isOptional ||= found.length < usable.length || found.some((next) => next.isOptional);
    views = found.flatMap((next) => next.views);
    if (views.length > VIEWS_MAX) return { kind: 'unknown', at };
    if (views.length === 0) return { kind: 'missing', at };
  }
  return { kind: 'found', isOptional, isNullable: isNullable || views.some(allowsNull) };
}

type Step = 'unknown' | 'missing' | { readonly views: readonly SchemaView[]; readonly isOptional: boolean };

/** A declared property is a property even when its name is a number. */
function step(schema: WalkedSchema, view: SchemaView, segment: string): Step {
  const declared = view.flatMap((part) => own(member(part, 'properties'), segment));
  if (declared.length > 0) {
    const isRequired = view.some((part) => listOf(part, 'required').includes(segment));
    return { views: together(schema, declared), isOptional: !isRequired };
  }
  if (isDigits(segment)) return element(schema, view, Number(segment));
  const isClosed = view.some(
    (part) =>
      member(part, 'additionalProperties') === false && member(part, 'patternProperties') === undefined,
  );
  return isClosed && !isArray(view) ? 'missing' : 'unknown';
}

function element(schema: WalkedSchema, view: SchemaView, index: number): Step {
  const declared = view.flatMap((part) => elementOf(part, index));
  if (declared.length === 0) return saysNothing(view) ? 'unknown' : 'missing';
  const least = view.map((part) => member(part, 'minItems')).filter((count) => typeof count === 'number');
  return { views: together(schema, declared), isOptional: index >= Math.max(0, ...least) };
}

function elementOf(part: JsonObject, index: number): readonly Json[] {
  const placed = listOf(part, 'prefixItems')[index] ?? member(part, 'items');
  return placed === undefined ? [] : [placed];
}

function together(schema: WalkedSchema, schemas: readonly Json[]): readonly SchemaView[] {
  return schemas.map(schema.viewsOf).reduce(combined);
}

function own(properties: Json | undefined, name: string): readonly Json[] {
  const found = isJsonObject(properties) ? member(properties, name) : undefined;
  return found === undefined ? [] : [found];
}

function isArray(view: SchemaView): boolean {
  return view.some((part) => typesOf(part)?.includes('array') ?? elementOf(part, 0).length > 0);
}

/** Keywords that say something about the form of a value. */
const FORM_KEYWORDS = ['type', 'enum', 'const', 'properties', 'required', 'additionalProperties'];

function saysNothing(view: SchemaView): boolean {
  return !view.some((part) => FORM_KEYWORDS.some((keyword) => Object.hasOwn(part, keyword)));
}

/** True when null is named among what a value may be, and nothing else forbids it. */
function allowsNull(view: SchemaView): boolean {
  const named = view.map(namesNull);
  return named.includes(true) && !named.includes(false);
}

function isNullOnly(view: SchemaView): boolean {
  return view.some((part) => {
    const types = typesOf(part);
    return (types !== undefined && types.every((type) => type === 'null')) || member(part, 'const') === null;
  });
}

/** Whether a schema lists null among the allowed values or types; undefined when it lists neither. */
function namesNull(part: JsonObject): boolean | undefined {
  const types = typesOf(part);
  const values = member(part, 'enum') === undefined ? undefined : listOf(part, 'enum');
  const constant = member(part, 'const');
  const answers = [
    types?.includes('null'),
    values?.includes(null),
    constant === undefined ? undefined : constant === null,
  ];
  if (answers.includes(false)) return false;
  return answers.includes(true) ? true : undefined;
}
