import { beforeAll, describe, expect, it } from 'vitest';
import { isJsonArray, type Json, member } from '../../src/core/json.ts';
import type { Route } from '../../src/api/route.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import {
  type ApiFixture,
  createFixture,
  OTHER_TENANT,
  type Reply,
  TENANT,
} from '../api/support/api-fixture.ts';
import { errorMisfits, fullPathOf, nameOf, operationOf } from './support/documented.ts';

/**
 * http-api.md 1.1, 1.3 and 1.5 walked over the table of routes: each request is wrong in everything, and what is put right
 * first decides what is complained about next.
 */
const KEY = 'the-root-key-of-these-tests';
const UNKNOWN_ID = '01900000-0000-7000-8000-00000000dead';
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const named = (routes: readonly Route[]) => routes.map((route) => [nameOf(route), route] as const);
const concrete = (route: Route, id: string): string =>
  fullPathOf(route)
    .replace('{file}', 'start.js')
    .replace(/\{\w+\}/g, id);

interface Parameter {
  readonly name: string;
  readonly place: string;
  readonly schema: Json | undefined;
}

const textAt = (value: Json, name: string): string => {
  const text = member(value, name);
  return typeof text === 'string' ? text : '';
};

function parametersOf(route: Route): readonly Parameter[] {
  const listed = member(operationOf(route), 'parameters');
  return (isJsonArray(listed) ? listed : []).map((one) => ({
    name: textAt(one, 'name'),
    place: textAt(one, 'in'),
    schema: member(one, 'schema'),
  }));
}

/** A path and query that cannot be read; null: the route takes any text. */
function unreadable(route: Route): string | null {
  const parameters = parametersOf(route);
  const isId = ({ place, schema }: Parameter) => place === 'path' && member(schema, 'format') === 'uuid';
  if (parameters.some(isId)) return concrete(route, 'not-a-uuid');
  const limit = parameters.find(({ place, name }) => place === 'query' && name === 'limit');
  return limit === undefined ? null : `${concrete(route, UNKNOWN_ID)}?limit=-1`;
}

function expectRefused(reply: Reply, status: number, text: string): void {
  expect([reply.status, reply.body?.error]).toEqual([status, expect.stringContaining(text)]);
  expect(errorMisfits(reply.body)).toEqual([]);
  expect(reply.body.request_id).toBe(reply.headers.get('x-request-id'));
  expect(reply.headers.get('content-type')).toBe('application/json');
}

describe('the order in which a request is checked [API 1.3]', () => {
  let api: ApiFixture;
  let secrets: Readonly<Record<string, string>>;
  const root = { 'x-api-key': KEY };
  const keyOf = (capability: string) => ({ 'x-api-key': secrets[capability] ?? '' });

  beforeAll(async () => {
    api = createFixture({ apiKey: KEY });
    const made: Record<string, string> = {};
    for (const capability of ['operator', 'worker', 'approver', 'publisher', 'auditor']) {
      const body = { tenant_id: TENANT, capabilities: [capability] };
      made[capability] = (await api.call('POST', '/api-keys', { headers: root, body })).body.secret;
    }
    secrets = made;
  });

  /** Wrong in all that a request can be wrong in. */
  const wrong = (route: Route, headers: Record<string, string>, tenant: string | null = null) => {
    // Peers that send many wrong keys in a second get 429.
    api.clock.now += 1000;
    return api.send(route.method, unreadable(route) ?? concrete(route, UNKNOWN_ID), {
      tenant,
      ...(route.body.kind === 'json' ? { raw: 'neither JSON nor called so' } : {}),
      headers: { 'content-type': 'text/plain', ...headers },
    });
  };

  const closed = ROUTES.filter(({ access }) => access !== 'public');

  it.each(named(closed))('begins with the key at %s: 401 without one', async (_name, route) => {
    expectRefused(await wrong(route, {}), 401, 'unauthorized');
    expectRefused(await wrong(route, { 'x-api-key': 'sk_wrong' }), 401, 'unauthorized');
    expectRefused(await wrong(route, { authorization: 'Basic eDp5' }), 401, 'unauthorized');
  });

  it.each(named(closed))('goes on with what the key may do at %s: 403', async (_name, route) => {
    expectRefused(await wrong(route, keyOf('operator'), OTHER_TENANT), 403, 'forbidden: ');
    if (route.access === 'admin') {
      for (const capability of Object.keys(secrets)) {
        const fragment = route.path.startsWith('/api-keys')
          ? 'API key management requires the root API key'
          : 'forbidden: ';
        expectRefused(await wrong(route, keyOf(capability)), 403, fragment);
      }
    }
  });

  it.each(named(closed.filter(({ access }) => access === 'tenant')))(
    'goes on with the tenant at %s: 400 without one',
    async (_name, route) => {
      const text = 'invalid argument: x-tenant-id header is required';
      expectRefused(await wrong(route, root), 400, text);
      expectRefused(await wrong(route, root, '  '), 400, text);
    },
  );

  it.each(named(ROUTES.filter((route) => unreadable(route) !== null)))(
    'goes on with path and query at %s: 400',
    async (_name, route) => expectRefused(await wrong(route, root, TENANT), 400, 'invalid argument: '),
  );

  it.each(named(ROUTES.filter(({ body }) => body.kind === 'json')))(
    'goes on with the body at %s, before anything is looked up: 415, 400, 422',
    async (_name, route) => {
      const path = concrete(route, UNKNOWN_ID);
      const send = (raw: string, type = 'application/json') =>
        api.send(route.method, path, { raw, headers: { ...root, 'content-type': type } });
      expectRefused(await send('{"a":', 'text/plain'), 415, 'the body must be application/json');
      expectRefused(await send('{"a":'), 400, 'invalid argument: the body is not JSON');
      // What is fired may have any JSON body.
      if (route.path !== '/triggers/{slug}/fire') {
        expectRefused(await send('[1]'), 422, 'unprocessable entity: ');
        expectRefused(await send('"text"'), 422, 'unprocessable entity: ');
      }
      expectRefused(await send('{"a":"\\u0000"}'), 422, 'unprocessable entity: ');
    },
  );
});

