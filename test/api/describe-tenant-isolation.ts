import { beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../../src/api/route.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, createFixture, OTHER_TENANT, TENANT } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { canaries, type Owned, type Place } from './support/canaries.ts';

/**
 * Every route is called as another tenant with ids that exist, and with ids that do not: both answers must be the same.
 * The routes come from the table, so a new one is covered, or fails here until its body is known.
 */
const BODIES: Readonly<Record<string, object>> = {
  'POST /sequences/{id}/status': { status: 'unpublished' },
  'POST /sequences/{name}/unpublish': { delete: true },
  'PATCH /instances/{id}/state': { state: 'cancelled' },
  'PATCH /instances/{id}/context': { context: { data: { stolen: true } } },
  'POST /instances/{id}/signals': { signal_type: 'cancel' },
  'POST /instances/{id}/wake': {},
  'POST /instances/{id}/remediations/apply': { preview_id: 'x' },
  'POST /workers/tasks/{id}/complete': { worker_id: 'w-1', claim_epoch: 1, output: 'stolen' },
  'POST /workers/tasks/{id}/fail': { worker_id: 'w-1', claim_epoch: 1, message: 'stolen' },
  'POST /workers/tasks/{id}/heartbeat': { worker_id: 'w-1', claim_epoch: 1 },
  'POST /triggers/{slug}/fire': {},
  'PUT /cron/{id}': { enabled: false },
  'PATCH /sessions/{id}/data': { data: 'stolen' },
  'PATCH /sessions/{id}/state': { state: 'expired' },
  'POST /instances/dlq/groups/{fingerprint}/retry': { mode: 'sample' },
  'POST /instances/{id}/inject-blocks': { blocks: [{ type: 'step', id: 'stolen', handler: 'noop' }] },
  'POST /instances/{id}/checkpoints': { checkpoint_data: 'stolen' },
  'POST /instances/{id}/checkpoints/prune': { keep: 0 },
  'POST /instances/{id}/resume-from/{block_id}': {},
  'POST /instances/{id}/fork': { from_block_id: 'first' },
  'PATCH /instances/{id}/budget': { max_steps: 1 },
  'PATCH /credentials/{id}': { name: 'stolen' },
  'PATCH /plugins/{name}': { source: 'stolen' },
  'PUT /tenants/{tenant}/rate-limits/{key}': { max_count: 0, window_seconds: 1 },
  'POST /pools/{id}/resources': { resource_key: 'stolen', name: 'stolen' },
  'PUT /pools/{id}/resources/{rid}': { enabled: false },
};

const QUERIES: Readonly<Record<string, string>> = {
  'GET /instances/{id}/fork-preview': '?from_block_id=first',
};

/** Never ends, so it has a test of its own among those of the streams. */
const ENDLESS = '/changes/stream';

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const withParameter = ROUTES.filter((route) => route.path.includes('{') && route.access === 'tenant');

/** Registers the tests of tenant isolation over one kind of store. */
export function describeTenantIsolation(backendName: BackendName): void {
  describe('ids of another tenant', () => {
    const backend = useBackend(backendName);
    let api: ApiFixture;
    let owned: Owned;
    let before: unknown;

    beforeAll(async () => {
      api = createFixture({}, { store: (await backend.fresh()).store });
      owned = await canaries(api);
      before = await api.footprint();
    });

    it.each(withParameter.map((route) => [nameOf(route), route] as const))(
      'are answered by %s like ids that do not exist',
      async (name, route) => {
        const places = owned[route.path.split('/')[1] ?? ''] ?? [];
        expect(places.length).toBeGreaterThan(0);
        expect(route.body.kind !== 'json' || Object.hasOwn(BODIES, name)).toBe(true);
        for (const place of places) {
          const nowhere = unknownPlace(place);
          const [theirs, nobodys] = await Promise.all([call(route, place), call(route, nowhere)]);
          expect(nobodys.status).toBe(404);
          expect(theirs.status).toBe(404);
          expect(withoutIds(theirs.text, place)).toBe(withoutIds(nobodys.text, nowhere));
          expect([...theirs.headers.keys()]).toEqual([...nobodys.headers.keys()]);
        }
        expect(await api.footprint()).toEqual(before);
      },
    );

    it.each(
      ROUTES.filter(
        ({ method, path, access }) =>
          method === 'GET' && !path.includes('{') && path !== ENDLESS && access === 'tenant',
      ).map((route) => [nameOf(route), route] as const),
    )('never show up in %s', async (_name, route) => {
      const query = `?tenant_id=${TENANT}&namespace=fulfilment&name=canary-sequence`;
      const { text } = await api.send('GET', `/api/v1${route.path}${query}`, { tenant: OTHER_TENANT });
      const ids = Object.values(owned).flatMap((places) => places.flatMap(({ id }) => id ?? []));
      for (const id of ids) expect(text).not.toContain(id);
      expect(text.replace(/not found: sequence canary-sequence/, '')).not.toContain('canary');
    });

    it.each(['/sequences/migrate-instance', '/sequences/migrate-instance/preview'])(
      'cannot be migrated by %s, nor migrated to',
      async (path) => {
        const [sequence] = owned['sequences'] ?? [];
        const [instance] = owned['instances'] ?? [];
        const body = { instance_id: instance?.['id'], target_sequence_id: sequence?.['id'] };
        const reply = await api.call('POST', path, { body, tenant: OTHER_TENANT });
        expect(reply).toMatchObject({
          status: 404,
          body: { error: `not found: instance ${body.instance_id}` },
        });
        expect(await api.footprint()).toEqual(before);
      },
    );

    it.each([
      ['PATCH', '/instances/bulk/state', { state: 'cancelled' }],
      ['PATCH', '/instances/bulk/reschedule', { offset_secs: 60 }],
      ['POST', '/instances/batch-action', { action: 'cancel' }],
    ])('are not met by %s %s', async (method, path, body) => {
      const filter = { tenant_id: TENANT, namespace: 'fulfilment' };
      const reply = await api.call(method, path, { body: { filter, ...body }, tenant: OTHER_TENANT });
      expect(reply.status === 403 || reply.body.count === 0 || reply.body.matched === 0).toBe(true);
      expect(await api.footprint()).toEqual(before);
    });

    it('do not start, and do not fit into a batch', async () => {
      const sequenceId = owned['sequences']?.[0]?.['id'] ?? '';
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
      for (const { id } of owned['instances'] ?? []) {
        expect((await api.call('GET', `/instances/${id}`)).status).toBe(200);
        expect((await free.call('GET', `/instances/${id}`, { tenant: null })).status).toBe(200);
      }
    });

    function call(route: Route, place: Place) {
      const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => place[name] ?? 'missing');
      const name = nameOf(route);
      return api.send(route.method, `/api/v1${path}${QUERIES[name] ?? ''}`, {
        tenant: OTHER_TENANT,
        headers: { 'x-request-id': 'same' },
        ...(route.body.kind === 'json' ? { body: BODIES[name] } : {}),
      });
    }
  });
}

/** The same parameters with ids that nobody has; the block stays, since it is no id. */
function unknownPlace(place: Place): Place {
  return Object.fromEntries(
    Object.entries(place).map(([name, value]) => [name, name === 'block_id' ? value : nextId()]),
  );
}

function withoutIds(text: string, place: Place): string {
  return Object.values(place).reduce((rest, value) => rest.replaceAll(value, '<id>'), text);
}
