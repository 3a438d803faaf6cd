import { beforeEach, describe, expect, it } from 'vitest';
import { type ApiFixture, type Body, createFixture, OTHER_TENANT, TENANT } from './support/api-fixture.ts';
import { published } from './support/documents.ts';

let api: ApiFixture;
beforeEach(async () => {
  api = createFixture();
  await published(api);
});

const trigger = (overrides: object = {}) => ({
  slug: 'depot-scan',
  sequence_name: 'parcel-return',
  tenant_id: TENANT,
  namespace: 'fulfilment',
  ...overrides,
});
const create = (overrides: object = {}, options: object = {}) =>
  api.call('POST', '/triggers', { body: trigger(overrides), ...options });

describe('managing triggers', () => {
  it('creates one with its defaults and never shows the secret', async () => {
    const reply = await create({ secret: 'hush', config: { topic: 'scans' }, version: 1 });
    expect(reply).toMatchObject({
      status: 201,
      body: {
        slug: 'depot-scan',
        sequence_name: 'parcel-return',
        version: 1,
        tenant_id: TENANT,
        namespace: 'fulfilment',
        enabled: true,
        secret: '[REDACTED]',
        trigger_type: 'webhook',
        config: { topic: 'scans' },
        created_at: '2027-02-11T08:00:00.000Z',
      },
    });
    const shown = [await api.call('GET', '/triggers/depot-scan'), await api.call('GET', '/triggers')];
    for (const { text } of shown) expect(text).not.toContain('hush');
  });

  it('leaves out what is unset', async () => {
    const { body } = await create();
    expect(body).not.toHaveProperty('secret');
    expect(body).not.toHaveProperty('version');
    expect(body.config).toBeNull();
  });

  it.each([
    [{ slug: undefined }, 422, 'missing field `slug`'],
    [{ sequence_name: undefined }, 422, 'missing field `sequence_name`'],
    [{ tenant_id: undefined }, 422, 'missing field `tenant_id`'],
    [{ trigger_type: 'carrier-pigeon' }, 422, 'trigger_type'],
    [{ secret: '[REDACTED]' }, 422, 'secret'],
    [{ slug: '' }, 400, 'slug must not be empty'],
    [{ slug: 's'.repeat(256) }, 400, 'slug'],
    [{ slug: 'outbox' }, 400, 'reserved'],
    [{ slug: 'deliveries' }, 400, 'reserved'],
    [{ sequence_name: ' ' }, 400, 'sequence_name'],
    [{ secret: '' }, 400, 'secret'],
    [{ config: { signature: { scheme: 'md5' } } }, 400, 'scheme'],
    [{ tenant_id: OTHER_TENANT }, 403, 'tenant_id'],
    [{ sequence_name: 'unknown' }, 404, 'sequence unknown'],
    [{ version: 9 }, 404, 'sequence'],
    [{ namespace: undefined }, 404, 'sequence'],
  ])('answers %j with %i', async (overrides, status, fragment) => {
    const before = await api.footprint();
    const reply = await create(overrides);
    expect(reply.status).toBe(status);
    expect(reply.body.error).toContain(fragment);
    expect(await api.footprint()).toEqual(before);
  });

  it('takes the tenant of the call for an empty one', async () => {
    expect((await create({ tenant_id: '' })).body.tenant_id).toBe(TENANT);
    const free = createFixture({ requireTenantHeader: false });
    await published(free, { tenant_id: 'default' }, { tenant: null });
    const reply = await free.call('POST', '/triggers', { body: trigger({ tenant_id: '' }), tenant: null });
    expect(reply.body.tenant_id).toBe('default');
  });

  it('has one slug over all tenants and does not say whose it is', async () => {
    await create();
    await published(api, { tenant_id: OTHER_TENANT }, { tenant: OTHER_TENANT });
    const reply = await create({ tenant_id: OTHER_TENANT }, { tenant: OTHER_TENANT });
    expect(reply).toMatchObject({ status: 409, body: { error: 'already exists: trigger depot-scan' } });
  });

  it('lists the oldest first and deletes once', async () => {
    await create();
    api.clock.now += 1000;
    await create({ slug: 'a-later-one' });
    const slugs = (await api.call('GET', '/triggers')).body.map((one: Body) => one.slug);
    expect(slugs).toEqual(['depot-scan', 'a-later-one']);
    expect((await api.call('GET', '/triggers?limit=1')).body).toHaveLength(1);
    expect((await api.call('DELETE', '/triggers/depot-scan')).status).toBe(204);
    expect((await api.call('DELETE', '/triggers/depot-scan')).status).toBe(404);
    expect((await api.call('GET', '/triggers/depot-scan')).status).toBe(404);
  });

  it('finds a slug that needs escaping', async () => {
    const slug = 'a/b c?é';
    await create({ slug });
    expect((await api.call('GET', `/triggers/${encodeURIComponent(slug)}`)).body.slug).toBe(slug);
  });
});

