import fc from 'fast-check';
import { type Json, type JsonObject, jsonObject } from '../../../src/core/json.ts';

/** A schema, and values that fit it. */
export interface SchemaWithValues {
  readonly schema: Json;
  readonly value: fc.Arbitrary<Json>;
}

const NAMES = ['a', 'b', 'c-d', '0', '1', 'class', '__proto__', 'é "x"'];

const leaf: fc.Arbitrary<SchemaWithValues> = fc.constantFrom<SchemaWithValues>(
  { schema: { type: 'string' }, value: fc.string() },
  { schema: { type: 'integer' }, value: fc.integer() },
  { schema: { type: 'number' }, value: fc.integer().map((n) => n / 4) },
  { schema: { type: 'boolean' }, value: fc.boolean() },
  { schema: { type: 'null' }, value: fc.constant(null) },
  { schema: { type: ['string', 'null'] }, value: fc.option(fc.string()) },
  { schema: { enum: ['x', 7, 'y', null] }, value: fc.constantFrom<Json>('x', 7, 'y', null) },
  { schema: { const: 'only' }, value: fc.constant('only') },
);

interface Part {
  readonly name: string;
  readonly inner: SchemaWithValues;
  readonly isRequired: boolean;
}

function objectOf(parts: readonly Part[], isOpen: boolean): SchemaWithValues {
  const properties = jsonObject(parts.map(({ name, inner }) => [name, inner.schema]));
  const required = parts.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const members = parts.map(({ name, inner, isRequired }) =>
    fc
      .tuple(inner.value, isRequired ? fc.constant(true) : fc.boolean())
      .map(([value, isThere]) => ({ name, value, isThere })),
  );
  const extra: fc.Arbitrary<readonly (readonly [string, Json])[]> = isOpen
    ? fc.constantFrom([], [['more', 1]])
    : fc.constant([]);
  return {
    schema: { type: 'object', properties, required, ...(isOpen ? {} : { additionalProperties: false }) },
    value: fc.tuple(fc.tuple(...members), extra).map(([found, more]): JsonObject => {
      const there = found.filter(({ isThere }) => isThere);
      return jsonObject([...there.map(({ name, value }) => [name, value] as const), ...more]);
    }),
  };
}

function listOf(inner: SchemaWithValues, minItems: number): SchemaWithValues {
  return {
    schema: { type: 'array', items: inner.schema, ...(minItems === 0 ? {} : { minItems }) },
    value: fc.array(inner.value, { minLength: minItems, maxLength: minItems + 1 }),
  };
}

function eitherOf(left: SchemaWithValues, right: SchemaWithValues): SchemaWithValues {
  return { schema: { anyOf: [left.schema, right.schema] }, value: fc.oneof(left.value, right.value) };
}

/** Schemas whose every part names its type. */
export const { schema: schemas } = fc.letrec<{ schema: SchemaWithValues; object: SchemaWithValues }>(
  (tie) => ({
    object: fc
      .tuple(
        fc.uniqueArray(
          fc.record({ name: fc.constantFrom(...NAMES), inner: tie('schema'), isRequired: fc.boolean() }),
          { selector: ({ name }) => name, maxLength: 4 },
        ),
        fc.boolean(),
      )
      .map(([parts, isOpen]) => objectOf(parts, isOpen)),
    schema: fc.oneof(
      { depthSize: 'small', maxDepth: 4 },
      leaf,
      tie('object'),
      fc.tuple(tie('schema'), fc.nat(2)).map(([inner, least]) => listOf(inner, least)),
      fc.tuple(tie('schema'), tie('schema')).map(([left, right]) => eitherOf(left, right)),
      tie('object'),
    ),
  }),
);

/** Names to walk along. */
export const paths = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 });
