import type { Json, JsonObject } from '../json.ts';
import { isJsonObject } from '../json.ts';
import type { Result } from '../result.ts';
import { MAX_DOCUMENT_JSON_DEPTH } from './bounds.ts';
import { evaluate } from './schema/evaluate.ts';
import type { Run, Violation } from './schema/evaluation.ts';
import { type PreparedSchema, prepareSchema, type SchemaProblem } from './schema/prepare-schema.ts';

export type { Violation } from './schema/evaluation.ts';
export type { SchemaProblem } from './schema/prepare-schema.ts';

/**
 * Work that one validation may do: a basis, and a share for each part of the value. An ordinary schema looks at each part
 * a few times; one that combines references so that the work doubles with each level runs out after a moment.
 */
const BASE_BUDGET = 100_000;
const BUDGET_PER_PART = 64;
const CHARACTERS_PER_PART = 4;

/** What a schema needs is found out once; the memory of it goes with the schema. */
const preparedSchemas = new WeakMap<JsonObject, Result<PreparedSchema, readonly SchemaProblem[]>>();

/** Why a value is no JSON Schema that can be used here ([PUB-4]); empty when it is one. Pointers lead into the schema. */
export function schemaProblems(schema: Json): readonly SchemaProblem[] {
  const prepared = prepare(schema);
  return prepared.ok ? [] : prepared.error;
}

/**
 * Violations of a value against a schema of draft 2020-12, at most 100, in the order of the value; empty when it fits.
 * Pointers lead into the value. A schema that `schemaProblems` refuses lets nothing pass, and so does a validation that
 * would cost too much: the time is bounded by the size of the value, whatever the schema.
 */
export function validateAgainst(schema: Json, value: Json): readonly Violation[] {
  const prepared = prepare(schema);
  if (!prepared.ok) {
    const reasons = prepared.error.map(({ message }) => message).join('; ');
    return [{ pointer: '', message: `the schema cannot be used: ${reasons}` }];
  }
  const parts = countParts(value);
  if (parts === null) return [{ pointer: '', message: 'the value is nested too deeply to be checked' }];
  const run: Run = {
    prepared: prepared.value,
    meter: { left: BASE_BUDGET + BUDGET_PER_PART * parts },
    violations: [],
  };
  const valid = evaluate({ run, pointer: '', depth: 0, report: true, evaluated: null }, schema, value);
  // A failure without a violation would read as success, so it counts as a check that could not be made.
  if (run.meter.left < 0 || (!valid && run.violations.length === 0)) {
    return [{ pointer: '', message: 'the schema is too costly to check this value against' }];
  }
  return run.violations;
}

function prepare(schema: Json): Result<PreparedSchema, readonly SchemaProblem[]> {
  if (!isJsonObject(schema)) return prepareSchema(schema);
  const known = preparedSchemas.get(schema);
  if (known !== undefined) return known;
  const prepared = prepareSchema(schema);
  preparedSchemas.set(schema, prepared);
  return prepared;
}

/** Values inside a value, itself included, texts and names weighed by length; null when it is too deep to be walked. */
function countParts(value: Json): number | null {
  let parts = 0;
  const pending: { readonly value: Json; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    parts += typeof next.value === 'string' ? 1 + next.value.length / CHARACTERS_PER_PART : 1;
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth >= MAX_DOCUMENT_JSON_DEPTH) return null;
    const named = isJsonObject(next.value);
    for (const [name, child] of Object.entries(next.value)) {
      if (named) parts += name.length / CHARACTERS_PER_PART;
      pending.push({ value: child, depth: next.depth + 1 });
    }
  }
  return parts;
}
