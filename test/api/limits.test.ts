import { beforeEach, describe, expect, it } from 'vitest';
import { type ApiFixture, OTHER_TENANT, TENANT, createFixture } from './support/api-fixture.ts';
import { published, startBody } from './support/documents.ts';

let api: ApiFixture;
beforeEach(() => {
  api = createFixture();
});

const NOWHERE = '01900000-0000-7000-8000-00000000dead';
const RATES = `/tenants/${TENANT}/rate-limits`;
const foreign = { tenant: OTHER_TENANT };

describe('rate limits', () => {
  const put = (key: string, body: object, options: object = {}) =>
    api.call('PUT', `${RATES}/${key}`, { body, ...options });

  it('sets, shows, lists and removes a limit', async () => {
    const shown = {
      tenant_id: TENANT,
      resource_key: 'mail',
      max_count: 3,
      window_seconds: 1.5,
      current_count: 0,
      window_start: null,
      created_at: '2027-02-11T08:00:00.000Z',
      updated_at: '2027-02-11T08:00:00.000Z',
    };
    expect(await put('mail', { max_count: 3, window_seconds: 1.5 })).toMatchObject({
      status: 200,
      body: shown,
    });
    expect(await api.call('GET', `${RATES}/mail`)).toMatchObject({ status: 200, body: shown });
    await put('call', { max_count: 0, window_seconds: 60 });
    const keys = async (path: string) =>
      (await api.call('GET', path)).body.map((one: { resource_key: string }) => one.resource_key);
    expect(await keys(RATES)).toEqual(['call', 'mail']);
    expect(await keys('/rate-limits')).toEqual(['call', 'mail']);
    expect((await api.call('DELETE', `${RATES}/mail`)).status).toBe(204);
    expect((await api.call('DELETE', `${RATES}/mail`)).status).toBe(404);
    expect((await api.call('GET', `${RATES}/mail`)).status).toBe(404);
  });

  it.each([
    [{ max_count: -1, window_seconds: 60 }, 400, 'max_count must not be negative'],
    [{ max_count: 1, window_seconds: 0 }, 400, 'window_seconds must be more than 0'],
    [{ max_count: 1.5, window_seconds: 60 }, 422, 'max_count'],
    [{ max_count: 1 }, 422, 'window_seconds'],
    [{ max_count: 2 ** 40, window_seconds: 60 }, 422, 'max_count'],
  ])('refuses %j with %i', async (body, status, text) => {
    const reply = await put('mail', body);
    expect(reply.status).toBe(status);
    expect(reply.text).toContain(text);
  });

  it('a key may be any text', async () => {
    const key = encodeURIComponent('mail/käse 100%');
    await put(key, { max_count: 1, window_seconds: 60 });
    expect((await api.call('GET', `${RATES}/${key}`)).body.resource_key).toBe('mail/käse 100%');
  });

  it('the tenant of a path must be that of the caller', async () => {
    await put('mail', { max_count: 1, window_seconds: 60 });
    expect((await put('mail', { max_count: 9, window_seconds: 60 }, foreign)).status).toBe(404);
    expect((await api.call('GET', `${RATES}/mail`, foreign)).status).toBe(404);
    expect((await api.call('GET', RATES, foreign)).status).toBe(404);
    expect((await api.call('DELETE', `${RATES}/mail`, foreign)).status).toBe(404);
    expect((await api.call('GET', '/rate-limits', foreign)).body).toEqual([]);
  });
});

describe('circuit breakers [CB-7]', () => {
  const path = `/tenants/${TENANT}/circuit-breakers/parcel_lookup`;

  it('an untouched one is 404, can be reset, and stays unknown', async () => {
    expect((await api.call('GET', path)).status).toBe(404);
    expect(await api.call('POST', `${path}/reset`)).toMatchObject({ status: 200, text: '' });
    expect((await api.call('GET', path)).status).toBe(404);
    expect((await api.call('GET', '/circuit-breakers')).body).toEqual([]);
    expect((await api.call('GET', `/tenants/${TENANT}/circuit-breakers`)).body).toEqual([]);
  });

  it('the tenant of a path must be that of the caller', async () => {
    expect((await api.call('GET', `/tenants/${TENANT}/circuit-breakers`, foreign)).status).toBe(404);
    expect((await api.call('POST', `${path}/reset`, foreign)).status).toBe(404);
  });
});

