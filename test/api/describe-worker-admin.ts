import { beforeEach, describe, expect, it } from 'vitest';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, type Body, createFixture, OTHER_TENANT, TENANT } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { published, startBody } from './support/documents.ts';
import { createLiveApi } from './support/live-api.ts';
import { waitingForWorker } from './support/seeded-runs.ts';

const ROOT = 'root-key-of-the-tests';
const HANDLER = 'parcel_lookup';
const NOWHERE = '01900000-0000-7000-8000-00000000dead';

/** Registers the tests of http-api.md 19.5 and 20 over one kind of store. */
export function describeWorkerAdminOverHttp(backendName: BackendName): void {
  const backend = useBackend(backendName);
  let api: ApiFixture;
  beforeEach(async () => {
    api = createFixture({ apiKey: ROOT }, { store: (await backend.fresh()).store });
  });
  const root = { headers: { 'x-api-key': ROOT } };
  const post = (path: string, body: object, options: object = {}) =>
    api.call('POST', path, { ...root, ...options, body });
  const get = (path: string, options: object = {}) => api.call('GET', path, { ...root, ...options });
  const remove = (path: string, options: object = {}) => api.call('DELETE', path, { ...root, ...options });
  const keyOf = async (tenant: string, capabilities: readonly string[] = []) => {
    const made = await post('/api-keys', { tenant_id: tenant, capabilities });
    return { headers: { 'x-api-key': made.body.secret as string }, tenant: null };
  };
  const poll = async (overrides: object = {}): Promise<readonly Body[]> =>
    (await post('/workers/tasks/poll', { handler_name: HANDLER, worker_id: 'w-1', ...overrides })).body;

  describe('commands for workers', () => {
    const command = { worker_id: 'w-1', command: 'drain' };

    it('are left by administrators and listed oldest first', async () => {
      const made = await post('/workers/commands', { ...command, payload: { after: 5 } });
      expect(made).toMatchObject({
        status: 201,
        body: { id: expect.any(String), ...command, payload: { after: 5 }, created_at: expect.any(String) },
      });
      const second = await post('/workers/commands', { ...command, command: 'ping' });
      expect(second.body.payload).toBeNull();
      expect((await get('/workers/w-1/commands')).body).toEqual([made.body, second.body]);
      expect((await get('/workers/w-2/commands', { tenant: null })).body).toEqual([]);
      expect((await post('/workers/commands', { ...command, worker_id: ' ' })).status).toBe(400);
      expect((await post('/workers/commands', { ...command, command: 'dance' })).status).toBe(422);
      expect((await post('/workers/commands', { command: 'ping' })).body.error).toContain('`worker_id`');
    });

    it('are read and taken away by a worker with a key, its own only', async () => {
      const { body } = await post('/workers/commands', command);
      const worker = await keyOf(TENANT, ['worker']);
      const foreign = await keyOf(OTHER_TENANT, ['worker']);
      const auditor = await keyOf(TENANT, ['approver']);
      await api.call('POST', '/workers/tasks/poll', {
        ...worker,
        body: { handler_name: HANDLER, worker_id: 'w-1' },
      });
      expect((await get('/workers/w-1/commands', worker)).body).toEqual([body]);
      expect((await get('/workers/w-1/commands', foreign)).body).toEqual([]);
      expect((await get('/workers/w-1/commands', auditor)).status).toBe(403);
      expect((await remove(`/workers/commands/${body.id}`, foreign)).status).toBe(204);
      expect((await get('/workers/w-1/commands', worker)).body).toHaveLength(1);
      expect((await remove(`/workers/commands/${body.id}`, worker)).status).toBe(204);
      expect((await remove(`/workers/commands/${body.id}`)).status).toBe(204);
      expect((await get('/workers/w-1/commands')).body).toEqual([]);
      expect((await remove('/workers/commands/nonsense')).status).toBe(400);
    });
  });

  describe('version pins', () => {
    const pin = { tenant_id: TENANT, handler_name: HANDLER, min_version: '1.9.0' };

    it('pin ≥ 1.9.0; polls as 1.10.0, 1.8.9 and without version: task, none, none (G07)', async () => {
      const made = await post('/workers/version-pins', pin);
      expect(made).toMatchObject({ status: 200, body: pin });
      await waitingForWorker(asAdmin());
      expect(await poll({ version: '1.8.9' })).toEqual([]);
      expect(await poll()).toEqual([]);
      expect(await poll({ version: '1.10.0' })).toHaveLength(1);
    });

    it('are created or replaced, listed and removed', async () => {
      await post('/workers/version-pins', pin);
      const again = await post('/workers/version-pins', { ...pin, min_version: '2' });
      expect(again).toMatchObject({ status: 200, body: { min_version: '2' } });
      expect((await get(`/workers/version-pins?tenant_id=${TENANT}`)).body).toEqual([again.body]);
      expect((await get('/workers/version-pins', { tenant: OTHER_TENANT })).body).toEqual([]);
      const path = `/workers/version-pins/${TENANT}/${HANDLER}`;
      expect((await remove(path, { tenant: OTHER_TENANT })).status).toBe(204);
      expect((await get('/workers/version-pins')).body).toHaveLength(1);
      expect((await remove(path)).status).toBe(204);
      expect((await remove(path)).status).toBe(204);
      expect((await get('/workers/version-pins')).body).toEqual([]);
    });

    it('with blank fields, no version or another tenant are refused', async () => {
      for (const bad of [
        { tenant_id: ' ' },
        { handler_name: '' },
        { min_version: ' ' },
        { min_version: 'x' },
      ]) {
        const reply = await post('/workers/version-pins', { ...pin, ...bad }, { tenant: null });
        expect(reply.status).toBe(400);
      }
      const foreign = await post('/workers/version-pins', { ...pin, tenant_id: OTHER_TENANT });
      expect(foreign.status).toBe(403);
      expect((await post('/workers/version-pins', { tenant_id: TENANT })).status).toBe(422);
    });

    it('and commands are left to administrators', async () => {
      const key = await keyOf(TENANT, ['operator', 'worker']);
      for (const [method, path] of [
        ['POST', '/workers/commands'],
        ['POST', '/workers/version-pins'],
        ['GET', '/workers/version-pins'],
        ['DELETE', `/workers/version-pins/${TENANT}/${HANDLER}`],
      ] as const) {
        expect(await api.call(method, path, key)).toMatchObject({
          status: 403,
          body: { code: 'admin_only' },
        });
      }
    });
  });

  describe('routing rules', () => {
    const rule = { tenant_id: TENANT, handler_name: HANDLER, queue_override: 'north' };
    const queueOf = async () => {
      const { taskId } = await waitingForWorker(asAdmin());
      const tasks: readonly Body[] = (await get('/workers/tasks')).body;
      return tasks.find(({ id }) => id === taskId)?.queue_name;
    };

    it('replace the queue of new tasks: the highest priority that is enabled and fits', async () => {
      expect(await queueOf()).toBeUndefined();
      const low = await post('/routing-rules', rule);
      expect(low).toMatchObject({
        status: 201,
        body: { ...rule, id: expect.any(String), priority: 0, enabled: true },
      });
      expect(low.body).not.toHaveProperty('match_queue');
      expect(await queueOf()).toBe('north');
      await post('/routing-rules', { ...rule, queue_override: 'eu-2', match_queue: 'eu', priority: 9 });
      await post('/routing-rules', { ...rule, queue_override: 'off', enabled: false, priority: 8 });
      await post('/routing-rules', { ...rule, queue_override: 'south', priority: 5 });
      expect(await queueOf()).toBe('south');
      const listed: readonly Body[] = (await get('/routing-rules')).body;
      expect(listed.map(({ queue_override: queue }) => queue)).toEqual(['eu-2', 'off', 'south', 'north']);
      expect(await poll({ limit: 10 })).toHaveLength(3);
    });

    it('are read and removed by their tenant only', async () => {
      const { body } = await post('/routing-rules', rule);
      const other = { tenant: OTHER_TENANT };
      const path = `/routing-rules/${body.id}`;
      expect((await get(path)).body).toEqual(body);
      const unknown = await get(`/routing-rules/${NOWHERE}`, other);
      const foreign = await get(path, other);
      expect([foreign.status, foreign.body.error]).toEqual([
        404,
        unknown.body.error.replace(NOWHERE, body.id),
      ]);
      expect((await remove(path, other)).status).toBe(404);
      expect((await get('/routing-rules', other)).body).toEqual([]);
      expect((await remove(path)).status).toBe(204);
      expect((await remove(path)).status).toBe(404);
      expect((await post('/routing-rules', rule, other)).status).toBe(403);
      expect((await post('/routing-rules', { ...rule, handler_name: ' ' })).status).toBe(400);
      expect((await post('/routing-rules', { ...rule, queue_override: '' })).status).toBe(400);
      expect((await post('/routing-rules', { tenant_id: TENANT })).status).toBe(422);
    });
  });

  it('tasks on the wire name tenant, namespace, pass, key and redelivery', async () => {
    await waitingForWorker(asAdmin());
    expect(await poll()).toMatchObject([
      {
        ...{ tenant_id: TENANT, namespace: 'fulfilment', iteration: '' },
        ...{ redelivery: false, idempotency_key: expect.any(String) },
      },
    ]);
  });

  /** The fixture as the helpers for runs use it: with the root key. */
  function asAdmin(): ApiFixture {
    const call: ApiFixture['call'] = (method, path, options = {}) =>
      api.call(method, path, { ...options, headers: { ...root.headers, ...options.headers } });
    return { ...api, call };
  }
}

