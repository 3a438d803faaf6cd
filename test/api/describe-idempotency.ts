import { beforeEach, describe, expect, it } from 'vitest';
import { API_PREFIX } from '../../src/api/alias.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { openApiDocument } from '../../src/api/openapi.ts';
import { createApi } from '../../src/api/create-api.ts';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, createFixture, OTHER_TENANT, type Reply, TENANT } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { breaking } from './support/breaking-store.ts';
import { document, published, startBody } from './support/documents.ts';

const HOUR_MS = 3_600_000;

/** Registers the tests of the header Idempotency-Key over one kind of store. */
export function describeIdempotency(backendName: BackendName): void {
  const backend = useBackend(backendName);
  let api: ApiFixture;
  let advance: (ms: number) => Promise<void>;
  /** What the store is to refuse, by the name of its method. */
  let broken: Set<string>;

  beforeEach(async () => {
    const underTest = await backend.fresh();
    broken = new Set();
    advance = underTest.advanceClock;
    api = createFixture({}, { store: breaking(underTest.store, (name) => broken.has(name)) });
  });

  const post = (key: string, path: string, body: unknown, more: object = {}): Promise<Reply> =>
    api.call('POST', path, { body, ...more, headers: { 'idempotency-key': key } });

  async function instanceCount(): Promise<number> {
    return (await api.call('GET', '/instances?limit=100')).body.items.length;
  }

  describe('a request with an Idempotency-Key', () => {
    it('is carried out once and answered with the same status and bytes again (X19) [API 1.10]', async () => {
      const body = startBody(await published(api));
      const first = await post('k-1', '/instances', body);
      const again = await post('k-1', '/instances', body);
      expect([again.status, again.text]).toEqual([201, first.text]);
      expect(first.headers.get('idempotency-replayed')).toBeNull();
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
      expect(await instanceCount()).toBe(1);
    });

    it('is known by its key in quotes as well, and by the order of no members', async () => {
      const { sequence_id, ...rest } = startBody(await published(api));
      const first = await post('"k-\\"1"', '/instances', { sequence_id, ...rest });
      const again = await post('k-"1', '/instances', { ...rest, sequence_id });
      expect(again.text).toBe(first.text);
    });

    it('with another body, path or query under its key is refused with 422 (X19)', async () => {
      const sequenceId = await published(api);
      await post('k-1', '/instances', startBody(sequenceId));
      const others = [
        post('k-1', '/instances', startBody(sequenceId, { namespace: 'another' })),
        post('k-1', '/instances?a=1', startBody(sequenceId)),
        post('k-1', `/sequences/${sequenceId}/deprecate`, undefined),
      ];
      for (const other of others) {
        expect(await other).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
      }
      expect(await instanceCount()).toBe(1);
    });

    it('is refused with 400 when the key has not 1 to 255 printable characters (X21)', async () => {
      const body = startBody(await published(api));
      for (const key of [
        '',
        '""',
        'k'.repeat(256),
        `"${'k'.repeat(256)}"`,
        'a\u0001b',
        'a\u00e9',
        '"a',
        '"a";p=1',
      ]) {
        const reply = await post(key, '/instances', body);
        expect([key, reply.status, reply.body.code]).toEqual([key, 400, 'invalid_idempotency_key']);
      }
      expect(await instanceCount()).toBe(0);
      expect((await post('k'.repeat(255), '/instances', body)).status).toBe(201);
      expect((await post(`"${'\\"'.repeat(255)}"`, '/instances', body)).status).toBe(201);
    });

    it('of another tenant has nothing to do with it (X21)', async () => {
      const mine = await post('k-1', '/sequences', document());
      const theirs = document({ tenant_id: OTHER_TENANT });
      const reply = await post('k-1', '/sequences', theirs, { tenant: OTHER_TENANT });
      expect([mine.status, reply.status]).toEqual([201, 201]);
      expect(reply.headers.has('idempotency-replayed')).toBe(false);
    });

    it('keeps refusals of what was carried out, but not of what has no right shape', async () => {
      const unknown = startBody(nextId());
      const first = await post('k-1', '/instances', unknown);
      expect(first.status).toBe(404);
      await published(api, { id: unknown['sequence_id'] ?? null });
      const again = await post('k-1', '/instances', unknown);
      expect([again.status, again.text]).toEqual([404, first.text]);
      expect((await post('k-2', '/instances', { a: 1 })).status).toBe(422);
      expect((await post('k-2', '/instances', unknown)).status).toBe(201);
    });

    it('is answered for 24 hours', async () => {
      const body = startBody(await published(api));
      const first = await post('k-1', '/instances', body);
      await advance(24 * HOUR_MS - 1);
      await api.store.removeExpired(100);
      expect((await post('k-1', '/instances', body)).text).toBe(first.text);
      await advance(1);
      expect((await post('k-1', '/instances', body)).body.id).not.toBe(first.body.id);
    });

    it('gets 409 with Retry-After while the first one is under way', async () => {
      const body = startBody(await published(api));
      broken = new Set(['finishAttempt', 'releaseAttempt']);
      expect((await post('k-1', '/instances', body)).status).toBe(503);
      broken = new Set();
      const reply = await post('k-1', '/instances', body);
      expect(reply).toMatchObject({ status: 409, body: { code: 'idempotency_key_in_use' } });
      expect(reply.headers.get('retry-after')).toBe('1');
      await advance(60_000);
      expect((await post('k-1', '/instances', body)).status).toBe(201);
      expect(await instanceCount()).toBe(1);
    });

    it('that was answered with 5xx may be made again, and by another request under the key', async () => {
      const body = startBody(await published(api));
      broken = new Set(['start']);
      expect((await post('k-1', '/instances', body)).status).toBe(503);
      expect((await post('k-1', '/instances', body)).status).toBe(503);
      broken = new Set();
      expect((await post('k-1', '/instances', { ...body, namespace: 'n' })).status).toBe(201);
      expect((await post('k-1', '/instances', body)).status).toBe(422);
    });

    it('is not known to reads and deletes, which need none', async () => {
      const id = await published(api);
      const headers = { 'idempotency-key': 'a\u0001' };
      expect((await api.call('GET', `/sequences/${id}`, { headers })).status).toBe(200);
      expect((await api.call('DELETE', `/sequences/${id}`, { headers })).status).toBe(204);
    });

    it('that shows a secret finds it sealed at rest, and its repeat shows it again', async () => {
      const kept: unknown[] = [];
      const { store } = api;
      const watched = new Proxy(store, {
        get: (target, name) =>
          name === 'finishAttempt'
            ? async (...args: Parameters<typeof store.finishAttempt>) => {
                kept.push(args[1]);
                return target.finishAttempt(...args);
              }
            : Reflect.get(target, name),
      });
      const seal = {
        seal: (text: string) => `sealed:${btoa(text)}`,
        open: (text: string) => atob(text.slice(7)),
      };
      api = createFixture({}, { store: watched, seal });
      const body = { tenant_id: TENANT, name: 'n' };
      const first = await post('k-1', '/api-keys', body);
      expect((await post('k-1', '/api-keys', body)).text).toBe(first.text);
      expect(JSON.stringify(kept)).not.toContain('sk_');
    });
  });

  describe('a request whose answer shows a secret', () => {
    it('is not made again where nothing can be sealed, and its answer is gone', async () => {
      const { seal: _, ...deps } = api.deps;
      const app = createApi(deps);
      const ask = () =>
        app.request('http://localhost/api/v1/api-keys', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': 'k-1' },
          body: JSON.stringify({ tenant_id: TENANT, name: 'n' }),
        });
      expect((await ask()).status).toBe(201);
      const again = await ask();
      expect([again.status, (await again.json()).code]).toEqual([409, 'idempotent_answer_not_kept']);
      expect(await deps.store.listApiKeys(TENANT)).toHaveLength(1);
    });
  });

  describe('the OpenAPI document', () => {
    it('names the header at every route that changes something for a caller', () => {
      const { paths } = openApiDocument(ROUTES, '0') as { paths: Record<string, Record<string, unknown>> };
      for (const { method, path, mount, access } of ROUTES) {
        const operation = paths[(mount === 'both' ? API_PREFIX : '') + path]?.[method.toLowerCase()];
        const takes = ['POST', 'PUT', 'PATCH'].includes(method) && access !== 'public';
        const names = JSON.stringify(operation).includes('"name":"idempotency-key"');
        expect([method, path, names]).toEqual([method, path, takes]);
      }
    });
  });
}
