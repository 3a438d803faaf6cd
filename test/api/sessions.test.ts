import { beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, createFixture, OTHER_TENANT, type Reply, TENANT } from './support/api-fixture.ts';
import { published, startBody, started } from './support/documents.ts';

let api: ApiFixture;
beforeEach(() => {
  api = createFixture();
});

const create = (overrides: JsonObject = {}): Promise<Reply> =>
  api.call('POST', '/sessions', { body: { tenant_id: TENANT, session_key: 'shopper-118', ...overrides } });

describe('POST /sessions', () => {
  it('answers the session, which is found by id and by key', async () => {
    const reply = await create({ data: { lang: 'pt' }, expires_at: '2027-03-11T09:00:00+01:00' });
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      ...{ id: expect.any(String), tenant_id: TENANT, session_key: 'shopper-118', data: { lang: 'pt' } },
      ...{ state: 'active', created_at: '2027-02-11T08:00:00.000Z', updated_at: '2027-02-11T08:00:00.000Z' },
      expires_at: '2027-03-11T08:00:00.000Z',
    });
    for (const path of [`/sessions/${reply.body.id}`, `/sessions/by-key/${TENANT}/shopper-118`]) {
      expect((await api.call('GET', path)).body).toEqual(reply.body);
    }
    expect((await create({ session_key: 'plain' })).body).toMatchObject({ data: {} });
    expect((await create({ session_key: 'plainer' })).body).not.toHaveProperty('expires_at');
  });

  it('takes a key once per tenant', async () => {
    await create();
    expect(await create()).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('already exists: ') },
    });
    const theirs = { tenant_id: OTHER_TENANT, session_key: 'shopper-118' };
    expect((await api.call('POST', '/sessions', { body: theirs, tenant: OTHER_TENANT })).status).toBe(201);
  });

  it('refuses keys and data of the wrong size, and other tenants', async () => {
    expect((await create({ session_key: '' })).status).toBe(400);
    expect((await create({ session_key: 'k'.repeat(513) })).status).toBe(400);
    expect((await create({ session_key: 'k'.repeat(512) })).status).toBe(201);
    expect((await create({ data: 'x'.repeat(262_144) })).status).toBe(413);
    expect((await create({ tenant_id: OTHER_TENANT })).status).toBe(403);
    expect((await create({ tenant_id: ' ' })).status).toBe(403);
    expect((await api.call('POST', '/sessions', { body: { tenant_id: TENANT } })).body.error).toContain(
      'missing field `session_key`',
    );
    expect((await create({ expires_at: 'tomorrow' })).status).toBe(422);
  });

  it('keeps any key and any data exactly', async () => {
    for (const key of ['__proto__', 'a b', 'ключ', '%41', 'x?y#z']) {
      const { id } = (await create({ session_key: key, data: { __proto__: 1, [key]: null } })).body;
      const found = await api.call('GET', `/sessions/by-key/${TENANT}/${encodeURIComponent(key)}`);
      expect(found.body.id).toBe(id);
    }
  });
});

describe('a session', () => {
  it('has its data replaced', async () => {
    const { id } = (await create({ data: { a: 1 } })).body;
    api.clock.now += 5;
    const patch = (body: object, of = id): Promise<Reply> =>
      api.call('PATCH', `/sessions/${of}/data`, { body });
    expect(await patch({ data: { b: null } })).toMatchObject({ status: 200, text: '' });
    expect((await api.call('GET', `/sessions/${id}`)).body).toMatchObject({
      ...{ data: { b: null }, updated_at: '2027-02-11T08:00:00.005Z' },
    });
    expect((await patch({ data: 'x'.repeat(262_144) })).status).toBe(413);
    expect((await patch({ data: 'x'.repeat(262_144) }, nextId())).status).toBe(404);
    expect((await patch({ data: 1 }, nextId())).status).toBe(404);
    expect((await patch({})).status).toBe(422);
  });

  it('goes from any state to any other', async () => {
    const { id } = (await create()).body;
    const patch = (state: string, of = id): Promise<Reply> =>
      api.call('PATCH', `/sessions/${of}/state`, { body: { state } });
    for (const state of ['completed', 'active', 'expired', 'paused', 'paused']) {
      expect((await patch(state)).status).toBe(200);
      expect((await api.call('GET', `/sessions/${id}`)).body.state).toBe(state);
    }
    expect((await patch('asleep')).status).toBe(422);
    expect((await patch('active', nextId())).status).toBe(404);
  });

  it('is joined by instances of its tenant only, and lists them oldest first', async () => {
    const { id } = (await create()).body;
    const first = await started(api, { session_id: id });
    api.clock.now += 1;
    const second = await started(api, { session_id: id });
    await started(api);
    const list = (await api.call('GET', `/sessions/${id}/instances`)).body;
    expect(list.map((run: { id: string; session_id: string }) => [run.id, run.session_id])).toEqual([
      [first, id],
      [second, id],
    ]);
    const sequenceId = await published(api);
    const unknown = nextId();
    const single = await api.call('POST', '/instances', {
      body: startBody(sequenceId, { session_id: unknown }),
    });
    expect(single).toMatchObject({ status: 404, body: { error: `not found: session ${unknown}` } });
    const batch = [startBody(sequenceId), startBody(sequenceId, { session_id: unknown })];
    const reply = await api.call('POST', '/instances/batch', { body: { instances: batch } });
    expect(reply.body.error).toBe(`not found: instances[1]: session ${unknown}`);
    expect((await api.call('GET', `/sessions/${nextId()}/instances`)).status).toBe(404);
  });

  it('of another tenant is not found', async () => {
    const { id } = (await create()).body;
    const options = { tenant: OTHER_TENANT };
    for (const path of [
      `/sessions/${id}`,
      `/sessions/${id}/instances`,
      `/sessions/by-key/${TENANT}/shopper-118`,
    ]) {
      expect((await api.call('GET', path, options)).status).toBe(404);
    }
    expect((await api.call('GET', `/sessions/by-key/${OTHER_TENANT}/shopper-118`)).status).toBe(404);
    const free = createFixture({ requireTenantHeader: false }, { store: api.store });
    const path = `/sessions/by-key/${TENANT}/shopper-118`;
    expect((await free.call('GET', path, { tenant: null })).body.id).toBe(id);
  });
});
