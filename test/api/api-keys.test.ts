import { describe, expect, it } from 'vitest';
import { mayCall } from '../../src/engine/api-keys/capabilities.ts';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, type Body, createFixture, TENANT } from './support/api-fixture.ts';
import { document } from './support/documents.ts';

const ROOT = { 'x-api-key': 'root-key-of-the-tests' };

const open = (): ApiFixture => createFixture({ apiKey: ROOT['x-api-key'] });
const create = async (api: ApiFixture, body: object = {}): Promise<Body> =>
  (await api.call('POST', '/api-keys', { headers: ROOT, tenant: null, body: { tenant_id: TENANT, ...body } }))
    .body;
const as = (secret: string) => ({ headers: { 'x-api-key': secret }, tenant: null });

describe('keys of tenants', () => {
  it('are made by the root key, with a secret that is shown once', async () => {
    const api = open();
    const made = await create(api, { name: 'ci', capabilities: [] });
    expect(made).toMatchObject({
      tenant_id: TENANT,
      name: 'ci',
      capabilities: ['operator'],
      expires_at: null,
    });
    expect(made.id).toMatch(/^ak_[0-9a-f]{32}$/);
    expect(made.secret).toMatch(/^sk_[\w-]{43}$/);
    const list = await api.call('GET', `/api-keys?tenant_id=${TENANT}`, { headers: ROOT, tenant: null });
    expect(list.body).toMatchObject([{ id: made.id, last_used_at: null, revoked: false }]);
    expect(list.text).not.toContain(made.secret);
  });

  it('need no tenant header, and are refused with that of another tenant', async () => {
    const api = open();
    const { secret } = await create(api);
    const call = (tenant: string | null) =>
      api.call('GET', '/sequences', { headers: { 'x-api-key': secret }, tenant });
    expect((await call(null)).status).toBe(200);
    expect((await call(TENANT)).status).toBe(200);
    expect(await call('dunes')).toMatchObject({ status: 403, body: { code: 'tenant_mismatch' } });
    const bearer = { headers: { authorization: `Bearer ${secret}` }, tenant: null };
    expect((await api.call('GET', '/sequences', bearer)).status).toBe(200);
  });

  it('see and create in their tenant only', async () => {
    const api = open();
    const { secret } = await create(api);
    const foreign = await create(api, { tenant_id: 'dunes' });
    const body = document();
    expect((await api.call('POST', '/sequences', { ...as(secret), body })).status).toBe(201);
    expect((await api.call('GET', `/sequences/${body.id}`, as(secret))).status).toBe(200);
    expect((await api.call('GET', `/sequences/${body.id}`, as(foreign.secret))).status).toBe(404);
    const other = { ...as(foreign.secret), body: document() };
    expect((await api.call('POST', '/sequences', other)).status).toBe(403);
  });

  it('cannot manage keys', async () => {
    const api = open();
    const { secret, id } = await create(api);
    for (const [method, path] of [
      ['POST', '/api-keys'],
      ['GET', '/api-keys'],
      ['DELETE', `/api-keys/${id}`],
    ] as const) {
      const reply = await api.call(method, path, as(secret));
      expect(reply).toMatchObject({ status: 403, body: { code: 'admin_only' } });
      expect(reply.body.error).toContain('API key management requires the root API key');
    }
  });

  it('do what their capabilities allow (F11)', async () => {
    const api = open();
    const { secret } = await create(api, { capabilities: ['auditor'] });
    expect((await api.call('GET', '/instances', as(secret))).status).toBe(200);
    expect(await api.call('POST', '/instances', { ...as(secret), body: {} })).toMatchObject({
      status: 403,
      body: { code: 'missing_capability' },
    });
  });

  it('end when they are revoked or expire, as any wrong key does', async () => {
    const api = open();
    const { secret, id } = await create(api);
    expect((await api.call('GET', '/sequences', as(secret))).status).toBe(200);
    const revoke = () => api.call('DELETE', `/api-keys/${id}`, { headers: ROOT, tenant: null });
    expect((await revoke()).status).toBe(204);
    expect((await revoke()).status).toBe(404);
    const refused = await api.call('GET', '/sequences', as(secret));
    const wrong = await api.call('GET', '/sequences', as('sk_wrong'));
    expect([refused.status, refused.body.error]).toEqual([401, wrong.body.error]);
    const past = await create(api, { expires_at: '2020-01-01T00:00:00Z' });
    expect((await api.call('GET', '/sequences', as(past.secret))).status).toBe(401);
  });

  it('are refused by name when the body or query is wrong', async () => {
    const api = open();
    const admin = { headers: ROOT, tenant: null };
    const post = (body: object) => api.call('POST', '/api-keys', { ...admin, body });
    expect((await post({ tenant_id: '  ' })).status).toBe(400);
    expect((await post({ tenant_id: 't', capabilities: ['king'] })).status).toBe(422);
    expect((await post({})).body.error).toContain('missing field `tenant_id`');
    expect((await api.call('GET', '/api-keys', admin)).body.error).toContain('missing field `tenant_id`');
    const blank = await api.call('GET', '/api-keys?tenant_id=', admin);
    expect([blank.status, blank.body.error]).toEqual([
      400,
      'invalid argument: tenant_id query parameter is required',
    ]);
    expect((await api.call('DELETE', `/api-keys/${nextId()}`, admin)).status).toBe(404);
  });

  it('that are wrong again and again are told to slow down', async () => {
    const api = open();
    const statuses: number[] = [];
    for (let n = 0; n < 60; n += 1) statuses.push((await api.call('GET', '/sequences', as('sk_no'))).status);
    expect(new Set(statuses.slice(0, 50))).toEqual(new Set([401]));
    expect(new Set(statuses.slice(50))).toEqual(new Set([429]));
    expect((await api.call('GET', '/sequences', { headers: ROOT })).status).toBe(200);
  });
});

describe('capabilities', () => {
  it.each([
    ['worker', 'POST', '/workers/tasks/poll', true],
    ['worker', 'GET', '/handlers', true],
    ['worker', 'GET', '/instances', false],
    ['approver', 'GET', '/approvals', true],
    ['approver', 'POST', '/instances/{id}/signals', true],
    ['approver', 'GET', '/instances/{id}/signals', false],
    ['approver', 'GET', '/instances/{id}/diagnosis', false],
    ['auditor', 'GET', '/instances/{id}/diagnosis', true],
    ['auditor', 'POST', '/instances/{id}/wake', false],
    ['operator', 'POST', '/instances/{id}/wake', true],
    ['approver', 'POST', '/instances/{id}/retry', false],
    ['publisher', 'POST', '/sequences', true],
    ['publisher', 'POST', '/sequencesx', false],
    ['publisher', 'POST', '/instances', false],
    ['auditor', 'HEAD', '/instances', true],
    ['auditor', 'DELETE', '/sequences/{id}', false],
    ['operator', 'DELETE', '/sequences/{id}', true],
    ['device', 'GET', '/sequences', false],
  ] as const)('%s: %s %s is allowed: %s', (capability, method, path, allowed) => {
    expect(mayCall([capability], method, path)).toBe(allowed);
  });

  it('add up', () => {
    expect(mayCall(['worker', 'publisher'], 'POST', '/sequences')).toBe(true);
    expect(mayCall([], 'GET', '/sequences')).toBe(false);
  });
});
