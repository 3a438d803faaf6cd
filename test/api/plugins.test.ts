import { beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { type ApiFixture, createFixture, OTHER_TENANT, TENANT } from './support/api-fixture.ts';

let api: ApiFixture;
beforeEach(() => {
  api = createFixture();
});

const RESIZE = { name: 'resize', plugin_type: 'wasm', source: 'file:///resize.wasm' };
const create = (overrides: JsonObject = {}, options = {}) =>
  api.call('POST', '/plugins', { body: { ...RESIZE, ...overrides }, ...options });

describe('plugins [API 18]', () => {
  it('are kept with their defaults, changed in parts and deleted once', async () => {
    const at = '2027-02-11T08:00:00.000Z';
    const shown = {
      ...RESIZE,
      tenant_id: TENANT,
      enabled: true,
      config: null,
      created_at: at,
      updated_at: at,
    };
    expect(await create()).toMatchObject({ status: 201, body: shown });
    expect((await api.call('GET', '/plugins/resize')).body).toEqual(shown);
    api.clock.now += 1000;
    const patch = { enabled: false, config: { pages: 2 }, description: 'makes it small' };
    const changed = await api.call('PATCH', '/plugins/resize', { body: patch });
    const after = { ...shown, ...patch, updated_at: '2027-02-11T08:00:01.000Z' };
    expect(changed).toMatchObject({ status: 200, body: after });
    const cleared = await api.call('PATCH', '/plugins/resize', { body: { description: null, config: null } });
    expect(cleared.body).toEqual({ ...shown, enabled: false, updated_at: after.updated_at });
    expect((await api.call('DELETE', '/plugins/resize')).status).toBe(204);
    for (const method of ['GET', 'DELETE']) {
      expect(await api.call(method, '/plugins/resize')).toMatchObject({
        status: 404,
        body: { error: 'not found: plugin resize' },
      });
    }
    expect((await api.call('PATCH', '/plugins/resize', { body: {} })).status).toBe(404);
  });

  it('are listed by name', async () => {
    await create({ name: 'b' });
    await create({ name: 'a', plugin_type: 'grpc' });
    const names = async (query = '') =>
      (await api.call('GET', `/plugins${query}`)).body.map(({ name }: { name: string }) => name);
    expect(await names()).toEqual(['a', 'b']);
    expect(await names('?plugin_type=grpc')).toEqual(['a']);
    expect(await names('?limit=1')).toEqual(['a']);
    expect((await api.call('GET', '/plugins?plugin_type=jar')).status).toBe(400);
  });

  it.each([
    [{ name: undefined }, 422, 'missing field `name`'],
    [{ plugin_type: undefined }, 422, 'missing field `plugin_type`'],
    [{ source: undefined }, 422, 'missing field `source`'],
    [{ plugin_type: 'jar' }, 422, 'plugin_type'],
    [{ source: 7 }, 422, 'source'],
    [{ name: ' ' }, 400, 'name must not be empty'],
    [{ name: 'n'.repeat(256) }, 400, 'name must not exceed 255 characters'],
    [{ name: '..' }, 400, 'name'],
    [{ source: '' }, 400, 'source must not be empty'],
    [{ source: 's'.repeat(2049) }, 400, 'source must not exceed 2048 characters'],
    [{ tenant_id: OTHER_TENANT }, 403, 'tenant_id'],
  ])('with %j are refused with %i', async (overrides, status, fragment) => {
    const reply = await create(overrides as JsonObject);
    expect(reply.status).toBe(status);
    expect(reply.body.error).toContain(fragment);
    expect((await api.call('GET', '/plugins')).body).toEqual([]);
  });

  it('have names of their own in each tenant, and none at all for an administrator', async () => {
    await create();
    expect(await create()).toMatchObject({ status: 409, body: { error: 'already exists: plugin resize' } });
    expect((await create({}, { tenant: OTHER_TENANT })).status).toBe(201);
    const free = createFixture({ requireTenantHeader: false });
    const reply = await free.call('POST', '/plugins', { body: RESIZE, tenant: null });
    expect(reply).toMatchObject({ status: 201, body: { tenant_id: '' } });
    expect((await free.call('GET', '/plugins/resize', { tenant: null })).status).toBe(200);
    expect((await free.call('GET', '/plugins/resize')).status).toBe(404);
    expect((await free.call('PATCH', '/plugins/resize', { tenant: null, body: { source: '' } })).status).toBe(
      400,
    );
  });
});
