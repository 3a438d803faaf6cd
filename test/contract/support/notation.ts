import type { JsonObject } from '../../../src/core/json.ts';

/**
 * The notation of http-api.md for the shape of a value (chapter 0): `uuid`, `str`, `int`, `num`, `bool`, `ts`, `ms`, `json`,
 * `obj`, `date`, `T[]`, `T|null`; any other word is a literal, `'null'` as well. `@name` is an object of the tables.
 */
export type Notation = string;

/**
 * Members of an object. `name?` may be absent. `+name` is not in http-api.md: it is an addition of the rulings or of
 * dashboard.md 4.3, which clients of the contract ignore.
 */
export interface Members {
  readonly [name: string]: Notation | Members;
}

export type Objects = Readonly<Record<string, Members>>;

const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
/** UTC with milliseconds (http-api.md 1.6). */
const INSTANT = '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$';

const BASE: Readonly<Record<string, JsonObject>> = {
  uuid: { type: 'string', pattern: UUID },
  str: { type: 'string' },
  int: { type: 'integer' },
  num: { type: 'number' },
  bool: { type: 'boolean' },
  true: { const: true },
  ts: { type: 'string', pattern: INSTANT },
  date: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d$' },
  ms: { type: 'integer', minimum: 0 },
  hex16: { type: 'string', pattern: '^[0-9a-f]{16}$' },
  hex64: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  json: {},
  obj: { type: 'object' },
  null: { type: 'null' },
};

/** The notation as JSON Schema; objects allow no members that the tables do not name. */
export function schemaOf(objects: Objects, shape: Notation | Members): JsonObject {
  if (typeof shape !== 'string') return objectSchema(objects, shape);
  const alternatives = shape.split('|');
  const [only] = alternatives;
  if (alternatives.length > 1) return { anyOf: alternatives.map((one) => schemaOf(objects, one)) };
  if (only?.endsWith('[]') === true) return { type: 'array', items: schemaOf(objects, only.slice(0, -2)) };
  if (shape.startsWith('@')) {
    const named = objects[shape.slice(1)];
    if (named === undefined) throw new Error(`The tables have no object ${shape}`);
    return objectSchema(objects, named);
  }
  return BASE[shape] ?? { const: shape.replace(/^'(.*)'$/, '$1') };
}

function objectSchema(objects: Objects, members: Members): JsonObject {
  const entries = Object.entries(members);
  return {
    type: 'object',
    additionalProperties: false,
    required: entries
      .map(([name]) => name)
      .filter((name) => !name.endsWith('?'))
      .map(bare),
    properties: Object.fromEntries(entries.map(([name, shape]) => [bare(name), schemaOf(objects, shape)])),
  };
}

const bare = (name: string): string => name.replace(/^\+/, '').replace(/\?$/, '');