/** Registers the tests of http-api.md 25 over one kind of store. */
export function describeCluster(backendName: BackendName): void {
  const backend = useBackend(backendName);

  it('a drained process is not ready and begins nothing more; another one goes on', async () => {
    const underTest = await backend.fresh();
    const node = { name: 'north', beatMs: 5000, silentMs: 120_000, reapEveryMs: 60_000 };
    const api = createLiveApi(underTest, {}, { engine: { node } });
    const sequence = await published(api as never, { name: `s-${nextId()}` });
    const start = async (): Promise<string> =>
      (await api.call('POST', '/instances', { body: startBody(sequence) })).body.id;
    await api.until(await start(), 'completed');
    expect((await api.call('GET', '/health/ready')).status).toBe(200);
    const [{ id }] = (await api.call('GET', '/cluster/nodes')).body;
    expect((await api.call('POST', `/cluster/nodes/${id}/drain`)).status).toBe(200);
    expect(await api.call('GET', '/health/ready')).toMatchObject({
      status: 503,
      body: { status: 'not_ready', reason: 'draining' },
    });
    const left = await start();
    await api.time.pass(180_000);
    expect((await api.call('GET', `/instances/${left}`)).body.state).toBe('scheduled');
    await api.stop();
    const other = createLiveApi(underTest, {}, { engine: { node: { ...node, name: 'south' } } });
    other.time.now = api.time.now;
    await other.until(left, 'completed');
    const nodes: readonly Body[] = (await other.call('GET', '/cluster/nodes')).body;
    expect(nodes.map(({ name, status }) => [name, status])).toEqual([
      ['south', 'active'],
      ['north', 'stopped'],
    ]);
    await other.stop();
  });

  it('nodes are listed and drained by administrators only', async () => {
    const { store } = await backend.fresh();
    const api = createFixture({ apiKey: ROOT }, { store });
    const root = { headers: { 'x-api-key': ROOT }, tenant: null };
    const id = nextId();
    await store.heartbeatNode(id, 'north', null);
    expect((await api.call('GET', '/cluster/nodes', root)).body).toMatchObject([
      { id, name: 'north', status: 'active', drain: false, capabilities_withdrawn: false },
    ]);
    const drain = (node: string) => api.call('POST', `/cluster/nodes/${node}/drain`, root);
    expect((await drain(id)).status).toBe(200);
    expect((await drain(id)).status).toBe(200);
    expect((await drain(NOWHERE)).status).toBe(200);
    expect((await drain('nonsense')).status).toBe(400);
    const [shown] = (await api.call('GET', '/cluster/nodes', root)).body;
    expect(shown).toMatchObject({ status: 'draining', drain: true, capabilities_withdrawn: true });
    expect(shown.drain_started_at).toEqual(expect.any(String));
    const made = await api.call('POST', '/api-keys', { ...root, body: { tenant_id: TENANT } });
    const key = { headers: { 'x-api-key': made.body.secret }, tenant: null };
    expect((await api.call('GET', '/cluster/nodes', key)).status).toBe(403);
    expect((await api.call('POST', `/cluster/nodes/${id}/drain`, key)).status).toBe(403);
  });
}