describe('resource pools', () => {
  const create = (body: object = {}, options: object = {}) =>
    api.call('POST', '/pools', { body: { tenant_id: TENANT, name: 'senders', ...body }, ...options });
  const add = (pool: string, body: object = {}, options: object = {}) =>
    api.call('POST', `/pools/${pool}/resources`, {
      body: { resource_key: 'r1', name: 'one', ...body },
      ...options,
    });

  it('creates one with its defaults, lists by name, and deletes it with its resources', async () => {
    const reply = await create();
    expect(reply).toMatchObject({
      status: 201,
      body: { tenant_id: TENANT, name: 'senders', strategy: 'round_robin', round_robin_index: 0 },
    });
    await create({ name: 'callers', strategy: 'weighted' });
    const names = (await api.call('GET', '/pools')).body.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['callers', 'senders']);
    const { id } = reply.body;
    await add(id);
    expect((await api.call('GET', `/pools/${id}`)).body).toEqual(reply.body);
    expect((await api.call('DELETE', `/pools/${id}`)).status).toBe(204);
    expect((await api.call('DELETE', `/pools/${id}`)).status).toBe(404);
    expect((await api.call('GET', `/pools/${id}/resources`)).status).toBe(404);
  });

  it.each([
    [{ strategy: 'best' }, 422],
    [{ name: ' ' }, 400],
    [{ tenant_id: '' }, 422],
    [{ tenant_id: OTHER_TENANT }, 403],
  ])('refuses a pool with %j with %i', async (body, status) => {
    expect((await create(body)).status).toBe(status);
  });

  it('adds resources with their defaults, the same key twice, oldest first', async () => {
    const { id } = (await create()).body;
    const first = await add(id);
    expect(first).toMatchObject({
      status: 201,
      body: {
        ...{ pool_id: id, resource_key: 'r1', name: 'one', weight: 1, enabled: true, daily_cap: 0 },
        ...{
          daily_usage: 0,
          daily_usage_date: null,
          warmup_start: null,
          warmup_days: 0,
          warmup_start_cap: 0,
        },
      },
    });
    const second = await add(id, { daily_cap: 9, warmup_start: '2027-02-01', warmup_days: 3 });
    expect((await api.call('GET', `/pools/${id}/resources`)).body).toEqual([first.body, second.body]);
  });

  it.each([
    [{ weight: 0 }, 400],
    [{ daily_cap: -1 }, 400],
    [{ resource_key: '' }, 400],
    [{ name: 'x'.repeat(256) }, 400],
    [{ warmup_start: '2027-13-01' }, 422],
  ])('refuses a resource with %j with %i', async (body, status) => {
    const { id } = (await create()).body;
    expect((await add(id, body)).status).toBe(status);
  });

  it('changes only what is named', async () => {
    const { id } = (await create()).body;
    const resource = (await add(id, { daily_cap: 9, warmup_start: '2027-02-01' })).body;
    const change = (rid: string, body: object) => api.call('PUT', `/pools/${id}/resources/${rid}`, { body });
    const changed = await change(resource.id, { enabled: false, warmup_start: null });
    expect(changed).toMatchObject({ status: 200, body: { ...resource, enabled: false, warmup_start: null } });
    expect((await change(resource.id, { weight: 0 })).status).toBe(400);
    expect((await change(NOWHERE, { weight: 2 })).status).toBe(404);
    expect((await change('no-uuid', { weight: 2 })).status).toBe(404);
  });

  it('deletes a resource, known or not, but not that of another pool', async () => {
    const [one, two] = [(await create()).body, (await create({ name: 'others' })).body];
    const { id } = (await add(one.id)).body;
    const remove = (pool: string, rid: string) => api.call('DELETE', `/pools/${pool}/resources/${rid}`);
    expect((await remove(two.id, id)).status).toBe(404);
    expect((await remove(one.id, id)).status).toBe(204);
    expect((await remove(one.id, id)).status).toBe(204);
    expect((await remove(NOWHERE, id)).status).toBe(404);
  });

  it('a pool of another tenant is unknown', async () => {
    const { id } = (await create()).body;
    expect((await api.call('GET', `/pools/${id}`, foreign)).status).toBe(404);
    expect((await api.call('DELETE', `/pools/${id}`, foreign)).status).toBe(404);
    expect((await add(id, {}, foreign)).status).toBe(404);
    expect((await api.call('GET', '/pools', foreign)).body).toEqual([]);
  });
});

describe('PATCH /instances/{id}/budget [BUD-4]', () => {
  const patch = (id: string, body: object, options: object = {}) =>
    api.call('PATCH', `/instances/${id}/budget`, { body, ...options });

  it('takes caps for an instance of the tenant, and nothing else', async () => {
    const sequence = await published(api);
    const { id } = (await api.call('POST', '/instances', { body: startBody(sequence) })).body;
    expect((await patch(id, { max_steps: 5, max_wall_time_ms: null })).status).toBe(200);
    expect((await patch(id, { max_steps: -1 })).status).toBe(400);
    expect((await patch(id, { max_steps: 'many' })).status).toBe(422);
    expect((await patch(NOWHERE, { max_steps: 5 })).status).toBe(404);
    expect((await patch(id, { max_steps: 5 }, foreign)).status).toBe(404);
  });
});
