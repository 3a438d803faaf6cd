import type { JsonObject } from '../../../src/core/json.ts';
import { TENANT } from '../../api/support/api-fixture.ts';
import { document } from '../../api/support/documents.ts';
import { WRITE_REQUESTS } from '../../api/support/write-requests.ts';
import { nextId } from '../../support/turn-builder.ts';
import type { ContractWorld } from './contract-world.ts';
import type { ContractRequest } from './read-requests.ts';

type Make = (world: ContractWorld) => Promise<ContractRequest>;

const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});
const gate = (id: string, extra: JsonObject = {}): JsonObject => step(id, { wait_for_input: {}, ...extra });

async function publish(
  world: ContractWorld,
  blocks: readonly JsonObject[],
  more: JsonObject = {},
): Promise<string> {
  return (await world.call('POST', '/sequences', document({ name: nextId(), blocks, ...more }))).id;
}

async function run(
  world: ContractWorld,
  blocks: readonly JsonObject[],
  state: string,
  more: JsonObject = {},
): Promise<string> {
  const sequence_id = await publish(world, blocks);
  const start = { tenant_id: TENANT, namespace: 'fulfilment', sequence_id, ...more };
  const { id } = await world.call('POST', '/instances', start);
  await world.until(id, state);
  return id;
}

/** A request of the table of writes with something more. */
const written =
  (route: string, more: JsonObject): Make =>
  async (world) => {
    const { path = '', body = {} } = (await WRITE_REQUESTS[route]?.(world)) ?? {};
    return { path, body: { ...body, ...more } };
  };

const FAILS = step('breaks', { handler: 'assert', params: { condition: 'false' } });

