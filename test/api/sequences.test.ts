import { beforeEach, describe, expect, it } from 'vitest';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, createFixture, OTHER_TENANT } from './support/api-fixture.ts';
import { document, published, startBody } from './support/documents.ts';

let api: ApiFixture;
beforeEach(() => {
  api = createFixture();
});

describe('POST /sequences', () => {
  it('stores the document and gives it back with its defaults [VER-1]', async () => {
    const body = document({ name: 'parcel-return', version: 3 });
    const reply = await api.call('POST', '/sequences', { body });
    expect(reply).toMatchObject({ status: 201, body: { id: body.id } });
    expect(reply.body).not.toHaveProperty('warnings');
    const stored = await api.call('GET', `/sequences/${body.id}`);
    expect(stored.body).toEqual({
      ...body,
      status: 'production',
      deprecated: false,
      blocks: [
        {
          type: 'step',
          id: 'first',
          handler: 'noop',
          params: null,
          delay: null,
          retry: null,
          cancellable: true,
        },
      ],
    });
  });

  it.each([
    ['created_at', undefined, 'missing field `created_at`'],
    ['id', 'no-uuid', 'id'],
    ['version', '3', 'version'],
    ['status', 'live', 'status'],
    ['blocks', [{ type: 'nope', id: 'a' }], 'blocks[0]'],
    ['blocks', [{ type: 'for_each', id: 'a', body: [] }], 'collection'],
    ['blocks', [{ type: 'step', id: 'a', handler: 7 }], 'handler'],
    ['tenant_id', '', 'tenant_id'],
  ])('answers 422 when %s is %j', async (member, value, fragment) => {
    const before = await api.footprint();
    const { [member]: _left, ...rest } = document();
    const reply = await api.call('POST', '/sequences', {
      body: value === undefined ? rest : { ...rest, [member]: value },
    });
    expect(reply).toMatchObject({ status: 422, body: { code: 'invalid_shape' } });
    expect(reply.body.error).toMatch(/^unprocessable entity: /);
    expect(reply.body.error).toContain(fragment);
    expect(await api.footprint()).toEqual(before);
  });

  it.each([
    ['no blocks', { blocks: [] }, ''],
    ['a duplicate block id', { blocks: [step('a'), step('a')] }, 'duplicate block id'],
    ['a schema that is none', { input_schema: { type: 7 } }, 'input_schema'],
    ['a loop that may never pass', { blocks: [loop(0)] }, 'max_iterations must be > 0'],
  ])('answers 400 for %s', async (_name, overrides, fragment) => {
    const reply = await api.call('POST', '/sequences', { body: document(overrides) });
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_definition' } });
    expect(reply.body.error).toMatch(/^invalid argument: /);
    expect(reply.body.error).toContain(fragment);
    expect((await api.call('GET', '/sequences')).body.items).toEqual([]);
  });

  it('answers 403 for the body of another tenant, before the semantic checks', async () => {
    const body = document({ tenant_id: OTHER_TENANT, blocks: [] });
    expect(await api.call('POST', '/sequences', { body })).toMatchObject({
      status: 403,
      body: { code: 'tenant_mismatch' },
    });
  });

  it('answers 400 for a tenant of white space only', async () => {
    const free = createFixture({ requireTenantHeader: false });
    const reply = await free.call('POST', '/sequences', {
      body: document({ tenant_id: '  ' }),
      tenant: null,
    });
    expect(reply).toMatchObject({
      status: 400,
      body: { error: 'invalid argument: tenant_id must not be empty' },
    });
  });

  it('answers 409 for an id or a version that exists', async () => {
    const id = await published(api);
    const sameId = await api.call('POST', '/sequences', { body: document({ id, version: 2 }) });
    expect(sameId).toMatchObject({ status: 409, body: { code: 'sequence_id_exists' } });
    const sameVersion = await api.call('POST', '/sequences', { body: document() });
    expect(sameVersion).toMatchObject({ status: 409, body: { code: 'sequence_version_exists' } });
    expect(sameVersion.body.error).toMatch(/^already exists: /);
  });

  it('warns about handlers that nobody is known to serve', async () => {
    const blocks = [step('a', 'nop'), step('b', 'parcel_lookup')];
    const reply = await api.call('POST', '/sequences', { body: document({ blocks }) });
    expect(reply.status).toBe(201);
    expect(reply.body.warnings).toHaveLength(2);
    expect(reply.body.warnings[0]).toContain('nop');
    expect(reply.body.warning_details[0]).toMatchObject({ code: 'unknown_handler', block_id: 'a' });
  });

  it('does not warn about a handler that a worker has polled for', async () => {
    await api.call('POST', '/workers/tasks/poll', {
      body: { handler_name: 'parcel_lookup', worker_id: 'w-1' },
    });
    const blocks = [step('b', 'parcel_lookup')];
    const reply = await api.call('POST', '/sequences', { body: document({ blocks }) });
    expect(reply.body).not.toHaveProperty('warnings');
  });

  it('publishes a sequence that starts itself, since nesting is bounded when it runs', async () => {
    const blocks = [{ type: 'sub_sequence', id: 'again', sequence_name: 'parcel-return' }];
    expect(await api.call('POST', '/sequences', { body: document({ blocks }) })).toMatchObject({
      status: 201,
    });
  });

  it('takes blocks that are nested deeper than other bodies may be', async () => {
    let blocks = [step('leaf')] as object[];
    for (let depth = 0; depth < 60; depth += 1)
      blocks = [{ type: 'cancellation_scope', id: `s${depth}`, blocks }];
    const body = document({ blocks: blocks as never });
    expect(await api.call('POST', '/sequences', { body })).toMatchObject({ status: 201 });
  });
});

