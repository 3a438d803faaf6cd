import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { type ApiFixture, createFixture, OTHER_TENANT, TENANT } from '../api/support/api-fixture.ts';
import { published } from '../api/support/documents.ts';
import { CREATIONS, type Creation, type Ids } from './tables/fields.ts';

/** http-api.md 1.4 over every creation whose body names a tenant. */
const NAMING = CREATIONS.filter(({ fields }) => Object.hasOwn(fields, 'tenant_id'));
const named = NAMING.map((creation) => [creation.route, creation] as const);

/** Its tenant may be left out or blank: then it is that of the call. */
const OPTIONAL = ['POST /credentials', 'POST /plugins'];
/** An empty text means the tenant `default`, which has no such sequence (12.1), or is blank like others (13, 19.5). */
const EMPTY: Readonly<Record<string, number>> = {
  'POST /triggers': 404,
  'POST /events': 400,
  'POST /workers/version-pins': 400,
};

describe('the tenant of a body (http-api.md 1.4)', () => {
  let api: ApiFixture;
  let open: ApiFixture;
  let ids: Ids;
  beforeAll(async () => {
    api = createFixture();
    open = createFixture({ requireTenantHeader: false }, { store: api.store });
    const sequenceId = await published(api);
    const pool = await api.call('POST', '/pools', { body: { tenant_id: TENANT, name: 'p' } });
    ids = { sequenceId, poolId: pool.body.id, sessionId: '' };
  });

  const send = (on: ApiFixture, { route, least }: Creation, more: JsonObject, tenant: string | null) => {
    const [method = '', path = ''] = route.split(' ');
    return on.call(method, path, { body: { ...least(ids), ...more }, tenant });
  };

  it.each(named.filter(([route]) => route !== 'POST /workers/version-pins' && route !== 'POST /api-keys'))(
    '%s refuses another one than that of the header with 403',
    async (_route, creation) => {
      const before = await api.footprint();
      const reply = await send(api, creation, { tenant_id: OTHER_TENANT }, TENANT);
      expect([reply.status, reply.body.error]).toEqual([403, expect.stringMatching(/^forbidden: /)]);
      expect(await api.footprint()).toEqual(before);
    },
  );

  it.each(named.filter(([route]) => !OPTIONAL.includes(route)))(
    '%s takes a text that is not blank and has at most 255 characters',
    async (route, creation) => {
      const empty = await send(open, creation, { tenant_id: '' }, null);
      expect(empty.status).toBe(EMPTY[route] ?? 422);
      const blank = await send(open, creation, { tenant_id: '  ' }, null);
      expect([blank.status, blank.body.error]).toEqual([400, expect.stringContaining('tenant_id')]);
      const long = await send(open, creation, { tenant_id: 't'.repeat(256) }, null);
      expect([400, 422]).toContain(long.status);
    },
  );

  it.each(named.filter(([route]) => OPTIONAL.includes(route)))(
    '%s takes that of the call where it is left out',
    async (_route, creation) => {
      for (const more of [{}, { tenant_id: '' }, { tenant_id: null }]) {
        const reply = await send(api, creation, more, TENANT);
        expect([reply.status, reply.body.tenant_id]).toEqual([201, TENANT]);
      }
    },
  );
});

describe('the tenant of a path (http-api.md 1.4)', () => {
  it('is never longer than 255 characters', async () => {
    const open = createFixture({ requireTenantHeader: false });
    const body = { max_count: 1, window_seconds: 1 };
    const path = `/tenants/${'t'.repeat(256)}/rate-limits/k`;
    expect((await open.call('PUT', path, { body, tenant: null })).status).toBe(400);
  });
});

describe('cursors (http-api.md 1.7, 22)', () => {
  let api: ApiFixture;
  let cursor: string;
  let ofChanges: string;
  beforeAll(async () => {
    api = createFixture();
    const sequence_id = await published(api);
    for (let count = 0; count < 3; count += 1) {
      api.clock.now += 1;
      await api.call('POST', '/instances', { body: { sequence_id, tenant_id: TENANT, namespace: 'n' } });
    }
    cursor = (await api.call('GET', '/instances?limit=1&state=scheduled')).body.next_cursor;
    const place = { created_at: '2027-02-11T08:00:00.000Z', id: '01900000-0000-7000-8000-00000000dead' };
    ofChanges = Buffer.from(JSON.stringify(place)).toString('base64url');
  });

  it('lead on in the list that they come from', async () => {
    const page = await api.call('GET', `/instances?limit=1&state=scheduled&cursor=${cursor}`);
    expect([page.status, page.body.items.length]).toEqual([200, 1]);
    expect((await api.call('GET', `/changes?cursor=${ofChanges}`)).status).toBe(200);
  });

  it('are 400 in another list, for another filter, order or tenant, and when they were changed', async () => {
    const wrong: readonly (readonly [path: string, tenant: string])[] = [
      [`/instances?state=scheduled&cursor=${ofChanges}`, TENANT],
      [`/instances?cursor=${cursor}`, TENANT],
      [`/instances?state=running&cursor=${cursor}`, TENANT],
      [`/instances?state=scheduled&order=created&cursor=${cursor}`, TENANT],
      [`/instances?state=scheduled&namespace=n&cursor=${cursor}`, TENANT],
      [`/instances?state=scheduled&cursor=${cursor}`, OTHER_TENANT],
      [`/instances?state=scheduled&cursor=${cursor.slice(0, -2)}`, TENANT],
      [`/instances?state=scheduled&cursor=${cursor.toLowerCase()}`, TENANT],
      ['/instances?state=scheduled&cursor=nope', TENANT],
      [`/changes?cursor=${cursor}`, TENANT],
      [`/changes/stream?cursor=${cursor}`, TENANT],
    ];
    for (const [path, tenant] of wrong) {
      const reply = await api.call('GET', path, { tenant });
      expect([path, reply.status]).toEqual([path, 400]);
      expect(reply.body.error).toMatch(/^invalid argument: .*cursor/);
    }
  });

  it('of the feed show no changes of another tenant', async () => {
    expect(
      (await api.call('GET', `/changes?cursor=${ofChanges}`, { tenant: OTHER_TENANT })).body.changes,
    ).toEqual([]);
  });
});
