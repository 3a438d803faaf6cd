import { beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../../src/api/route.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, createFixture, OTHER_TENANT, TENANT } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { published } from './support/documents.ts';
import { ended, waitingForAnswer, waitingForWorker } from './support/seeded-runs.ts';

/**
 * Every route is called as another tenant with ids that exist, and with ids that do not: both answers must be the same.
 * The routes come from the table, so a new one is covered, or fails here until its body is known.
 */
const BODIES: Readonly<Record<string, object>> = {
  'POST /sequences/{id}/status': { status: 'unpublished' },
  'PATCH /instances/{id}/state': { state: 'cancelled' },
  'PATCH /instances/{id}/context': { context: { data: { stolen: true } } },
  'POST /instances/{id}/signals': { signal_type: 'cancel' },
  'POST /workers/tasks/{id}/complete': { worker_id: 'w-1', claim_epoch: 1, output: 'stolen' },
  'POST /workers/tasks/{id}/fail': { worker_id: 'w-1', claim_epoch: 1, message: 'stolen' },
  'POST /workers/tasks/{id}/heartbeat': { worker_id: 'w-1', claim_epoch: 1 },
  'POST /triggers/{slug}/fire': {},
  'PUT /cron/{id}': { enabled: false },
  'PATCH /sessions/{id}/data': { data: 'stolen' },
  'PATCH /sessions/{id}/state': { state: 'expired' },
};

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const withParameter = ROUTES.filter((route) => route.path.includes('{') && route.access === 'tenant');

/** Registers the tests of tenant isolation over one kind of store. */
export function describeTenantIsolation(backendName: BackendName): void {
  describe('ids of another tenant', () => {
    const backend = useBackend(backendName);
    let api: ApiFixture;
    /** Ids of the owner by the folder of the route that takes them. */
    let owned: Readonly<Record<string, readonly string[]>>;
    let before: unknown;

    beforeAll(async () => {
      api = createFixture({}, { store: (await backend.fresh()).store });
      const sequence = await published(api, { name: 'canary-sequence' });
      const task = await waitingForWorker(api);
      await api.call('POST', '/workers/tasks/poll', {
        body: { handler_name: 'parcel_lookup', worker_id: 'w-1' },
      });
      const slug = 'canary-trigger';
      const trigger = { slug, sequence_name: 'canary-sequence', tenant_id: TENANT, namespace: 'fulfilment' };
      await api.call('POST', '/triggers', { body: trigger });
      const cron = {
        tenant_id: TENANT,
        namespace: 'fulfilment',
        sequence_id: sequence,
        cron_expr: '0 9 * * *',
      };
      const schedule = await api.call('POST', '/cron', { body: cron });
      const session = await api.call('POST', '/sessions', {
        body: { tenant_id: TENANT, session_key: 'canary' },
      });
      const rule = { tenant_id: TENANT, handler_name: 'canary', queue_override: 'canary' };
      const routing = await api.call('POST', '/routing-rules', { body: rule });
      owned = {
        'routing-rules': [routing.body.id],
        sequences: [sequence],
        instances: [
          task.id,
          await waitingForAnswer(api),
          await ended(api, 'failed'),
          await ended(api, 'completed'),
        ],
        workers: [task.taskId],
        triggers: [slug],
        cron: [schedule.body.id],
        sessions: [session.body.id],
      };
      before = await api.footprint();
    });

    it.each(withParameter.map((route) => [nameOf(route), route] as const))(
      'are answered by %s like ids that do not exist',
      async (name, route) => {
        const ids = owned[route.path.split('/')[1] ?? ''] ?? [];
        expect(ids.length).toBeGreaterThan(0);
        expect(route.body.kind !== 'json' || Object.hasOwn(BODIES, name)).toBe(true);
        for (const id of ids) {
          const unknown = route.path.includes('{slug}') ? 'unknown-trigger' : nextId();
          const [theirs, nobodys] = await Promise.all([call(route, id), call(route, unknown)]);
          expect(nobodys.status).toBe(404);
          expect(theirs.status).toBe(404);
          expect(theirs.text.replaceAll(id, '<id>')).toBe(nobodys.text.replaceAll(unknown, '<id>'));
          expect([...theirs.headers.keys()]).toEqual([...nobodys.headers.keys()]);
        }
        expect(await api.footprint()).toEqual(before);
      },
    );

    it.each(
      ROUTES.filter(
        (route) => route.method === 'GET' && !route.path.includes('{') && route.access === 'tenant',
      ).map((route) => [nameOf(route), route] as const),
    )('never show up in %s', async (_name, route) => {
      const query = `?tenant_id=${TENANT}&namespace=fulfilment&name=canary-sequence`;
      const { text } = await api.send('GET', `/api/v1${route.path}${query}`, { tenant: OTHER_TENANT });
      for (const id of Object.values(owned).flat()) expect(text).not.toContain(id);
      expect(text.replace(/not found: sequence canary-sequence/, '')).not.toContain('canary');
    });

    it('do not start, and do not fit into a batch', async () => {
      const [sequenceId = ''] = owned['sequences'] ?? [];
      const body = { sequence_id: sequenceId, tenant_id: OTHER_TENANT, namespace: 'n' };
      const single = await api.call('POST', '/instances', { body, tenant: OTHER_TENANT });
      expect(single).toMatchObject({ status: 404, body: { error: `not found: sequence ${sequenceId}` } });
      const batch = await api.call('POST', '/instances/batch', {
        body: { instances: [body] },
        tenant: OTHER_TENANT,
      });
      expect(batch.status).toBe(403);
      expect(await api.footprint()).toEqual(before);
    });

    it('are found by their own tenant, and by an administrator without one', async () => {
      const free = createFixture({ requireTenantHeader: false }, { store: api.store });
      for (const id of owned['instances'] ?? []) {
        expect((await api.call('GET', `/instances/${id}`)).status).toBe(200);
        expect((await free.call('GET', `/instances/${id}`, { tenant: null })).status).toBe(200);
      }
    });

    function call(route: Route, id: string) {
      const path = `/api/v1${route.path.replace(/\{\w+\}/, id)}`;
      return api.send(route.method, path, {
        tenant: OTHER_TENANT,
        headers: { 'x-request-id': 'same' },
        ...(route.body.kind === 'json' ? { body: BODIES[nameOf(route)] } : {}),
      });
    }
  });
}
