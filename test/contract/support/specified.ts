import type { JsonObject } from '../../../src/core/json.ts';
import { ALL_OBJECTS } from '../tables/more-objects.ts';
import { type Members, type Notation, schemaOf } from './notation.ts';

const schemas = new Map<Notation | Members, JsonObject>();

/** The shape of an answer, from the tables of http-api.md; one schema for each shape, so that it is read once. */
export function specified(shape: Notation | Members): JsonObject {
  const known = schemas.get(shape) ?? schemaOf(ALL_OBJECTS, shape);
  schemas.set(shape, known);
  return known;
}
