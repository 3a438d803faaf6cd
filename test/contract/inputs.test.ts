import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonArray, isJsonObject, type Json, type JsonObject, member } from '../../src/core/json.ts';
import type { Route } from '../../src/api/route.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { useBackend } from '../api/support/backends.ts';
import { type ContractWorld, createContractWorld } from './support/contract-world.ts';
import { bodyContent, errorMisfits, fullPathOf, nameOf, operationOf } from './support/documented.ts';
import { type ContractRequest, REQUESTS } from './support/read-requests.ts';

/** What the document says of parameters and bodies, held against what routes take: each is made wrong in one place. */

const listOf = (value: Json | undefined): readonly Json[] => (isJsonArray(value) ? value : []);

/** A text that no parameter of this schema takes; null: it takes any. */
function wrongText(schema: Json | undefined): string | null {
  if (member(schema, 'enum') !== undefined) return 'no_such_word';
  if (member(schema, 'format') === 'uuid') return 'nope';
  const type = member(schema, 'type');
  return type === 'integer' || type === 'boolean' ? 'maybe' : null;
}

/** A value that no member of this schema takes; undefined: it takes any. */
function wrongValue(schema: Json | undefined): Json | undefined {
  const branches = [...listOf(member(schema, 'anyOf')), ...listOf(member(schema, 'oneOf'))];
  const types = branches.flatMap((branch) => member(branch, 'type') ?? 'any');
  const type = branches.length === 0 ? member(schema, 'type') : types.filter((one) => one !== 'null');
  const known = isJsonArray(type) ? type : type === undefined ? [] : [type];
  if (known.length === 0 || known.includes('any')) return undefined;
  const candidates: readonly (readonly [string, Json])[] = [
    ['string', 5],
    ['number', 'text'],
    ['integer', 'text'],
    ['boolean', 'text'],
    ['array', 'text'],
    ['object', 'text'],
  ];
  const isTaken = (value: Json) =>
    known.some((one) => one === typeof value || (one === 'integer' && typeof value === 'number'));
  return candidates.find(([name, value]) => known.includes(name) && !isTaken(value))?.[1];
}

interface Case {
  readonly route: Route;
  readonly name: string;
  readonly wrong: Json;
}

const queryCases: readonly Case[] = ROUTES.flatMap((route) =>
  listOf(member(operationOf(route), 'parameters')).flatMap((parameter) => {
    const wrong = member(parameter, 'in') === 'query' ? wrongText(member(parameter, 'schema')) : null;
    return wrong === null ? [] : [{ route, name: textOf(member(parameter, 'name')), wrong }];
  }),
);
const neededCases: readonly Case[] = ROUTES.flatMap((route) =>
  listOf(member(operationOf(route), 'parameters')).flatMap((parameter) => {
    const isNeeded = member(parameter, 'in') === 'query' && member(parameter, 'required') === true;
    return isNeeded ? [{ route, name: textOf(member(parameter, 'name')), wrong: '' }] : [];
  }),
);
const bodyCases: readonly Case[] = ROUTES.flatMap((route) => {
  const properties = member(bodyContent(route)?.schema, 'properties');
  return Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, schema]) => {
    const wrong = wrongValue(schema);
    return wrong === undefined ? [] : [{ route, name, wrong }];
  });
});
const memberCases: readonly Case[] = ROUTES.flatMap((route) =>
  listOf(member(bodyContent(route)?.schema, 'required')).map((name) => ({
    route,
    name: textOf(name),
    wrong: null,
  })),
);

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

const named = (cases: readonly Case[]) => cases.map((one) => [nameOf(one.route), one.name, one] as const);

describe('a request that is not as the document says [API 1.5]', () => {
  const backend = useBackend('memory');
  let world: ContractWorld;
  const made = new Map<string, Promise<ContractRequest>>();
  beforeAll(async () => {
    world = await createContractWorld(backend);
  });
  afterAll(() => world.api.stop());

  /** One good request for each route: it is spoilt every time, so it is never carried out. */
  const requestFor = (route: Route): Promise<ContractRequest> => {
    const name = nameOf(route);
    const request = made.get(name) ?? Promise.resolve(REQUESTS[name]?.(world) ?? { path: '' });
    made.set(name, request);
    return request;
  };
  const send = async ({ route }: Case, spoil: (request: ContractRequest) => ContractRequest) => {
    const { path, body, headers = {} } = spoil(await requestFor(route));
    const prefix = fullPathOf(route).startsWith('/api/v1') ? '/api/v1' : '';
    const reply = await world.send(route.method, prefix + path, {
      ...(body === undefined ? {} : { body }),
      headers,
    });
    expect(reply.status < 400 ? [] : errorMisfits(reply.body)).toEqual([]);
    return reply;
  };
  const withQuery = (path: string, name: string, value: string | null): string => {
    const [bare = '', query = ''] = path.split('?');
    const parameters = new URLSearchParams(query);
    if (value === null) parameters.delete(name);
    else parameters.set(name, value);
    return `${bare}?${parameters}`;
  };

  it.each(named(queryCases))('%s with a wrong %s in its query is 400', async (_route, name, one) => {
    const reply = await send(one, (request) => ({
      ...request,
      path: withQuery(request.path, name, textOf(one.wrong)),
    }));
    expect([reply.status, reply.body?.error]).toEqual([400, expect.stringMatching(/^invalid argument: /)]);
    expect(reply.body.error).toContain(name);
  });

  it.each(named(neededCases))('%s without %s in its query is 400', async (_route, name, one) => {
    const reply = await send(one, (request) => ({ ...request, path: withQuery(request.path, name, null) }));
    expect([reply.status, reply.body?.error]).toEqual([400, `invalid argument: missing field \`${name}\``]);
  });

  it.each(named(bodyCases))('%s with a wrong %s in its body is 422', async (_route, name, one) => {
    const reply = await send(one, (request) => ({
      ...request,
      body: { ...request.body, [name]: one.wrong },
    }));
    expect([reply.status, reply.body?.error]).toEqual([
      422,
      expect.stringMatching(/^unprocessable entity: /),
    ]);
    expect(reply.body.error).toContain(name);
  });

  it.each(named(memberCases))('%s without %s in its body is 422', async (_route, name, one) => {
    const reply = await send(one, (request) => ({ ...request, body: without(request.body ?? {}, name) }));
    expect([reply.status, reply.body?.error]).toEqual([
      422,
      `unprocessable entity: missing field \`${name}\``,
    ]);
  });
});

function without(body: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([key]) => key !== name));
}