/** Capabilities of http-api.md 24, as its table says them. */
const ALLOWS: Readonly<Record<string, (method: string, path: string) => boolean>> = {
  operator: () => true,
  worker: (_method, path) => /^\/(workers|handlers)(\/|$)/.test(path),
  // What others have sent is an addition to the contract and not for approvers.
  approver: (method, path) =>
    /^\/approvals(\/|$)/.test(path) || (method === 'POST' && /^\/instances\/[^/]+\/signals$/.test(path)),
  publisher: (_method, path) => /^\/(sequences(\.json)?|plugins|releases)(\/|$)/.test(path),
  auditor: (method) => method === 'GET',
};

describe('what the capabilities of a key allow [API 24]', () => {
  let api: ApiFixture;
  const secrets = new Map<string, string>();
  beforeAll(async () => {
    api = createFixture({ apiKey: KEY });
    for (const capability of Object.keys(ALLOWS)) {
      const body = { tenant_id: TENANT, capabilities: [capability] };
      const made = await api.call('POST', '/api-keys', { headers: { 'x-api-key': KEY }, body });
      secrets.set(capability, made.body.secret);
    }
  });

  it.each(named(ROUTES.filter(({ access }) => access === 'tenant')))('%s', async (_name, route) => {
    for (const [capability, secret] of secrets) {
      // The streams would begin.
      if (route.path === '/changes/stream') continue;
      const reply = await api.send(route.method, concrete(route, UNKNOWN_ID), {
        tenant: null,
        headers: { 'x-api-key': secret },
      });
      const mayCall = ALLOWS[capability]?.(route.method, route.path) ?? false;
      expect([capability, reply.status === 403]).toEqual([capability, !mayCall]);
    }
  });
});

describe('every path of the API', () => {
  const api = createFixture();
  const keyed = createFixture({ apiKey: KEY });
  const paths = [...new Map(ROUTES.map((route) => [route.path, route]))];

  it.each(paths)(
    '%s answers 405 with Allow to other methods, with and without prefix [API 1.1]',
    async (path, route) => {
      const known = ROUTES.filter((one) => one.path === path).map(({ method }) => method as string);
      const prefixes = route.mount === 'both' ? ['/api/v1', ''] : [''];
      for (const prefix of prefixes) {
        for (const method of METHODS.filter((one) => !known.includes(one))) {
          const reply = await api.send(method, prefix + path.replace(/\{\w+\}/g, UNKNOWN_ID), {
            tenant: null,
          });
          expectRefused(reply, 405, '');
          const allowed = (reply.headers.get('allow') ?? '').split(', ').filter((one) => one !== 'HEAD');
          expect(new Set(allowed)).toEqual(new Set(known));
          expect(reply.headers.has('deprecation')).toBe(prefix === '' && route.mount === 'both');
        }
      }
    },
  );

  it.each(named(ROUTES))('%s takes a slash at its end for nothing [API 1.1]', async (_name, route) => {
    // Without key and tenant it is the route that answers, not the end of the table.
    const path = concrete(route, UNKNOWN_ID);
    const [plain, slashed] = await Promise.all(
      [path, `${path}/`].map((one) => keyed.send(route.method, one, { tenant: null })),
    );
    expect(slashed?.status).toBe(plain?.status);
    expect(slashed?.body?.code).toBe(plain?.body?.code);
    expect(slashed?.body?.error ?? '').not.toContain('not found: path');
  });

  it.each(named(ROUTES.filter(({ mount }) => mount === 'root')))(
    '%s is found at its root path alone [API 1.1]',
    async (_name, route) => {
      const reply = await api.send(route.method, `/api/v1${concrete(route, 'x')}`, {});
      expectRefused(reply, 404, 'not found: ');
    },
  );
});
