import { describe, expect, it } from 'vitest';
import { isJsonArray, isJsonObject, type Json, member } from '../../src/core/json.ts';
import type { Route } from '../../src/api/route.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { createMemoryStore } from '../../src/adapters/memory/store.ts';
import {
  type ApiFixture,
  type Body,
  createFixture,
  OTHER_TENANT,
  START_MS,
} from '../api/support/api-fixture.ts';
import { answerContent, nameOf, operationOf } from './support/documented.ts';
import { wholeReads } from '../support/whole-reads.ts';
import type { ListRow } from './tables/list-row.ts';
import { LISTS } from './tables/lists.ts';
import { OTHER_LISTS } from './tables/other-lists.ts';

interface Listed {
  readonly api: ApiFixture;
  readonly get: (query: string) => Promise<readonly Body[]>;
  readonly status: (query: string) => Promise<number>;
  readonly path: string;
}

/** A server with so many rows. */
async function listed(list: ListRow, count: number): Promise<Listed> {
  const clock = { now: START_MS };
  const api = {
    ...createFixture({}, { store: wholeReads(createMemoryStore({ now: () => clock.now })) }),
    clock,
  };
  const path = await list.seed(api, count);
  const withQuery = (query: string): string =>
    path + (query === '' ? '' : (path.includes('?') ? '&' : '?') + query);
  const rowsOf = list.rowsOf ?? ((body: Body) => body);
  return {
    api,
    path,
    get: async (query) => rowsOf((await api.call('GET', withQuery(query))).body),
    status: async (query) => (await api.call('GET', withQuery(query))).status,
  };
}

const valueOf = (shown: Body, key: string): string | number => (key === '' ? shown : shown[key]);

/** The rows as the order of the table puts them; texts by code point. */
function ordered(rows: readonly Body[], order: ListRow['order']): readonly Body[] {
  return rows.toSorted((left, right) => {
    for (const key of order) {
      const name = key.replace('-', '');
      const [a, b] = [valueOf(left, name), valueOf(right, name)];
      if (a !== b) return a < b === key.startsWith('-') ? 1 : -1;
    }
    return 0;
  });
}

const named = LISTS.map((list) => [list.route, list] as const);
const limited = named.filter(([, { standard }]) => standard !== null);

