import { describe, expect, it } from 'vitest';
import { nextId } from '../support/turn-builder.ts';
import { createFixture, OTHER_TENANT } from './support/api-fixture.ts';
import { published } from './support/documents.ts';

const KEY = 'root-key-of-the-tests';

describe('authentication', () => {
  const api = createFixture({ apiKey: KEY });
  const status = async (headers: Record<string, string>, path = '/api/v1/sequences') =>
    (await api.send('GET', path, { headers })).status;

  it.each([
    [{ 'x-api-key': KEY }, 200],
    [{ authorization: `Bearer ${KEY}` }, 200],
    [{}, 401],
    [{ 'x-api-key': '' }, 401],
    [{ 'x-api-key': `${KEY}x` }, 401],
    [{ 'x-api-key': KEY.slice(1) }, 401],
    [{ 'x-api-key': 'wrong', authorization: `Bearer ${KEY}` }, 401],
    [{ authorization: KEY }, 401],
    [{ authorization: `bearer ${KEY}` }, 401],
    [{ authorization: `Basic ${KEY}` }, 401],
    [{ authorization: `Token ${KEY}` }, 401],
    [{ authorization: `Bearer  ${KEY}` }, 401],
    [{ authorization: `Bearer ${KEY}, Bearer ${KEY}` }, 401],
  ])('answers %j with %i', async (headers, expected) => {
    expect(await status(headers)).toBe(expected);
  });

  it('says nothing but unauthorized, whatever is there', async () => {
    const known = await published(api, {}, { headers: { 'x-api-key': KEY } });
    const bodies = await Promise.all(
      [known, nextId()].map((id) =>
        api.send('GET', `/api/v1/sequences/${id}`, { headers: { 'x-request-id': 'r' } }),
      ),
    );
    for (const reply of bodies) {
      expect(reply).toMatchObject({ status: 401, body: { error: 'unauthorized', code: 'unauthorized' } });
      expect(reply.headers.get('www-authenticate')).toBe('Bearer');
    }
    expect(bodies[0]?.text).toBe(bodies[1]?.text);
  });

  it('leaves the public paths open and closes the others', async () => {
    for (const path of ['/health/live', '/health/ready', '/info']) expect(await status({}, path)).toBe(200);
    expect(await status({}, '/metrics')).toBe(401);
    expect(await status({ 'x-api-key': KEY }, '/metrics')).toBe(200);
    expect((await api.send('POST', '/webhooks/none', { body: {} })).status).toBe(404);
  });

  it('is asked for also where no path or method is found [API 1.3]', async () => {
    const nowhere = [
      ['GET', '/api/v1/nope'],
      ['GET', '/nope'],
      ['GET', '/'],
      ['PUT', '/api/v1/sequences'],
      ['OPTIONS', '/api/v1/sequences'],
    ] as const;
    for (const [method, path] of nowhere) {
      const send = async (headers: Record<string, string>) =>
        (await api.send(method, path, { headers, tenant: null })).status;
      expect([path, await send({})]).toEqual([path, 401]);
      expect([path, await send({ 'x-api-key': 'wrong' })]).toEqual([path, 401]);
      const known = path.endsWith('/sequences') ? 405 : 404;
      expect([path, await send({ 'x-api-key': KEY })]).toEqual([path, known]);
    }
    expect((await api.send('POST', '/health/live', { body: {} })).status).toBe(405);
    expect((await api.send('GET', '/webhooks/none')).status).toBe(405);
  });

  it('comes before the tenant header, the path, the body and the look-up', async () => {
    const path = '/api/v1/instances/not-a-uuid/signals';
    const send = (headers: Record<string, string>, tenant: string | null, target = path, raw = '{') =>
      api.send('POST', target, { headers, tenant, raw });
    const key = { 'x-api-key': KEY };
    const unknown = `/api/v1/instances/${nextId()}/signals`;
    expect((await send({}, null)).status).toBe(401);
    const noTenant = await send(key, null);
    expect(noTenant).toMatchObject({ status: 400, body: { code: 'tenant_required' } });
    expect(noTenant.body.error).toBe('invalid argument: x-tenant-id header is required');
    expect((await send(key, 't')).body.error).toContain('id');
    expect((await send({ ...key, 'content-type': 'text/plain' }, 't', unknown)).status).toBe(415);
    expect((await send(key, 't', unknown)).status).toBe(400);
    expect((await send(key, 't', unknown, '{}')).status).toBe(422);
    expect((await send(key, 't', unknown, '{"signal_type":"pause"}')).status).toBe(404);
  });
});

describe('tenants', () => {
  it('are required by default, and blank is none', async () => {
    const api = createFixture();
    for (const tenant of [null, '', '   ']) {
      expect((await api.send('GET', '/api/v1/instances', { tenant })).status).toBe(400);
    }
    expect((await api.send('GET', '/api/v1/instances', { tenant: 'x'.repeat(256) })).status).toBe(400);
  });

  it('may be missing where the header is not required: then everything is seen', async () => {
    const api = createFixture({ requireTenantHeader: false });
    await published(api);
    await published(api, { tenant_id: OTHER_TENANT }, { tenant: null });
    const list = async (query: string, tenant: string | null) =>
      (await api.send('GET', `/api/v1/sequences${query}`, { tenant })).body.items.length;
    expect(await list('', null)).toBe(2);
    expect(await list(`?tenant_id=${OTHER_TENANT}`, null)).toBe(1);
    expect(await list('', OTHER_TENANT)).toBe(1);
    expect(await list('?tenant_id=nobody', OTHER_TENANT)).toBe(1);
  });

  it('have a default where one is set', async () => {
    const api = createFixture({ requireTenantHeader: false, defaultTenantId: 'default' });
    await published(api, { tenant_id: 'default' }, { tenant: null });
    expect((await api.send('GET', '/api/v1/sequences', { tenant: null })).body.items).toHaveLength(1);
    expect((await api.send('GET', '/api/v1/sequences', { tenant: OTHER_TENANT })).body.items).toHaveLength(0);
  });

  it('may have names beyond ASCII, sent as UTF-8', async () => {
    const api = createFixture();
    const header = Array.from(new TextEncoder().encode('dünen'), (byte) => String.fromCharCode(byte)).join(
      '',
    );
    await published(api, { tenant_id: 'dünen' }, { tenant: header });
    expect((await api.send('GET', '/api/v1/sequences', { tenant: header })).body.items[0].tenant_id).toBe(
      'dünen',
    );
    expect((await api.send('GET', '/api/v1/sequences', { tenant: '\u00ff\u00fe' })).status).toBe(400);
  });
});