describe('POST /triggers/{slug}/fire', () => {
  const fire = (options: object = {}, slug = 'depot-scan') =>
    api.call('POST', `/triggers/${slug}/fire`, options);

  it('starts an instance with the body as its data', async () => {
    await create();
    const reply = await fire({ body: { scan: 'PX' } });
    expect(reply).toMatchObject({
      status: 201,
      body: { trigger: 'depot-scan', sequence_name: 'parcel-return' },
    });
    const instance = (await api.call('GET', `/instances/${reply.body.instance_id}`)).body;
    expect(instance.context.data).toEqual({ scan: 'PX' });
    expect(instance.context.config).toEqual({});
    expect(instance.namespace).toBe('fulfilment');
    expect(instance.metadata).toEqual({
      _trigger: 'depot-scan',
      _trigger_type: 'webhook',
      _trigger_event: { source: 'http_fire' },
    });
  });

  it.each([
    ['', {}],
    ['null', { payload: null }],
    ['7', { payload: 7 }],
    ['[1]', { payload: [1] }],
    ['{"payload":1}', { payload: 1 }],
  ])('reads the body %j as the data %j', async (raw, data) => {
    await create();
    const { body } = await fire(raw === '' ? {} : { raw });
    expect((await api.call('GET', `/instances/${body.instance_id}`)).body.context.data).toEqual(data);
  });

  it('needs the secret when there is one', async () => {
    await create({ secret: 'hush' });
    const statuses: number[] = [];
    for (const secret of [undefined, '', 'hus', 'hush']) {
      const headers = secret === undefined ? {} : { 'x-trigger-secret': secret };
      statuses.push((await fire({ headers })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 201]);
  });

  it('works for triggers of every type', async () => {
    for (const type of ['event', 'nats', 'file_watch', 'activepieces_poll']) {
      await create({ slug: type, trigger_type: type });
      expect((await fire({}, type)).status).toBe(201);
    }
  });

  it('takes the newest live version at each fire', async () => {
    await create();
    const second = await published(api, { version: 2 });
    const sequenceOf = async () => {
      const { body } = await fire();
      return (await api.call('GET', `/instances/${body.instance_id}`)).body.sequence_id;
    };
    expect(await sequenceOf()).toBe(second);
    await api.call('POST', `/sequences/${second}/deprecate`);
    expect(await sequenceOf()).not.toBe(second);
  });

  it('answers 404 when no version is live, 400 when the trigger is disabled, and 422 for bad data', async () => {
    await create({ slug: 'off', enabled: false });
    expect(await fire({}, 'off')).toMatchObject({ status: 400, body: { code: 'trigger_disabled' } });
    const strict = await published(api, { version: 2, input_schema: { type: 'object', required: ['a'] } });
    await create();
    expect((await fire({ body: {} })).status).toBe(422);
    await api.call('POST', `/sequences/${strict}/deprecate`);
    for (const { id } of (await api.call('GET', '/sequences.json')).body) {
      await api.call('POST', `/sequences/${id}/deprecate`);
    }
    expect((await fire()).status).toBe(404);
    expect((await api.call('GET', '/instances')).body.items).toEqual([]);
  });
});
