import { beforeEach, describe, expect, it } from 'vitest';
import { type ApiFixture, type Body, OTHER_TENANT, createFixture } from './support/api-fixture.ts';
import { published, startBody } from './support/documents.ts';

let api: ApiFixture;
let sequenceId: string;
beforeEach(async () => {
  api = createFixture({ apiKey: 'root-key' });
  sequenceId = await published(api, {}, asRoot);
});

const asRoot = { headers: { 'x-api-key': 'root-key' } };
const get = (path: string, options = {}) => api.call('GET', path, { ...asRoot, ...options });

async function startSome(count: number, overrides = {}): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const reply = await api.call('POST', '/instances', { ...asRoot, body: startBody(sequenceId, overrides) });
    ids.push(reply.body.id);
    api.clock.now += 1;
  }
  return ids;
}

const idsOf = (reply: { readonly body: Body }): readonly string[] =>
  reply.body.items.map(({ id }: Body) => id);

describe('GET /instances behind a cursor (dashboard.md A3)', () => {
  it('answers the next page until there is none', async () => {
    const ids = await startSome(5);
    for (const order of ['updated', 'created']) {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const query = cursor === undefined ? '' : `&cursor=${cursor}`;
        const page = await get(`/instances?limit=2&order=${order}${query}`);
        seen.push(...idsOf(page));
        expect(page.body.has_more).toBe(page.body.next_cursor !== undefined);
        cursor = page.body.next_cursor;
      } while (cursor !== undefined);
      expect(seen).toEqual(ids.toReversed());
    }
  });

  it('keeps its place while newer instances come in', async () => {
    const ids = await startSome(4);
    const first = await get('/instances?limit=2');
    await startSome(3);
    const second = await get(`/instances?limit=2&cursor=${first.body.next_cursor}`);
    expect(idsOf(second)).toEqual([ids[1], ids[0]]);
    expect(second.body.has_more).toBe(false);
  });

  it('refuses a cursor that was edited or belongs to another tenant, filter or order [X23]', async () => {
    await startSome(3);
    const { next_cursor: cursor } = (await get('/instances?limit=1&state=scheduled&metadata.a=')).body;
    expect(cursor).toBeUndefined();
    const own = (await get('/instances?limit=1&state=scheduled')).body.next_cursor;
    const refused = async (query: string, options = {}) => {
      const reply = await get(`/instances?limit=1&${query}`, options);
      expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } });
    };
    expect((await get(`/instances?limit=3&state=scheduled&cursor=${own}`)).status).toBe(200);
    for (const index of [0, 8, own.length - 3, own.length - 1]) {
      const other = own[index] === 'A' ? 'B' : 'A';
      await refused(`state=scheduled&cursor=${own.slice(0, index)}${other}${own.slice(index + 1)}`);
    }
    await refused(`state=scheduled&cursor=${own}A`);
    await refused(`state=scheduled&cursor=${own}%3D`);
    await refused('state=scheduled&cursor=nonsense');
    await refused('state=scheduled&cursor=%F0%9F%A6%86');
    await refused(`cursor=${own}`);
    await refused(`state=scheduled&order=created&cursor=${own}`);
    await refused(`state=scheduled&cursor=${own}`, { tenant: OTHER_TENANT });
    await refused(`state=scheduled&cursor=${btoa('1000.01900000-0000-7000-8000-000000000001')}`);
  });

  it('a cursor of one root key is none of another', async () => {
    await startSome(2);
    const { next_cursor: cursor } = (await get('/instances?limit=1')).body;
    const other = createFixture({ apiKey: 'second-key' }, { store: api.store });
    const reply = await other.call('GET', `/instances?limit=1&cursor=${cursor}`, {
      headers: { 'x-api-key': 'second-key' },
    });
    expect(reply.status).toBe(400);
  });
});

describe('filters of GET /instances (dashboard.md A3)', () => {
  it('finds by name, keys, beginning of the id and time of creation', async () => {
    const [first = ''] = await startSome(1, { idempotency_key: ' k 1', concurrency_key: 'depot' });
    const [second = ''] = await startSome(1, { concurrency_key: 'other' });
    const at = async (id: string) => encodeURIComponent((await get(`/instances/${id}`)).body.created_at);
    const found = async (query: string) => idsOf(await get(`/instances?${query}`));
    expect(await found('sequence_name=parcel-return')).toEqual([second, first]);
    expect(await found('sequence_name=parcel')).toEqual([]);
    expect(await found('idempotency_key=%20k%201')).toEqual([first]);
    expect(await found('concurrency_key=depot')).toEqual([first]);
    expect(await found(`id_prefix=${first.slice(0, 30).toUpperCase()}`)).toContain(first);
    expect(await found(`id_prefix=${first.replaceAll('-', '')}`)).toEqual([first]);
    expect(await found('id_prefix=ffff')).toEqual([]);
    expect(await found(`created_after=${await at(first)}`)).toEqual([second]);
    expect(await found(`created_before=${await at(second)}`)).toEqual([first]);
    expect(await found('root_only=true')).toEqual([second, first]);
    expect(await found('sequence_name=&id_prefix=&created_after=&concurrency_key=')).toHaveLength(2);
  });

  it.each([
    'id_prefix=xyz',
    'order=deleted',
    'root_only=maybe',
    'created_after=yesterday',
    'created_before=12',
  ])('refuses %s', async (query) => {
    expect((await get(`/instances?${query}`)).status).toBe(400);
  });
});

describe('GET /instances/summary (dashboard.md A4)', () => {
  it('counts by state under the filters of the list', async () => {
    await startSome(2);
    await startSome(1, { namespace: 'returns' });
    const { status, body } = await get('/instances/summary');
    expect(status).toBe(200);
    expect(body).toMatchObject({ counted_to: 10_000, capped: [], counts: { scheduled: 3, failed: 0 } });
    expect(Object.keys(body.counts)).toHaveLength(7);
    const spaced = await get('/instances/summary?namespace=returns&state=scheduled,failed');
    expect(spaced.body.counts).toMatchObject({ scheduled: 1, failed: 0, completed: 0 });
    expect((await get('/instances/summary?state=paused')).body.counts.scheduled).toBe(0);
    expect((await get('/instances/summary', { tenant: OTHER_TENANT })).body.counts.scheduled).toBe(0);
    expect((await get('/instances/summary?sequence_name=nobody')).body.counts.scheduled).toBe(0);
    expect((await get('/instances/summary?state=lost')).status).toBe(400);
  });
});

describe('tags of what is read (dashboard.md A3)', () => {
  it('a list and a tree that have not changed are 304 without a body', async () => {
    const [id = ''] = await startSome(1);
    for (const path of ['/instances', `/instances/${id}/tree`, '/sequences', '/instances/dlq']) {
      const first = await get(path);
      const etag = first.headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
      expect(first.headers.get('cache-control')).toBe('private, no-cache');
      const again = (tag: string) =>
        api.send('GET', `/api/v1${path}`, { headers: { ...asRoot.headers, 'if-none-match': tag } });
      for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        expect(await again(tag)).toMatchObject({ status: 304, text: '' });
      }
      expect((await again('"other"')).status).toBe(200);
    }
    const before = (await get('/instances')).headers.get('etag') ?? '';
    await startSome(1);
    const changed = await get('/instances', { headers: { ...asRoot.headers, 'if-none-match': before } });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(before);
  });
});
