import { beforeEach, describe, expect, it } from 'vitest';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, createFixture, OTHER_TENANT } from './support/api-fixture.ts';
import { published, startBody, started } from './support/documents.ts';

let api: ApiFixture;
let sequenceId: string;
beforeEach(async () => {
  api = createFixture();
  sequenceId = await published(api);
});

const start = (overrides = {}) => api.call('POST', '/instances', { body: startBody(sequenceId, overrides) });

describe('POST /instances/batch', () => {
  const batch = (instances: readonly object[], options = {}) =>
    api.call('POST', '/instances/batch', { body: { instances }, ...options });

  it('starts all and counts them', async () => {
    const reply = await batch([startBody(sequenceId), startBody(sequenceId, { priority: 'Low' })]);
    expect(reply).toMatchObject({ status: 201, body: { count: 2 } });
    expect((await api.call('GET', '/instances')).body.items).toHaveLength(2);
  });

  it('answers 200 for an empty list and 422 for none', async () => {
    expect(await batch([])).toMatchObject({ status: 200, body: { count: 0 } });
    expect(await api.call('POST', '/instances/batch', { body: {} })).toMatchObject({ status: 422 });
  });

  it('refuses all for one bad element and names its index', async () => {
    const good = startBody(sequenceId);
    const cases = [
      [{ namespace: '' }, 400, 'invalid argument: instances[1]: namespace must not be empty'],
      [{ tenant_id: OTHER_TENANT }, 403, 'forbidden: instances[1]: '],
      [{ sequence_id: nextId() }, 404, 'not found: instances[1]: sequence'],
      [{ context: { data: 'x'.repeat(262_144) } }, 413, 'payload too large: instances[1]: context too large'],
      [{ priority: 'urgent' }, 422, 'unprocessable entity: instances[1]: priority: '],
      [{ namespace: undefined }, 422, 'unprocessable entity: instances[1]: missing field `namespace`'],
    ] as const;
    for (const [overrides, status, text] of cases) {
      const reply = await batch([good, { ...good, ...overrides }, good]);
      expect(reply.status).toBe(status);
      expect(reply.body.error).toContain(text);
    }
    expect((await api.call('GET', '/instances')).body.items).toEqual([]);
  });

  it('looks at sizes before sequences', async () => {
    const unknown = startBody(nextId());
    const large = startBody(sequenceId, { context: { data: 'x'.repeat(262_144) } });
    expect((await batch([unknown, large])).status).toBe(413);
  });

  it('refuses a key that exists or comes twice', async () => {
    const keyed = startBody(sequenceId, { idempotency_key: 'k' });
    expect(await batch([keyed, keyed])).toMatchObject({
      status: 409,
      body: { code: 'idempotency_key_exists' },
    });
    await api.call('POST', '/instances', { body: keyed });
    const reply = await batch([startBody(sequenceId), keyed]);
    expect(reply).toMatchObject({ status: 409 });
    expect(reply.body.error).toContain('instances[1]');
    expect((await api.call('GET', '/instances')).body.items).toHaveLength(1);
  });

  it('refuses more than 10,000', async () => {
    const reply = await batch(Array.from({ length: 10_001 }, () => startBody(sequenceId)));
    expect(reply).toMatchObject({ status: 400 });
    expect(reply.body.error).toContain('batch size must not exceed 10,000');
  });

  it('lets the elements belong to different tenants when the call has none', async () => {
    const free = createFixture({ requireTenantHeader: false });
    const mine = await published(free, {}, { tenant: null });
    const theirs = await published(free, { tenant_id: OTHER_TENANT }, { tenant: null });
    const instances = [startBody(mine), startBody(theirs, { tenant_id: OTHER_TENANT })];
    const send = (body: object) => free.call('POST', '/instances/batch', { body, tenant: null });
    expect(await send({ instances })).toMatchObject({ status: 201, body: { count: 2 } });
    expect(await send({ instances: [startBody(theirs)] })).toMatchObject({ status: 403 });
  });
});

describe('reading instances', () => {
  it('lists the newest change first, page by page, in one tenant', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      api.clock.now += 1000;
      ids.unshift((await start()).body.id);
    }
    const first = await api.call('GET', '/instances?limit=2');
    const second = await api.call('GET', '/instances?limit=2&offset=2');
    expect([...first.body.items, ...second.body.items].map(({ id }) => id)).toEqual(ids);
    expect([first.body.has_more, second.body.has_more]).toEqual([true, false]);
    expect((await api.call('GET', '/instances', { tenant: OTHER_TENANT })).body.items).toEqual([]);
  });

  it('filters by state, sequence, namespace and metadata', async () => {
    const a = (await start({ metadata: { depot: 'north', 'a b': 'ü', __proto__x: '1' } })).body.id;
    const b = (await start({ namespace: 'other', metadata: { depot: 'north', n: 5 } })).body.id;
    const both = a < b ? [a, b] : [b, a];
    const found = async (query: string) =>
      (await api.call('GET', `/instances?${query}`)).body.items.map(({ id }: { id: string }) => id).sort();
    expect(await found('metadata.depot=north')).toEqual(both);
    expect(await found('metadata.depot=north&metadata.a%20b=%C3%BC')).toEqual([a]);
    expect(await found('metadata.n=5')).toEqual([]);
    expect(await found('metadata.__proto__=x')).toEqual([]);
    expect(await found('namespace=other')).toEqual([b]);
    expect(await found(`sequence_id=${sequenceId}`)).toEqual(both);
    expect(await found(`sequence_id=${nextId()}`)).toEqual([]);
    expect(await found('state=scheduled,running')).toEqual(both);
    expect(await found('state=%20')).toEqual(both);
    expect(await found('state=completed')).toEqual([]);
  });

  it.each(['state=done', 'sequence_id=x', 'limit=-5', 'offset=a', 'metadata.k=%00', 'namespace=%00'])(
    'answers 400 for the query %s',
    async (query) => {
      const reply = await api.call('GET', `/instances?${query}`);
      expect(reply).toMatchObject({ status: 400 });
      expect(reply.body.error).toMatch(/^invalid argument: /);
    },
  );

  it('gives empty lists for a fresh instance', async () => {
    const id = await started(api);
    for (const list of ['tree', 'outputs', 'outputs?include=markers', 'children', 'logs', 'audit']) {
      expect(await api.call('GET', `/instances/${id}/${list}`)).toMatchObject({ status: 200, body: [] });
    }
    const timeline = await api.call('GET', `/instances/${id}/timeline`);
    expect(timeline.body).toMatchObject({
      state_transitions: [],
      entries: [],
      offset: 0,
      limit: 200,
      has_more: false,
    });
    const short = await api.call('GET', `/instances/${id}/timeline?include_outputs=false&limit=0`);
    expect(short.body.limit).toBe(1);
    expect(short.body.instance).not.toHaveProperty('context');
  });

  it('lists failed instances as dead letters', async () => {
    await start();
    expect(await api.call('GET', '/instances/dlq')).toMatchObject({ status: 200, body: [] });
  });

  it('accepts an upper-case id and shows it in lower case', async () => {
    const id = await started(api);
    expect((await api.call('GET', `/instances/${id.toUpperCase()}`)).body.id).toBe(id);
  });
});
