import { prepareSchema } from '../../definition/schema/prepare-schema.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, member } from '../../json.ts';
import { listOf, typesOf } from '../schema-views.ts';
import {
  ANYTHING,
  bothOf,
  NOTHING,
  type Pay,
  type RecordMember,
  recordOf,
  type TypeShape,
  unionOf,
} from './type-shape.ts';

const LEVELS_MAX = 32;
const NODES_MAX = 4096;
/** Characters of names and values in one schema as it is rendered, references replaced by what they name. */
const CHARACTERS_MAX = 1024 * 1024;

/** What one document may still cost, over all its schemas: references make a small one large. */
export interface RenderBudget {
  nodes: number;
  characters: number;
}

export function newRenderBudget(): RenderBudget {
  return { nodes: 16 * NODES_MAX, characters: 4 * CHARACTERS_MAX };
}

interface Reading {
  readonly targets: ReadonlyMap<JsonObject, readonly Json[]>;
  readonly budget: RenderBudget;
  readonly own: RenderBudget;
  /** Schemas that are being read: one that comes back to itself says nothing further. */
  readonly open: Set<JsonObject>;
  isTooLarge: boolean;
}

/**
 * The shape of a schema, or null when it is too large to render: more than 32 levels, 4,096 schemas or 1 MiB of names with
 * its references resolved, or more than what is left for the document. A reference that comes back to a schema around it
 * is anything.
 */
export function readShape(schema: Json, budget: RenderBudget): TypeShape | null {
  const prepared = prepareSchema(schema);
  const reading: Reading = {
    targets: prepared.ok ? prepared.value.targets : new Map<JsonObject, readonly Json[]>(),
    budget,
    own: { nodes: NODES_MAX, characters: CHARACTERS_MAX },
    open: new Set(),
    isTooLarge: false,
  };
  const shape = shapeOf(reading, schema, 1);
  return reading.isTooLarge ? null : shape;
}

function spend(reading: Reading, nodes: number, characters: number): boolean {
  for (const budget of [reading.own, reading.budget]) {
    budget.nodes -= nodes;
    budget.characters -= characters;
    if (budget.nodes < 0 || budget.characters < 0) reading.isTooLarge = true;
  }
  return !reading.isTooLarge;
}

function shapeOf(reading: Reading, schema: Json, level: number): TypeShape {
  spend(reading, 1, 0);
  if (level > LEVELS_MAX) reading.isTooLarge = true;
  if (reading.isTooLarge || !isJsonObject(schema)) return schema === false ? NOTHING : ANYTHING;
  if (reading.open.has(schema)) return ANYTHING;
  reading.open.add(schema);
  const pay: Pay = (nodes, characters) => spend(reading, nodes, characters);
  const below = (inner: Json): TypeShape => shapeOf(reading, inner, level + 1);
  let shape = ownShape(reading, schema, below);
  for (const also of [...(reading.targets.get(schema) ?? []), ...listOf(schema, 'allOf')]) {
    shape = reading.isTooLarge ? ANYTHING : bothOf(shape, below(also), pay);
  }
  for (const keyword of ['anyOf', 'oneOf']) {
    const branches = listOf(schema, keyword);
    if (branches.length === 0 || reading.isTooLarge) continue;
    shape = bothOf(shape, unionOf(branches.map(below)), pay);
  }
  reading.open.delete(schema);
  return shape;
}

type Below = (schema: Json) => TypeShape;

/** What the keywords of a schema itself say, without those that bring in others. */
function ownShape(reading: Reading, schema: JsonObject, below: Below): TypeShape {
  const constant = member(schema, 'const');
  if (constant !== undefined) return valueShape(reading, constant);
  if (isJsonArray(member(schema, 'enum'))) {
    return unionOf(listOf(schema, 'enum').map((value) => valueShape(reading, value)));
  }
  return unionOf(
    (typesOf(schema) ?? impliedTypes(schema)).map((type) => typeShape(reading, schema, type, below)),
  );
}

/** A schema without `type` is taken for what its keywords are about. */
function impliedTypes(schema: JsonObject): readonly Json[] {
  if (Object.hasOwn(schema, 'properties')) return ['object'];
  return Object.hasOwn(schema, 'items') || Object.hasOwn(schema, 'prefixItems') ? ['array'] : [true];
}

const SCALARS = (['null', 'boolean', 'integer', 'number', 'string'] as const).map((kind) => ({ kind }));

function typeShape(reading: Reading, schema: JsonObject, type: Json, below: Below): TypeShape {
  if (type === 'array') return { kind: 'list', element: elementShape(schema, below) };
  if (type === 'object') return objectShape(reading, schema, below);
  return SCALARS.find(({ kind }) => kind === type) ?? ANYTHING;
}

function elementShape(schema: JsonObject, below: Below): TypeShape {
  const items = member(schema, 'items');
  return unionOf([
    ...listOf(schema, 'prefixItems').map(below),
    items === undefined ? ANYTHING : below(items),
  ]);
}

function objectShape(reading: Reading, schema: JsonObject, below: Below): TypeShape {
  const properties = member(schema, 'properties');
  const required = new Set(listOf(schema, 'required'));
  const members: RecordMember[] = [];
  for (const [name, inner] of Object.entries(isJsonObject(properties) ? properties : {})) {
    spend(reading, 0, name.length);
    if (reading.isTooLarge) break;
    members.push({ name, shape: below(inner), isRequired: required.has(name) });
  }
  return recordOf(members, member(schema, 'additionalProperties') !== false);
}

function valueShape(reading: Reading, value: Json): TypeShape {
  spend(reading, 1, typeof value === 'string' ? value.length : 1);
  if (isJsonArray(value)) return { kind: 'list', element: ANYTHING };
  return isJsonObject(value) ? { kind: 'map' } : { kind: 'literal', value };
}
