import { beforeEach, describe, expect, it } from 'vitest';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, type Body, createFixture, OTHER_TENANT, TENANT } from './support/api-fixture.ts';
import { published, startBody } from './support/documents.ts';

let api: ApiFixture;
beforeEach(() => {
  api = createFixture();
});

const inDefault = { namespace: 'default' };
const statusOf = async (id: string): Promise<Body> => (await api.call('GET', `/sequences/${id}`)).body;

const STATUSES = ['draft', 'staging', 'production', 'unpublished'] as const;
const ALLOWED: Readonly<Record<(typeof STATUSES)[number], readonly string[]>> = {
  draft: ['staging', 'unpublished'],
  staging: ['production', 'unpublished'],
  production: ['unpublished'],
  unpublished: [],
};
const CHANGES = STATUSES.flatMap((from) => STATUSES.map((to) => ({ from, to })));

describe('changes of the status of a version [API 3.5]', () => {
  const change = async (from: string, to: string) => {
    const id = await published(api, { status: from });
    const reply = await api.call('POST', `/sequences/${id}/status`, { body: { status: to } });
    return { reply, after: await statusOf(id) };
  };

  it.each(CHANGES.filter(({ from, to }) => ALLOWED[from].includes(to)))(
    'from $from to $to is made',
    async ({ from, to }) => {
      const { reply, after } = await change(from, to);
      expect(reply.status).toBe(204);
      expect(after).toMatchObject({ status: to, deprecated: to === 'unpublished' });
    },
  );

  it.each(CHANGES.filter(({ from, to }) => !ALLOWED[from].includes(to)))(
    'from $from to $to is refused',
    async ({ from, to }) => {
      const { reply, after } = await change(from, to);
      expect(reply).toMatchObject({ status: 400, body: { code: 'illegal_transition' } });
      expect(reply.body.error).toContain(`from ${from} to ${to}`);
      expect(after.status).toBe(from);
    },
  );
});

describe('POST /sequences/{name}/promote [API 3.5]', () => {
  it('moves the newest version in the namespace default to production', async () => {
    await published(api, { ...inDefault, version: 1, status: 'staging' });
    const id = await published(api, { ...inDefault, version: 12, status: 'staging' });
    await published(api, { ...inDefault, version: 3, status: 'staging' });
    const other = await published(api, { namespace: 'fulfilment', version: 99, status: 'staging' });
    const reply = await api.call('POST', '/sequences/parcel-return/promote');
    expect(reply).toMatchObject({ status: 201, body: { id, version: 12 } });
    expect((await statusOf(id)).status).toBe('production');
    expect((await statusOf(other)).status).toBe('staging');
  });

  it.each(['draft', 'production', 'unpublished'])('answers 400 for one in %s', async (status) => {
    const id = await published(api, { ...inDefault, status });
    const reply = await api.call('POST', '/sequences/parcel-return/promote');
    expect(reply).toMatchObject({ status: 400, body: { code: 'illegal_transition' } });
    expect((await statusOf(id)).status).toBe(status);
  });

  it('answers 404 for a name that is not in the namespace default of the tenant', async () => {
    await published(api, { namespace: 'fulfilment', status: 'staging' });
    expect((await api.call('POST', '/sequences/parcel-return/promote')).status).toBe(404);
    await published(api, { ...inDefault, status: 'staging' });
    const reply = await api.call('POST', '/sequences/parcel-return/promote', { tenant: OTHER_TENANT });
    expect(reply).toMatchObject({ status: 404, body: { error: 'not found: sequence parcel-return' } });
  });

  it('looks at the tenant default where the call has none, and takes any name', async () => {
    const free = createFixture({ requireTenantHeader: false });
    const none = { tenant: null };
    const name = 'päckchen/50% & more';
    const id = await published(free, { ...inDefault, tenant_id: 'default', name, status: 'staging' }, none);
    await published(free, { ...inDefault, name, version: 2, status: 'staging' }, none);
    const path = `/sequences/${encodeURIComponent(name)}/promote`;
    expect(await free.call('POST', path, none)).toMatchObject({ status: 201, body: { id, version: 1 } });
  });
});