/** Requests that bring answers with the members which the first ones have not. `route: what is special`. */
export const MORE_REQUESTS: Readonly<Record<string, Make>> = {
  'POST /sequences: warns of a handler that nobody knows': written('POST /sequences', {
    blocks: [step('a', { handler: 'nooop' })],
  }),
  'GET /sequences/{id}: with every member': async (world) => {
    const more = { on_cancel: [step('tidy')], sla: { max_runtime: 1, max_step_runtime: 1 } };
    return { path: `/sequences/${await publish(world, [step('a')], more)}` };
  },
  'POST /sequences/preflight: finds a handler without worker': written('POST /sequences/preflight', {
    blocks: [step('a', { handler: 'nobody_polls' })],
  }),
  'POST /sequences/dataflow: finds a producer that is missing': written('POST /sequences/dataflow', {
    blocks: [step('a', { params: '{{ outputs.none.x }}' })],
  }),
  'POST /debug/template: of an unknown root': written('POST /debug/template', {
    template: '{{ nowhere.x }}',
  }),
  'POST /sequences/inspect-template: of an unknown root': async () => ({
    path: '/sequences/inspect-template',
    body: { sequence: document({ blocks: [step('a', { params: '{{ nowhere.x }}' })] }), block_id: 'a' },
  }),
  'POST /instances: again, and different': async (world) => {
    const { path = '', body = {} } = (await WRITE_REQUESTS['POST /instances']?.(world)) ?? {};
    const keyed = { ...body, idempotency_key: nextId() };
    await world.call('POST', '/instances', keyed);
    return { path, body: { ...keyed, context: { data: { other: true } } } };
  },
  'GET /instances: that wait, one behind a cancel': async (world) => {
    const id = await run(world, [gate('ask', { cancellable: false })], 'waiting');
    await world.call('POST', `/instances/${id}/signals`, { signal_type: 'cancel' });
    await world.api.time.pass(100);
    return { path: '/instances?state=waiting&order=created&limit=3' };
  },
  'GET /instances/dlq: of a child and of a run with everything': async (world) => {
    const session = await world.write('POST /sessions');
    const more = {
      concurrency_key: nextId(),
      max_concurrency: 1,
      session_id: session.id,
      budget: { max_steps: 9 },
    };
    await run(world, [FAILS], 'failed', more);
    const name = nextId();
    await publish(world, [FAILS], { name });
    await run(world, [{ type: 'sub_sequence', id: 'child', sequence_name: name, input: {} }], 'failed');
    return { path: '/instances/dlq?limit=5' };
  },
  'GET /instances/{id}/diagnosis: of a failed run': async (world) => ({
    path: `/instances/${await run(world, [FAILS], 'failed')}/diagnosis`,
  }),
  'GET /instances/{id}/audit: of a failed run': async (world) => ({
    path: `/instances/${await run(world, [FAILS], 'failed')}/audit`,
  }),
  'GET /limits: of a key with holder and waiter': async (world) => {
    const nap = step('nap', { handler: 'sleep', params: { duration_ms: 86_400_000 } });
    const key = { concurrency_key: 'held', max_concurrency: 1 };
    await run(world, [nap], 'running', key);
    const sequence_id = await publish(world, [step('a')]);
    await world.call('POST', '/instances', { tenant_id: TENANT, namespace: 'n', sequence_id, ...key });
    await world.api.time.pass(1000);
    return { path: '/limits' };
  },
  'GET /workers/tasks/{id}/attempts: with a stale report': async (world) => {
    await run(world, [step('a', { handler: 'stale_worker' })], 'waiting');
    const poll = { handler_name: 'stale_worker', worker_id: 'w-1' };
    const [{ id }] = await world.call('POST', '/workers/tasks/poll', poll);
    const body = { worker_id: 'w-2', claim_epoch: 1, output: 1 };
    await world.send('POST', `/api/v1/workers/tasks/${id}/complete`, { body });
    return { path: `/workers/tasks/${id}/attempts` };
  },
  'POST /credentials: with an address to refresh it': written('POST /credentials', {
    kind: 'oauth2',
    refresh_url: 'https://example.com/token',
    refresh_token: 't',
  }),
  'POST /triggers: with a secret': written('POST /triggers', { secret: 'a secret' }),
  'POST /events: that somebody waits for': async (world) => {
    const params = { events: 'shipped', correlation_key: 'c-1' };
    await run(world, [gate('hear', { handler: 'wait_for_event', params })], 'waiting');
    const event = {
      tenant_id: TENANT,
      event_name: 'shipped',
      producer_event_id: nextId(),
      correlation_key: 'c-1',
    };
    return { path: '/events', body: event };
  },
  'GET /events: that somebody has taken': async () => ({ path: '/events?status=consumed' }),
  'POST /sequences/migrate-instance/preview: that drops a gate': async (world) => {
    const name = nextId();
    const source = await publish(world, [gate('ask')], { name });
    const target = await publish(world, [step('other')], { name, version: 2 });
    const start = { tenant_id: TENANT, namespace: 'n', sequence_id: source };
    const { id } = await world.call('POST', '/instances', start);
    await world.until(id, 'waiting');
    return {
      path: '/sequences/migrate-instance/preview',
      body: { instance_id: id, target_sequence_id: target },
    };
  },
  'GET /circuit-breakers: one of which is open': async (world) => {
    for (let count = 0; count < 2; count += 1) {
      await run(world, [step('a', { handler: 'breaking_worker' })], 'waiting');
      const poll = { handler_name: 'breaking_worker', worker_id: 'w-1' };
      const [{ id }] = await world.call('POST', '/workers/tasks/poll', poll);
      const failure = { worker_id: 'w-1', claim_epoch: 1, message: 'no' };
      await world.call('POST', `/workers/tasks/${id}/fail`, failure);
    }
    return { path: '/circuit-breakers' };
  },
  'GET /cluster/nodes: one of which drains': async (world) => {
    const [{ id }] = await world.call('GET', '/cluster/nodes');
    await world.call('POST', `/cluster/nodes/${id}/drain`);
    return { path: '/cluster/nodes' };
  },
};
