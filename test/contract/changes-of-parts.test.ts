import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { type ApiFixture, type Body, createFixture, TENANT } from '../api/support/api-fixture.ts';
import { published } from '../api/support/documents.ts';

/** Bodies of http-api.md whose members may each be left out: what is left out stays as it was. */
interface Partial {
  readonly route: string;
  readonly make: (api: ApiFixture) => Promise<{ readonly path: string; readonly shownAt?: string }>;
  /** Members with a value that fits, and one that does not; null: any fits. */
  readonly members: Readonly<Record<string, readonly [good: unknown, bad: unknown, shown?: unknown]>>;
}

const NAMED = { tenant_id: TENANT, namespace: 'fulfilment' };
const LATER = '2027-03-04T09:15:30.120Z';

const PARTIALS: readonly Partial[] = [
  {
    route: 'PUT /cron/{id}',
    make: async (api) => {
      const body = {
        ...NAMED,
        sequence_id: await published(api, { name: 'of-cron' }),
        cron_expr: '0 9 * * *',
      };
      return { path: `/cron/${(await api.call('POST', '/cron', { body })).body.id}` };
    },
    members: {
      cron_expr: ['30 6 * * 1-5', 5],
      timezone: ['Europe/Lisbon', 5],
      enabled: [false, 'no'],
      metadata: [{ owner: 'ops' }, []],
      overlap_policy: ['skip', 'never'],
    },
  },
  {
    route: 'PUT /pools/{id}/resources/{rid}',
    make: async (api) => {
      const pool = await api.call('POST', '/pools', { body: { tenant_id: TENANT, name: 'parts' } });
      const list = `/pools/${pool.body.id}/resources`;
      const made = await api.call('POST', list, { body: { resource_key: 'r', name: 'n' } });
      return { path: `${list}/${made.body.id}` };
    },
    members: {
      name: ['other', 5],
      weight: [3, 'x'],
      enabled: [false, 'no'],
      daily_cap: [7, 'x'],
      warmup_start: ['2027-01-01', 'yesterday'],
      warmup_days: [3, 'x'],
      warmup_start_cap: [1, 'x'],
    },
  },
  {
    route: 'PATCH /credentials/{id}',
    make: async (api) => {
      await api.call('POST', '/credentials', { body: { id: 'parts', name: 'n', value: 'v' } });
      return { path: '/credentials/parts' };
    },
    members: {
      name: ['other', 5],
      kind: ['basic', 'password'],
      enabled: [false, 'no'],
      expires_at: [LATER, 'tomorrow'],
      description: ['text', 5],
    },
  },
  {
    route: 'PATCH /plugins/{name}',
    make: async (api) => {
      await api.call('POST', '/plugins', { body: { name: 'parts', plugin_type: 'wasm', source: 's' } });
      return { path: '/plugins/parts' };
    },
    members: {
      source: ['other', 5],
      enabled: [false, 'no'],
      config: [{ a: 1 }, undefined],
      description: ['text', 5],
    },
  },
];

const rows = PARTIALS.flatMap((partial) =>
  Object.entries(partial.members).map(([name, values]) => [partial.route, name, partial, values] as const),
);
/** Moves with every change, whatever is changed. */
const MOVING = ['updated_at', 'next_fire_at'];

describe('a change of some members (http-api.md 11, 15, 17, 18)', () => {
  let api: ApiFixture;
  const paths = new Map<string, string>();
  beforeAll(async () => {
    api = createFixture();
    for (const partial of PARTIALS) paths.set(partial.route, (await partial.make(api)).path);
  });

  const change = (route: string, body: JsonObject) =>
    api.call(route.split(' ')[0] ?? '', paths.get(route) ?? '', { body });
  const still = (view: Body): object =>
    Object.fromEntries(Object.entries(view).filter(([name]) => !MOVING.includes(name)));

  it.each(PARTIALS.map(({ route }) => [route]))('%s of nothing changes nothing', async (route) => {
    const [first, second] = [await change(route, {}), await change(route, { no_such_member: 1 })];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(still(second.body)).toEqual(still(first.body));
  });

  it.each(rows)('%s takes %s alone and keeps the rest', async (route, name, _partial, [good]) => {
    const before = await change(route, {});
    const reply = await change(route, { [name]: good } as JsonObject);
    expect(reply.status).toBe(200);
    expect(still(reply.body)).toEqual({ ...still(before.body), [name]: good });
  });

  it.each(rows.filter(([, , , [, bad]]) => bad !== undefined))(
    '%s refuses a wrong %s with 422 and keeps all',
    async (route, name, _partial, [, bad]) => {
      const before = await change(route, {});
      const reply = await change(route, { [name]: bad } as JsonObject);
      expect([reply.status, reply.body.error]).toEqual([422, expect.stringContaining(name)]);
      expect(still((await change(route, {})).body)).toEqual(still(before.body));
    },
  );
});
