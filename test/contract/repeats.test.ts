import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TENANT } from '../api/support/api-fixture.ts';
import { useBackend } from '../api/support/backends.ts';
import { WRITE_REQUESTS } from '../api/support/write-requests.ts';
import { nextId } from '../support/turn-builder.ts';
import { type ContractWorld, createContractWorld } from './support/contract-world.ts';
import { REQUESTS } from './support/read-requests.ts';

/** http-api.md 1.10, row by row: the statuses of a call and of its repeat, and what of the answers is the same. */
type Row = readonly [route: string, first: number, again: number];

const ROWS: readonly Row[] = [
  ['POST /events', 201, 200],
  ['POST /sequences', 201, 409],
  ['POST /sequences/{id}/deprecate', 204, 204],
  ['POST /workers/tasks/{id}/complete', 200, 409],
  ['POST /workers/tasks/{id}/fail', 200, 409],
  ['POST /tenants/{tenant}/circuit-breakers/{handler}/reset', 200, 200],
  ['POST /workers/version-pins', 200, 200],
  ['POST /cluster/nodes/{id}/drain', 200, 200],
  ['DELETE /cron/{id}', 204, 404],
  ['DELETE /triggers/{slug}', 204, 404],
  ['DELETE /credentials/{id}', 204, 404],
  ['DELETE /plugins/{name}', 204, 404],
  ['DELETE /pools/{id}', 204, 404],
  ['DELETE /sequences/{id}', 204, 404],
  ['DELETE /api-keys/{id}', 204, 404],
  ['DELETE /routing-rules/{id}', 204, 404],
  // 15, 19.5, 21.2: also when unknown.
  ['DELETE /pools/{id}/resources/{rid}', 204, 204],
  ['DELETE /workers/commands/{id}', 204, 204],
  ['DELETE /workers/version-pins/{tenant_id}/{handler_name}', 204, 204],
  ['DELETE /webhooks/outbox/{id}', 204, 204],
  ['POST /webhooks/{slug}', 202, 401],
];

describe('a call that is made again (http-api.md 1.10)', () => {
  const backend = useBackend('memory');
  let world: ContractWorld;
  beforeAll(async () => {
    world = await createContractWorld(backend);
  });
  afterAll(() => world.api.stop());

  it.each(ROWS)('%s is answered with %i, and then with %i', async (route, first, again) => {
    const make = REQUESTS[route];
    const { path, body, headers = {} } = (await make?.(world)) ?? { path: '' };
    const isRoot = route === 'POST /webhooks/{slug}';
    const send = () =>
      world.send(route.split(' ')[0] ?? '', `${isRoot ? '' : '/api/v1'}${path}`, {
        ...(body === undefined ? {} : { body }),
        headers,
      });
    const statuses = [(await send()).status, (await send()).status];
    expect(statuses).toEqual([first, again]);
  });

  it('POST /instances with a known key is answered with the first id, whatever else it says', async () => {
    const body = { ...(await WRITE_REQUESTS['POST /instances']?.(world))?.body, idempotency_key: 'once' };
    const send = (more: object) => world.send('POST', '/api/v1/instances', { body: { ...body, ...more } });
    const first = await send({});
    expect([first.status, first.body]).toEqual([201, { id: first.body.id, deduplicated: false }]);
    const again = await send({});
    expect([again.status, again.body]).toEqual([200, { id: first.body.id, deduplicated: true }]);
    const other = await send({ metadata: { other: true } });
    expect([other.status, other.body]).toMatchObject([200, { id: first.body.id, deduplicated: true }]);
    const dry = await send({ dry_run: true });
    expect([dry.status, dry.body.id === first.body.id]).toEqual([201, false]);
  });

  it('POST /events is answered with the first id, also with another payload', async () => {
    const body = { tenant_id: TENANT, event_name: 'e', producer_event_id: nextId(), correlation_key: 'c' };
    const send = (payload: unknown) => world.send('POST', '/api/v1/events', { body: { ...body, payload } });
    const first = await send(1);
    const again = await send(2);
    expect([first.status, first.body.duplicate]).toEqual([201, false]);
    expect([again.status, again.body]).toEqual([
      200,
      { event_id: first.body.event_id, duplicate: true, satisfied: false },
    ]);
  });
});
