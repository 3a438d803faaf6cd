import * as z from 'zod';
import { SequenceDocument } from '../core/definition/document.ts';
import { type Json, type JsonObject, isJsonArray, isJsonObject, member } from '../core/json.ts';
import { API_PREFIX } from './alias.ts';
import { takesIdempotencyKey } from './idempotent-call.ts';
import type { Access, Route } from './route.ts';
import { JsonObjectValue } from './schemas/wire-values.ts';

const ERROR_STATUSES = { '4XX': 'The request was refused', '5XX': 'The server could not answer' } as const;

/** The schema of a JSON value, in the dialect of OpenAPI 3.1 (draft 2020-12). What a schema only checks in code is left open. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' });
  // A schema as zod writes it is JSON throughout.
  return JsonObjectValue.parse(JSON.parse(JSON.stringify(rest)));
}

/**
 * The OpenAPI 3.1 document of the API, made from the same schemas that check requests (http-api.md 2). Bare aliases of
 * prefixed paths are left out; every operation may answer an `Error`.
 */
export function openApiDocument(routes: readonly Route[], version: string): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    const path = (route.mount === 'both' ? API_PREFIX : '') + route.path;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Stepwell', version, description: 'Durable workflows with no server to keep alive.' },
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: { Error: ERROR_SCHEMA, ...sequenceSchemas() },
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  };
}

const ERROR_SCHEMA: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['error', 'code', 'request_id'],
  properties: {
    error: { type: 'string', description: 'What is wrong and where' },
    code: { type: 'string', description: 'A stable code' },
    details: {},
    request_id: { type: 'string' },
  },
};

/** A sequence document as it is sent, and its blocks: these hold blocks, so that they need a name. */
function sequenceSchemas(): JsonObject {
  const { $defs, ...document } = jsonSchema(SequenceDocument, 'input');
  const [[name, block] = ['', {}]] = Object.entries(isJsonObject($defs) ? $defs : {});
  const text = JSON.stringify({ Sequence: document, Block: block });
  return JsonObjectValue.parse(JSON.parse(text.replaceAll(`#/$defs/${name}`, '#/components/schemas/Block')));
}

function operation(route: Route): JsonObject {
  const body = requestBody(route);
  return {
    operationId: operationId(route),
    tags: [route.tag],
    summary: route.summary,
    parameters: [
      ...parameters(route.params, 'path'),
      ...parameters(route.query, 'query'),
      ...tenantHeader(route.access),
      ...idempotencyHeader(route),
    ],
    ...(body === null ? {} : { requestBody: body }),
    responses: { ...answers(route), ...errorAnswers() },
    security: route.access === 'public' ? [] : [{ apiKey: [] }, { bearer: [] }],
  };
}

/** `getInstancesByIdTree` for `GET /instances/{id}/tree`. */
function operationId({ method, path }: Route): string {
  const words = path
    .split(/[/_.-]/)
    .filter((word) => word !== '')
    .map((word) => word.replace(/^\{(\w+)\}$/, (_, name: string) => `By-${name}`))
    .flatMap((word) => word.split(/[-_]/));
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function parameters(schema: z.ZodType, place: 'path' | 'query'): Json[] {
  const { properties, required } = jsonSchema(schema, 'input');
  const needed = isJsonArray(required) ? required : [];
  return Object.entries(isJsonObject(properties) ? properties : {}).map(([name, shape]) => ({
    name,
    in: place,
    required: place === 'path' || needed.includes(name),
    schema: parameterSchema(shape),
  }));
}

/** What stands in a path or query is never null, and a default that a schema makes after reading is told by `x-default`. */
function parameterSchema(shape: Json): Json {
  if (!isJsonObject(shape)) return shape;
  const { anyOf, type, 'x-default': standard, ...rest } = shape;
  const branches = isJsonArray(anyOf) ? anyOf.filter((branch) => member(branch, 'type') !== 'null') : [];
  const types = isJsonArray(type) ? type.filter((name) => name !== 'null') : [type ?? null];
  const [only] = branches;
  return {
    ...rest,
    ...(branches.length === 1 && isJsonObject(only) ? only : anyOf === undefined ? {} : { anyOf: branches }),
    ...(type === undefined ? {} : { type: types[0] ?? 'string' }),
    ...(standard === undefined ? {} : { default: standard }),
  };
}

function tenantHeader(access: Access): Json[] {
  if (access !== 'tenant') return [];
  const description = 'Tenant of the call; required unless the key is bound to one or the server needs none';
  return [{ name: 'x-tenant-id', in: 'header', required: false, description, schema: { type: 'string' } }];
}

function idempotencyHeader(route: Route): Json[] {
  if (!takesIdempotencyKey(route)) return [];
  const description =
    'Repeats with the same key get the answer of the first call for at least 24 hours: 422 for another request, 409 while ' +
    'the first is under way. 1 to 255 printable characters, with or without quotes';
  const schema = { type: 'string', minLength: 1, maxLength: 512 };
  return [{ name: 'idempotency-key', in: 'header', required: false, description, schema }];
}

function requestBody({ body }: Route): JsonObject | null {
  switch (body.kind) {
    case 'none':
      return null;
    case 'raw':
      return { required: false, content: { '*/*': { schema: {} } } };
    case 'json':
      return {
        required: !body.optional,
        content: { 'application/json': { schema: jsonSchema(body.schema, 'input') } },
      };
  }
}

function answers({ responses, media }: Route): JsonObject {
  return Object.fromEntries(
    Object.entries(responses).map(([status, schema]) => {
      const description = DESCRIPTIONS[status] ?? 'Done';
      if (schema !== null) {
        return [
          status,
          { description, content: { 'application/json': { schema: jsonSchema(schema, 'output') } } },
        ];
      }
      return [
        status,
        media === null ? { description } : { description, content: { [media]: { schema: {} } } },
      ];
    }),
  );
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted',
  204: 'Done, without a body',
  503: 'Not ready',
};

function errorAnswers(): JsonObject {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  return Object.fromEntries(
    Object.entries(ERROR_STATUSES).map(([status, description]) => [status, { description, content }]),
  );
}
