import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { API_PREFIX } from '../../../src/api/alias.ts';
import { openApiDocument } from '../../../src/api/openapi.ts';
import type { Route } from '../../../src/api/route.ts';
import { ROUTES } from '../../../src/api/routes/routes.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, member } from '../../../src/core/json.ts';

/** The document that the server sends. */
const DOCUMENT: JsonObject = openApiDocument(ROUTES, '0.1.0');

export const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;
export const fullPathOf = ({ mount, path }: Route): string => (mount === 'both' ? API_PREFIX : '') + path;

function at(value: Json | undefined, ...steps: readonly string[]): Json | undefined {
  return steps.reduce(member, value);
}

export function operationOf(route: Route): Json | undefined {
  return at(DOCUMENT, 'paths', fullPathOf(route), route.method.toLowerCase());
}

/** Statuses of success, and of errors with a body of their own. */
export function statusesOf(route: Route): readonly number[] {
  const responses = at(operationOf(route), 'responses');
  return Object.keys(isJsonObject(responses) ? responses : {})
    .filter((status) => /^\d+$/.test(status))
    .map(Number);
}

/** What a body may be: a media type and the schema of its value; null: there is none. */
export interface Content {
  readonly mediaType: string;
  readonly schema: JsonObject;
}

export function answerContent(route: Route, status: number): Content | null {
  return contentOf(at(operationOf(route), 'responses', String(status), 'content'));
}

export function bodyContent(route: Route): Content | null {
  return contentOf(at(operationOf(route), 'requestBody', 'content'));
}

function contentOf(content: Json | undefined): Content | null {
  if (!isJsonObject(content)) return null;
  const [mediaType = ''] = Object.keys(content);
  const schema = at(content, mediaType, 'schema');
  return { mediaType, schema: isJsonObject(schema) ? schema : {} };
}

const ERROR_SCHEMA = at(DOCUMENT, 'components', 'schemas', 'Error');

/** What a schema refers to stands in the document. */
function validatorOf(schema: JsonObject): Validator {
  const isWhole = !JSON.stringify(schema).includes('"$ref"');
  const whole = isWhole ? schema : { ...schema, components: at(DOCUMENT, 'components') };
  return new Validator(whole as Schema, '2020-12', false);
}

const validators = new Map<JsonObject, Validator>();

/** Every way in which a value does not fit a schema; empty when it fits. */
export function misfits(schema: JsonObject, value: unknown): readonly string[] {
  const validator = validators.get(schema) ?? validatorOf(schema);
  validators.set(schema, validator);
  const { valid, errors } = validator.validate(value);
  return valid
    ? []
    : errors.map(({ instanceLocation, error }: OutputUnit) => `${instanceLocation}: ${error}`);
}

/** As `misfits`, for the body of an error. */
export function errorMisfits(value: unknown): readonly string[] {
  return isJsonObject(ERROR_SCHEMA) ? misfits(ERROR_SCHEMA, value) : ['the document has no error'];
}

/**
 * Copies of a value, each with one member more than it had, for each object in it whose schema names its members. Of several
 * elements of a list the first is looked at. What a schema leaves to the user gets none.
 */
export function withStrangers(schema: JsonObject, value: Json): readonly Json[] {
  const branches = member(schema, 'anyOf') ?? member(schema, 'oneOf');
  if (isJsonArray(branches)) {
    const fitting = branches.filter(isJsonObject).find((branch) => misfits(branch, value).length === 0);
    return fitting === undefined ? [] : withStrangers(fitting, value);
  }
  if (isJsonArray(value)) {
    const items = member(schema, 'items');
    const [first, ...rest] = value;
    if (first === undefined || !isJsonObject(items)) return [];
    return withStrangers(items, first).map((copy) => [copy, ...rest]);
  }
  const properties = member(schema, 'properties');
  if (!isJsonObject(value) || !isJsonObject(properties)) return [];
  const inner = Object.entries(value).flatMap(([key, held]) => {
    const shape = member(properties, key);
    return isJsonObject(shape) ? withStrangers(shape, held).map((copy) => ({ ...value, [key]: copy })) : [];
  });
  return [{ ...value, stranger: 1 }, ...inner];
}
