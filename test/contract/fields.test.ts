import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { type ApiFixture, createFixture, type Reply, TENANT } from '../api/support/api-fixture.ts';
import { published } from '../api/support/documents.ts';
import { shownAs, wantedAs } from './support/shown.ts';
import { WRONG } from './support/wrong-values.ts';
import { CREATIONS, type Creation, type Ids, type Shown } from './tables/fields.ts';

let api: ApiFixture;
let ids: Ids;
beforeAll(async () => {
  api = createFixture();
  const sequenceId = await published(api);
  const pool = await api.call('POST', '/pools', { body: { tenant_id: TENANT, name: 'p' } });
  const session = await api.call('POST', '/sessions', { body: { tenant_id: TENANT, session_key: 's' } });
  ids = { sequenceId, poolId: pool.body.id, sessionId: session.body.id };
});

function create({ route }: Creation, body: JsonObject): Promise<Reply> {
  const [method = '', path = ''] = route.split(' ');
  return api.call(method, path.replace('{id}', ids.poolId), { body });
}

/** What is shown of a creation that must succeed. */
async function shownOf(creation: Creation, body: JsonObject): Promise<Record<string, unknown>> {
  const reply = await create(creation, body);
  expect([reply.status, reply.body?.error]).toEqual([expect.toSatisfy((status) => status < 300), undefined]);
  return creation.shownAt === undefined
    ? reply.body
    : (await api.call('GET', creation.shownAt(reply.body))).body;
}

const rows = CREATIONS.flatMap((creation) =>
  Object.entries(creation.fields).map(([name, field]) => [creation.route, name, creation, field] as const),
);
const without = (body: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([key]) => key !== name));

describe('a member of a body (http-api.md 3 to 24)', () => {
  it.each(rows.filter(([, , , { required }]) => required === true))(
    '%s must have %s: 422 names it when it is missing [API 1.5]',
    async (_route, name, creation) => {
      const reply = await create(creation, without(creation.least(ids), name));
      expect(reply.status).toBe(422);
      expect(reply.body.error).toMatch(/^unprocessable entity: /);
      expect(reply.body.error).toContain(`missing field \`${name}\``);
      const none = await create(creation, { ...creation.least(ids), [name]: null });
      expect(none.status).toBe(422);
    },
  );

  it.each(rows.filter(([, , , { required }]) => required !== true))(
    '%s may leave out %s, or make it null, and shows its default [API 1.6]',
    async (_route, name, creation, { shown }) => {
      for (const more of [{}, { [name]: null }]) {
        // Any JSON value may be null.
        const view = await shownOf(creation, { ...without(creation.least(ids), name), ...more });
        expect(shownAs(view, name, shown)).toEqual(wantedAs(shown));
      }
    },
  );

  it.each(rows)('%s takes for %s what fits its type, and shows it', async (_route, name, creation, field) => {
    const values = field.words ?? (field.value === undefined ? [] : [field.value]);
    for (const value of values) {
      const view = await shownOf(creation, { ...creation.least(ids), [name]: value } as JsonObject);
      const wanted: Shown = field.shown === 'not shown' ? 'not shown' : { is: field.valueShown ?? value };
      expect(shownAs(view, name, wanted)).toEqual(wanted);
    }
  });

  it.each(rows.filter(([, , , { longest }]) => longest !== undefined))(
    '%s takes %s up to its longest text',
    async (_route, name, creation, { longest = 0 }) => {
      const of = (length: number) => ({ ...creation.least(ids), [name]: 'x'.repeat(length) });
      expect((await create(creation, of(longest))).status).toBeLessThan(300);
      const long = await create(creation, of(longest + 1));
      expect([400, 422]).toContain(long.status);
      expect(long.body.error).toContain(name);
    },
  );

  it.each(rows)(
    '%s refuses for %s what does not: 422 names it [API 1.5]',
    async (_route, name, creation, field) => {
      for (const value of WRONG[field.type]) {
        const reply = await create(creation, { ...creation.least(ids), [name]: value } as JsonObject);
        expect([value, reply.status]).toEqual([value, 422]);
        expect(reply.body.error).toMatch(/^unprocessable entity: /);
        expect(reply.body.error).toContain(name);
      }
    },
  );

  it.each(CREATIONS.map((creation) => [creation.route, creation] as const))(
    '%s ignores members that nobody knows [API 1.6]',
    async (_route, creation) => {
      const view = await shownOf(creation, { ...creation.least(ids), no_such_member: { a: 1 } });
      expect(Object.keys(view)).not.toContain('no_such_member');
    },
  );
});