describe('a list (http-api.md 1.7)', () => {
  it('is known to the tables wherever an answer is one', () => {
    const isList = (route: Route): boolean => {
      const schema: Json | undefined = answerContent(route, 200)?.schema;
      const properties = member(schema, 'properties');
      const held = isJsonObject(properties)
        ? [properties['items'], properties['changes'], properties['entries']]
        : [];
      return member(schema, 'type') === 'array' || held.some((one) => member(one, 'type') === 'array');
    };
    const known = [...LISTS.map(({ route }) => route), ...Object.keys(OTHER_LISTS)];
    const lists = ROUTES.filter((route) => route.method === 'GET' && isList(route)).map(nameOf);
    expect(lists.filter((route) => !known.includes(route))).toEqual([]);
  });

  it.each(named)('%s has a fixed order whose last key decides', async (_route, list) => {
    const { get } = await listed(list, 7);
    const rows = await get('');
    expect(rows.length).toBeGreaterThan(1);
    expect(rows).toEqual(ordered(rows, list.order));
    expect(await get('')).toEqual(rows);
  });

  it.each(limited)('%s cuts its pages at the limit, which may be nothing', async (_route, list) => {
    const { get, status } = await listed(list, 7);
    const parameter = list.parameter ?? 'limit';
    const rows = await get('');
    for (const limit of [1, 2]) expect(await get(`${parameter}=${limit}`)).toEqual(rows.slice(0, limit));
    expect(await get(`${parameter}=0`)).toEqual(rows.slice(0, list.least ?? 0));
    for (const bad of ['-1', 'x', '1.5', '', '%20', '1e3', '0x10', '99999999999']) {
      expect([bad, await status(`${parameter}=${bad}`)]).toEqual([bad, 400]);
    }
  });

  it.each(limited)('%s tells its default in the document', (name, list) => {
    const route = ROUTES.find((one) => nameOf(one) === name);
    const parameters = route === undefined ? undefined : member(operationOf(route), 'parameters');
    const found = (isJsonArray(parameters) ? parameters : []).find(
      (one) => member(one, 'name') === (list.parameter ?? 'limit'),
    );
    expect(member(found, 'schema')).toMatchObject({ type: 'integer', default: list.standard });
  });

  it.each(limited.filter(([, { standard }]) => (standard ?? 0) <= 200))(
    '%s shows so many when nothing is said',
    async (_route, list) => {
      const standard = list.standard ?? 0;
      const { get } = await listed(list, standard + 1);
      expect(await get('')).toHaveLength(standard);
      expect(await get(`${list.parameter ?? 'limit'}=${standard + 1}`)).toHaveLength(
        Math.min(standard + 1, list.most),
      );
    },
  );

  it.each(limited.filter(([, { parameter }]) => parameter === undefined))(
    '%s silently cuts a greater limit to its maximum',
    async (_route, list) => {
      const { status, api } = await listed(list, 2);
      const asked: number[] = [];
      watch(api, asked);
      expect(await status('limit=2147483647')).toBe(200);
      // Some read one row more, to know whether there are more.
      expect([list.most, list.most + 1]).toContain(Math.max(...asked));
    },
  );

  it.each(limited.filter(([, { parameter }]) => parameter !== undefined))(
    '%s silently cuts a greater number to its maximum',
    async (_route, list) => {
      const { get } = await listed(list, 2);
      expect(await get(`${list.parameter}=2147483647`)).toHaveLength(list.most);
    },
  );

  it.each(named.filter(([, { hasOffset }]) => hasOffset))('%s goes on at an offset', async (_route, list) => {
    const { get, status } = await listed(list, 7);
    const rows = await get('');
    for (const offset of [1, 3, rows.length, 1000]) {
      expect(await get(`offset=${offset}`)).toEqual(rows.slice(offset));
    }
    expect(await get('offset=2&limit=2')).toEqual(rows.slice(2, 4));
    for (const bad of ['-1', 'x', '1.5', ''])
      expect([bad, await status(`offset=${bad}`)]).toEqual([bad, 400]);
  });

  it.each(named)('%s ignores parameters that nobody knows [API 1.6]', async (_route, list) => {
    const { get } = await listed(list, 3);
    expect(await get('no_such_parameter=1')).toEqual(await get(''));
  });

  it.each(named.filter(([route]) => !route.includes('{') && route !== 'GET /workers/version-pins'))(
    '%s shows nothing to another tenant, whatever its query says [API 1.4]',
    async (route, list) => {
      const { api, path } = await listed(list, 3);
      if (route === 'GET /api-keys' || route === 'GET /workers') return;
      const query = `${path}${path.includes('?') ? '&' : '?'}tenant_id=saltmarsh`;
      const { status, body } = await api.call('GET', query, { tenant: OTHER_TENANT });
      expect([status, (list.rowsOf ?? ((all: Body) => all))(body)]).toEqual([200, []]);
    },
  );
});

/** Notes the numbers of rows that lists are asked for. */
function watch(api: ApiFixture, asked: number[]): void {
  for (const [name, method] of Object.entries(api.store)) {
    if (!/^list|^page|^getTimeline/.test(name) || typeof method !== 'function') continue;
    Object.assign(api.store, {
      [name]: (...args: unknown[]) => {
        const page = args.find((value) => typeof value === 'object' && value !== null && 'limit' in value);
        const numbers = args.filter((value) => typeof value === 'number');
        asked.push(page === undefined ? (numbers.at(-1) ?? 0) : Number(Reflect.get(page, 'limit')));
        return Reflect.apply(method, api.store, args);
      },
    });
  }
}