describe('POST /sequences/{name}/unpublish [API 3.5]', () => {
  const unpublish = (options = {}) => api.call('POST', '/sequences/parcel-return/unpublish', options);

  it('takes the newest version out of use, again and again, with or without a body', async () => {
    const older = await published(api, { ...inDefault, version: 1 });
    const id = await published(api, { ...inDefault, version: 2 });
    for (const options of [{}, { body: {} }, { body: { delete: false } }, { body: { delete: null } }]) {
      expect((await unpublish(options)).status).toBe(204);
      expect(await statusOf(id)).toMatchObject({ status: 'unpublished', deprecated: true });
      expect(await statusOf(older)).toMatchObject({ status: 'production', deprecated: false });
    }
    const named = '/sequences/by-name?namespace=default&name=parcel-return';
    expect((await api.call('GET', named)).body.id).toBe(older);
  });

  it('deletes it when asked to, but not while an instance may need it', async () => {
    const id = await published(api, { ...inDefault, version: 2 });
    const older = await published(api, { ...inDefault, version: 1 });
    await api.call('POST', '/instances', { body: startBody(id) });
    const refused = await unpublish({ body: { delete: true } });
    expect(refused).toMatchObject({ status: 409, body: { code: 'sequence_in_use' } });
    expect(await statusOf(id)).toMatchObject({ status: 'production', deprecated: false });
    await published(api, { ...inDefault, version: 3 });
    expect((await unpublish({ body: { delete: true } })).status).toBe(204);
    const left = await api.call('GET', '/sequences/versions?namespace=default&name=parcel-return');
    expect(left.body.map(({ id: one }: Body) => one)).toEqual([id, older]);
  });

  it('answers 404 for an unknown name and 422 for another shape', async () => {
    expect((await unpublish()).status).toBe(404);
    expect((await unpublish({ body: { delete: 'yes' } })).status).toBe(422);
    expect((await unpublish({ raw: '{' })).status).toBe(400);
  });
});

describe('sequences by name and their live runs (dashboard.md A15)', () => {
  it('lists the versions of one name, with the number of runs that have not ended', async () => {
    const first = await published(api, { version: 1 });
    const second = await published(api, { version: 2 });
    await published(api, { name: 'other' });
    for (let index = 0; index < 3; index += 1)
      await api.call('POST', '/instances', { body: startBody(first) });
    const shown = async (path: string): Promise<readonly (readonly unknown[])[]> => {
      const { body } = await api.call('GET', path);
      return (body.items ?? body).map(({ id, live_runs }: Body) => [id, live_runs]);
    };
    const plain = [
      [second, undefined],
      [first, undefined],
    ];
    const counted = [
      [second, 0],
      [first, 3],
    ];
    expect(await shown('/sequences?name=parcel-return')).toEqual(plain);
    expect(await shown('/sequences?name=parcel-return&live_runs=true')).toEqual(counted);
    expect(await shown('/sequences.json?name=parcel-return&live_runs=true')).toEqual(counted);
    const versions = '/sequences/versions?namespace=fulfilment&name=parcel-return';
    expect(await shown(`${versions}&live_runs=true`)).toEqual(counted);
    expect(await shown('/sequences?name=nobody&live_runs=true')).toEqual([]);
    expect((await api.call('GET', '/sequences?limit=1&name=parcel-return')).body.has_more).toBe(true);
  });
});

describe('starts by the name of the sequence', () => {
  const named = (overrides = {}) => ({
    tenant_id: TENANT,
    namespace: 'fulfilment',
    sequence_name: 'parcel-return',
    ...overrides,
  });
  const start = (overrides = {}) => api.call('POST', '/instances', { body: named(overrides) });
  const sequenceOf = async (id: string): Promise<unknown> =>
    (await api.call('GET', `/instances/${id}`)).body.sequence_id;

  it('take the newest version that is not deprecated, or the one that is named', async () => {
    const first = await published(api, { version: 1 });
    const second = await published(api, { version: 2 });
    const third = await published(api, { version: 3, deprecated: true });
    for (const [overrides, expected] of [
      [{}, second],
      [{ version: 1 }, first],
      [{ version: 3 }, third],
      [{ version: 1, sequence_id: second }, second],
    ] as const) {
      const reply = await start(overrides);
      expect(reply.status).toBe(201);
      expect(await sequenceOf(reply.body.id)).toBe(expected);
    }
  });

  it('are refused for an unknown name or version and without any', async () => {
    await published(api, { version: 1 });
    expect(await start({ sequence_name: 'nobody' })).toMatchObject({
      status: 404,
      body: { error: 'not found: sequence nobody' },
    });
    expect(await start({ version: 7 })).toMatchObject({
      status: 404,
      body: { error: 'not found: sequence parcel-return version 7' },
    });
    expect(await start({ namespace: 'returns' })).toMatchObject({ status: 404 });
    for (const sequence_name of [undefined, null, '']) {
      const reply = await start({ sequence_name });
      expect(reply).toMatchObject({ status: 422 });
      expect(reply.body.error).toContain('missing field `sequence_id`');
    }
    expect((await start({ version: '1' })).status).toBe(422);
  });

  it('may be mixed in a batch, which names the index of what is unknown', async () => {
    const id = await published(api, { version: 1 });
    const batch = (instances: readonly object[]) =>
      api.call('POST', '/instances/batch', { body: { instances } });
    const good = [named(), startBody(id), named({ version: 1 }), named()];
    expect(await batch(good)).toMatchObject({ status: 201, body: { count: 4 } });
    const list = await api.call('GET', `/instances?sequence_id=${id}`);
    expect(list.body.items).toHaveLength(4);
    const bad = await batch([named(), named({ version: 9 })]);
    expect(bad).toMatchObject({ status: 404 });
    expect(bad.body.error).toContain('instances[1]: sequence parcel-return version 9');
    expect((await batch([named({ tenant_id: OTHER_TENANT })])).status).toBe(403);
    expect((await batch([startBody(nextId())])).status).toBe(404);
  });
});
