import { beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.ts';
import { type ApiFixture, createFixture, OTHER_TENANT, TENANT } from './support/api-fixture.ts';

const SECRET = 'hush-hush';

let api: ApiFixture;
beforeEach(() => {
  api = createFixture();
});

const create = (overrides: JsonObject = {}, options: object = {}) =>
  api.call('POST', '/credentials', {
    body: { id: 'rates', name: 'Rates', value: SECRET, ...overrides },
    ...options,
  });

describe('credentials over HTTP (http-api.md 17)', () => {
  it('creates one with its defaults and never shows what is secret [CRED-3]', async () => {
    const made = await create({
      refresh_token: SECRET,
      expires_at: '2027-03-01T00:00:00Z',
      description: 'of the desk',
    });
    expect(made).toMatchObject({ status: 201 });
    expect(made.body).toEqual({
      id: 'rates',
      tenant_id: TENANT,
      name: 'Rates',
      kind: 'api_key',
      enabled: true,
      expires_at: '2027-03-01T00:00:00.000Z',
      has_refresh_token: true,
      description: 'of the desk',
      created_at: '2027-02-11T08:00:00.000Z',
      updated_at: '2027-02-11T08:00:00.000Z',
    });
    const change = { body: { value: `${SECRET}-2` } };
    const shown = [
      made,
      await api.call('GET', '/credentials'),
      await api.call('GET', '/credentials/rates'),
      await api.call('PATCH', '/credentials/rates', change),
      await create({}),
    ];
    for (const { text } of shown) expect(text).not.toContain(SECRET);
    expect(api.logged.join('\n')).not.toContain(SECRET);
  });

  it.each<readonly [string, JsonObject, number]>([
    ['no id', { id: null }, 422],
    ['no value', { value: null }, 422],
    ['a value that is no text', { value: { user: 'a' } }, 422],
    ['an unknown kind', { kind: 'cookie' }, 422],
    ['an empty id', { id: '' }, 400],
    ['a bad id', { id: 'a/b' }, 400],
    ['an empty name', { name: ' ' }, 400],
    ['an empty value', { value: '' }, 400],
    ['a value that is too long', { value: 'x'.repeat(262_145) }, 400],
    ['a refresh_url without token', { kind: 'oauth2', refresh_url: 'https://id.example/token' }, 400],
    ['a private refresh_url', { refresh_url: 'http://10.0.0.1/token', refresh_token: 't' }, 400],
    ['a refresh_url of another scheme', { refresh_url: 'ftp://id.example/', refresh_token: 't' }, 400],
    ['another tenant', { tenant_id: OTHER_TENANT }, 403],
  ])('refuses %s', async (_, overrides, status) => {
    expect(await create(overrides)).toMatchObject({ status });
    expect((await api.call('GET', '/credentials')).body).toEqual([]);
  });

  it('an id is taken once per tenant', async () => {
    await create();
    expect(await create()).toMatchObject({ status: 409 });
    expect(await create({}, { tenant: OTHER_TENANT })).toMatchObject({ status: 201 });
  });

  it('changes what is given and leaves the rest', async () => {
    await create({ description: 'old', expires_at: '2027-03-01T00:00:00Z' });
    const changed = await api.call('PATCH', '/credentials/rates', {
      body: { enabled: false, expires_at: null },
    });
    expect(changed).toMatchObject({
      status: 200,
      body: { enabled: false, description: 'old', name: 'Rates' },
    });
    expect(changed.body).not.toHaveProperty('expires_at');
    const bad = await api.call('PATCH', '/credentials/rates', { body: { value: '' } });
    expect(bad).toMatchObject({ status: 400 });
    expect(await api.call('PATCH', '/credentials/nobody', { body: {} })).toMatchObject({ status: 404 });
  });

  it('lists by id, and deletes', async () => {
    await create({ id: 'b' });
    await create({ id: 'a' });
    await create({ id: 'c' }, { tenant: OTHER_TENANT });
    const ids = async () =>
      ((await api.call('GET', '/credentials')).body as { id: string }[]).map(({ id }) => id);
    expect(await ids()).toEqual(['a', 'b']);
    expect(await api.call('DELETE', '/credentials/a')).toMatchObject({ status: 204 });
    expect(await api.call('DELETE', '/credentials/a')).toMatchObject({ status: 404 });
    expect(await api.call('GET', '/credentials/c')).toMatchObject({ status: 404 });
    expect(await api.call('DELETE', '/credentials/c')).toMatchObject({ status: 404 });
    expect(await ids()).toEqual(['b']);
  });

  it('a server that has keys but none to seal with stores no secret', async () => {
    const { seal: _, ...rest } = api.deps;
    api = createFixture({}, { ...rest, seal: undefined } as never);
    expect(await create()).toMatchObject({ status: 400, body: { code: 'no_encryption_key' } });
  });
});