describe('reading sequences', () => {
  it('lists by tenant, namespace, name and version descending, page by page', async () => {
    for (const [name, version] of [
      ['b', 1],
      ['a', 1],
      ['a', 2],
    ] as const)
      await published(api, { name, version });
    await published(api, { tenant_id: OTHER_TENANT }, { tenant: OTHER_TENANT });
    const first = await api.call('GET', '/sequences?limit=2');
    expect(first.body.has_more).toBe(true);
    const second = await api.call('GET', `/sequences?limit=2&offset=2&tenant_id=${OTHER_TENANT}`);
    expect(second.body.has_more).toBe(false);
    const all = [...first.body.items, ...second.body.items].map(({ name, version }) => `${name}${version}`);
    expect(all).toEqual(['a2', 'a1', 'b1']);
    expect((await api.call('GET', '/sequences.json')).body).toHaveLength(3);
    expect((await api.call('GET', '/sequences?namespace=elsewhere')).body.items).toEqual([]);
    expect((await api.call('GET', '/sequences?limit=0')).body).toEqual({ items: [], has_more: true });
  });

  it.each(['limit=-1', 'limit=x', 'offset=1.5', 'offset=99999999999'])(
    'answers 400 for %s',
    async (query) => {
      expect(await api.call('GET', `/sequences?${query}`)).toMatchObject({ status: 400 });
    },
  );

  it('finds the newest version that is not deprecated, or the one that is asked for', async () => {
    await published(api, { version: 1 });
    const second = await published(api, { version: 2, status: 'draft' });
    const third = await published(api, { version: 3 });
    await api.call('POST', `/sequences/${third}/deprecate`);
    const query = 'namespace=fulfilment&name=parcel-return';
    expect((await api.call('GET', `/sequences/by-name?${query}`)).body.id).toBe(second);
    expect((await api.call('GET', `/sequences/by-name?${query}&version=3`)).body).toMatchObject({
      id: third,
      deprecated: true,
    });
    expect(await api.call('GET', `/sequences/by-name?${query}&version=9`)).toMatchObject({ status: 404 });
    const versions = await api.call('GET', `/sequences/versions?${query}`);
    expect(versions.body.map(({ version }: { version: number }) => version)).toEqual([2, 1]);
    expect((await api.call('GET', '/sequences/versions?namespace=x&name=y')).body).toEqual([]);
  });

  it('says which parameter of a look-up is missing', async () => {
    const reply = await api.call('GET', '/sequences/by-name?namespace=fulfilment');
    expect(reply).toMatchObject({ status: 400, body: { error: 'invalid argument: missing field `name`' } });
    const free = createFixture({ requireTenantHeader: false });
    const noTenant = await free.call('GET', '/sequences/versions?namespace=a&name=b', { tenant: null });
    expect(noTenant).toMatchObject({
      status: 400,
      body: { error: 'invalid argument: missing field `tenant_id`' },
    });
  });
});

