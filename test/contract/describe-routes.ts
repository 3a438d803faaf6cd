import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject } from '../../src/core/json.ts';
import type { Route } from '../../src/api/route.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { nextId } from '../support/turn-builder.ts';
import type { Reply } from '../api/support/api-fixture.ts';
import { type BackendName, useBackend } from '../api/support/backends.ts';
import { type ContractWorld, createContractWorld } from './support/contract-world.ts';
import {
  answerContent,
  bodyContent,
  fullPathOf,
  misfits,
  nameOf,
  statusesOf,
  withStrangers,
} from './support/documented.ts';
import { specified } from './support/specified.ts';
import { ANSWERS } from './tables/answers.ts';
import { UNSEEN } from './tables/unseen.ts';
import { visitObjects } from './support/members.ts';
import { MORE_REQUESTS } from './support/more-requests.ts';
import { type ContractRequest, REQUESTS } from './support/read-requests.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Every route of the table is called as a client would, and what comes back is held against the document that the server
 * sends. Members that the document does not name are faults.
 */
export function describeRoutes(backendName: BackendName): void {
  describe('every route of the API', () => {
    const backend = useBackend(backendName);
    let world: ContractWorld;
    const seen = new Set<string>();
    beforeAll(async () => {
      world = await createContractWorld(backend);
    });
    afterAll(() => world.api.stop());

    const requestFor = async (route: Route): Promise<ContractRequest> => {
      const make = REQUESTS[nameOf(route)];
      if (make === undefined) {
        throw new Error(
          `${nameOf(route)} has no request: give it one in test/api/support/write-requests.ts when it changes something, ` +
            'else in test/contract/support/read-requests.ts',
        );
      }
      return make(world);
    };

    const send = (
      route: Route,
      path: string,
      { body, headers }: ContractRequest,
      more: object,
    ): Promise<Reply> =>
      world.send(route.method, path, {
        ...(body === undefined ? {} : { body }),
        headers: { ...headers, ...more },
      });

    it.each(ROUTES.map((route) => [nameOf(route), route] as const))(
      '%s answers as the document says, under its path and under the bare one [API 1.1, 1.2]',
      async (name, route) => {
        const request = await requestFor(route);
        const prefix = route.mount === 'both' ? '/api/v1' : '';
        expect(requestProblems(route, request)).toEqual([]);
        const requestId = nextId();
        const reply = await send(route, prefix + request.path, request, { 'x-request-id': `<${requestId}>` });
        expect(answerProblems(route, reply)).toEqual([]);
        note(seen, route, reply);
        expect(reply.headers.get('x-request-id')).toBe(requestId);
        for (const mark of ['deprecation', 'sunset', 'link']) expect(reply.headers.has(mark)).toBe(false);
        if (route.mount === 'root') return;

        const other = await requestFor(route);
        const bare = await send(route, other.path, other, {});
        expect([name, bare.status]).toEqual([name, reply.status]);
        expect(answerProblems(route, bare)).toEqual([]);
        note(seen, route, bare);
        expect(bare.headers.get('x-request-id')).toMatch(UUID);
        expectMarked(bare, other.path);
        const marks = new Set(['deprecation', 'sunset', 'link']);
        expect([...bare.headers.keys()].filter((header) => !marks.has(header))).toEqual([
          ...reply.headers.keys(),
        ]);
      },
    );

    it.each(Object.entries(MORE_REQUESTS))('%s also answers so: see its title', async (title, make) => {
      const name = title.replace(/:.*/, '');
      const route = ROUTES.find((one) => nameOf(one) === name);
      if (route === undefined) throw new Error(`There is no ${name}`);
      const request = await make(world);
      const reply = await send(route, fullPathOf(route).replace(route.path, '') + request.path, request, {});
      expect(answerProblems(route, reply)).toEqual([]);
      note(seen, route, reply);
    });

    it('has been seen with every member that the document names', () => {
      const unseen = new Map<string, string>();
      for (const [route, status, schema] of DOCUMENTED) {
        visitObjects(({ kind, names }, way) => {
          for (const name of names.filter((one) => !seen.has(`${kind} ${one}`))) {
            const place = `${nameOf(route)} ${status} ${way}.${name}`;
            unseen.set(`${kind} ${name}`, unseen.get(`${kind} ${name}`) ?? place);
          }
        }, schema);
      }
      expect([...unseen.values()].filter((place) => !Object.hasOwn(UNSEEN, place))).toEqual([]);
    });
  });
}

/** Each answer with a JSON body that the document names. */
const DOCUMENTED = ROUTES.flatMap((route) =>
  statusesOf(route).flatMap((status) => {
    const content = answerContent(route, status);
    return content === null ? [] : [[route, status, content.schema] as const];
  }),
);

/** Notes the members of an answer. */
function note(seen: Set<string>, route: Route, { status, body }: Reply): void {
  const content = answerContent(route, status);
  if (content === null || body === undefined) return;
  visitObjects(
    ({ kind }, _way, value) => {
      for (const name of Object.keys(isJsonObject(value) ? value : {})) seen.add(`${kind} ${name}`);
    },
    content.schema,
    '',
    body,
  );
}

/** What the tests send is what the document says that may be sent. */
function requestProblems(route: Route, { path, body }: ContractRequest): readonly string[] {
  const content = bodyContent(route);
  const pattern = route.path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+');
  const isOfRoute = new RegExp(`^${pattern}$`).test(path.replace(/\?.*/, ''));
  return [
    ...(content === null || body === undefined ? [] : misfits(content.schema, body)),
    ...(isOfRoute ? [] : [`${path} is no path of the route`]),
  ];
}

/** Where an answer differs from what the document and the tables of http-api.md say. */
function answerProblems(route: Route, reply: Reply): readonly string[] {
  if (reply.status >= 300) return [`${reply.status} ${reply.text}`];
  if (!statusesOf(route).includes(reply.status)) return [`the document has no ${reply.status}`];
  return [...documentProblems(route, reply), ...tableProblems(route, reply)];
}

function documentProblems(route: Route, reply: Reply): readonly string[] {
  const content = answerContent(route, reply.status);
  const type = reply.headers.get('content-type');
  if (content === null)
    return reply.text === '' && type === null ? [] : ['has a body that no document knows'];
  const wanted = new RegExp(`^${content.mediaType.replaceAll('*', '[^ ]+')}(;|$)`);
  if (type === null || !wanted.test(type)) return [`is ${type} instead of ${content.mediaType}`];
  if (content.mediaType !== 'application/json') return [];
  const blind = withStrangers(content.schema, reply.body).filter(
    (copy) => misfits(content.schema, copy).length === 0,
  );
  return [
    ...misfits(content.schema, reply.body),
    ...blind.map((copy) => `would not notice a stranger in ${JSON.stringify(copy)}`),
  ];
}

function tableProblems(route: Route, reply: Reply): readonly string[] {
  const answers = ANSWERS[nameOf(route)];
  if (answers === undefined) return [];
  const shape = answers[reply.status];
  if (shape === undefined) return [`the tables have no ${reply.status}`];
  return shape === null || reply.body === undefined ? [] : misfits(specified(shape), reply.body);
}

function expectMarked(reply: Reply, path: string): void {
  expect(reply.headers.get('deprecation')).toMatch(/^@\d{10}$/);
  const sunset = reply.headers.get('sunset') ?? '';
  expect(new Date(sunset).toUTCString()).toBe(sunset);
  expect(reply.headers.get('link')).toBe(`</api/v1${path}>; rel="successor-version"`);
}