describe('the life of a version', () => {
  it('deprecates, again and again', async () => {
    const id = await published(api);
    for (const _time of [1, 2]) {
      expect(await api.call('POST', `/sequences/${id}/deprecate`)).toMatchObject({ status: 204, text: '' });
    }
    expect((await api.call('GET', `/sequences/${id}`)).body.deprecated).toBe(true);
  });

  it.each([
    ['draft', 'staging', 204],
    ['draft', 'unpublished', 204],
    ['draft', 'production', 400],
    ['staging', 'production', 204],
    ['staging', 'draft', 400],
    ['production', 'unpublished', 204],
    ['production', 'production', 400],
    ['unpublished', 'draft', 400],
  ])('answers a change from %s to %s with %i', async (from, status, expected) => {
    const id = await published(api, { status: from });
    const reply = await api.call('POST', `/sequences/${id}/status`, { body: { status } });
    expect(reply.status).toBe(expected);
    const stored = (await api.call('GET', `/sequences/${id}`)).body;
    expect(stored.status).toBe(expected === 204 ? status : from);
    expect(stored.deprecated).toBe(stored.status === 'unpublished' && from !== 'unpublished');
  });

  it('answers 422 for an unknown status', async () => {
    const id = await published(api);
    expect(await api.call('POST', `/sequences/${id}/status`, { body: { status: 'live' } })).toMatchObject({
      status: 422,
    });
    expect(await api.call('POST', `/sequences/${id}/status`, { body: {} })).toMatchObject({
      status: 422,
      body: { error: 'unprocessable entity: missing field `status`' },
    });
  });

  it('does not start an unpublished version', async () => {
    const id = await published(api, { status: 'unpublished' });
    expect(await api.call('POST', '/instances', { body: startBody(id) })).toMatchObject({ status: 400 });
  });

  it('deletes a version once, but not while an instance may need it', async () => {
    const id = await published(api);
    const instance = await api.call('POST', '/instances', { body: startBody(id) });
    expect(await api.call('DELETE', `/sequences/${id}`)).toMatchObject({
      status: 409,
      body: { code: 'sequence_in_use' },
    });
    expect((await api.call('GET', `/instances/${instance.body.id}`)).status).toBe(200);
    const unused = await published(api, { version: 2 });
    expect((await api.call('DELETE', `/sequences/${unused}`)).status).toBe(204);
    expect((await api.call('DELETE', `/sequences/${unused}`)).status).toBe(404);
  });

  it('answers 404 for unknown ids', async () => {
    const id = nextId();
    expect((await api.call('GET', `/sequences/${id}`)).body.error).toBe(`not found: sequence ${id}`);
    expect((await api.call('POST', `/sequences/${id}/deprecate`)).status).toBe(404);
    expect((await api.call('POST', `/sequences/${id}/status`, { body: { status: 'draft' } })).status).toBe(
      404,
    );
  });
});

function step(id: string, handler = 'noop') {
  return { type: 'step', id, handler };
}

function loop(maxIterations: number) {
  return { type: 'loop', id: 'l', condition: 'true', body: [step('in')], max_iterations: maxIterations };
}
