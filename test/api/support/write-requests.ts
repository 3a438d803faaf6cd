import type { Json, JsonObject } from '../../../src/core/json.ts';
import { nextId } from '../../support/turn-builder.ts';
import { TENANT } from './api-fixture.ts';

/** A server on which requests are made, whether in this process or in another one. */
export interface WriteWorld {
  /** Answers the body of a call that must succeed. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<ReturnType<typeof JSON.parse>>;
  /** Waits until an instance has this state. */
  readonly until: (id: string, state: string) => Promise<unknown>;
  /** Numbers that no other test of the server has used. */
  readonly unique: () => string;
  /** An outgoing webhook that could not be delivered; null where nothing is sent. */
  readonly parkedWebhook: (() => Promise<string>) | null;
}

export interface WriteRequest {
  readonly path: string;
  readonly body?: JsonObject;
}

type Make = (world: WriteWorld) => Promise<WriteRequest> | WriteRequest;

const NAMED = { tenant_id: TENANT, namespace: 'fulfilment' };
const step = (id: string, extra: JsonObject = {}): JsonObject => ({
  type: 'step',
  id,
  handler: 'noop',
  ...extra,
});
const GATE = step('b', { wait_for_input: { prompt: 'Go on?' } });

function sequenceBody(world: WriteWorld, blocks: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  const created_at = '2027-02-11T07:45:00.000Z';
  return { id: nextId(), ...NAMED, name: `s-${world.unique()}`, version: 1, blocks, created_at, ...more };
}

async function publish(world: WriteWorld, blocks = [step('a')], more: JsonObject = {}): Promise<string> {
  return (await world.call('POST', '/sequences', sequenceBody(world, blocks, more))).id;
}

async function run(world: WriteWorld, blocks: readonly JsonObject[], state: string): Promise<string> {
  const sequence_id = await publish(world, [...blocks]);
  const { id } = await world.call('POST', '/instances', { ...NAMED, sequence_id });
  await world.until(id, state);
  return id;
}

const waiting = (world: WriteWorld): Promise<string> => run(world, [step('a'), GATE], 'waiting');
const completed = (world: WriteWorld): Promise<string> => run(world, [step('a')], 'completed');
const failed = (world: WriteWorld): Promise<string> =>
  run(world, [step('a'), step('b', { handler: 'assert', params: { condition: 'data.healed' } })], 'failed');

/** The task of a worker, claimed by `w-1`. */
async function claimedTask(world: WriteWorld): Promise<string> {
  const handler = `worker-${world.unique()}`;
  await run(world, [step('a', { handler })], 'waiting');
  const poll = { handler_name: handler, worker_id: 'w-1' };
  return (await world.call('POST', '/workers/tasks/poll', poll))[0].id;
}

/** An open task, and the body of a poll for it. */
async function openTask(world: WriteWorld, more: JsonObject = {}): Promise<JsonObject> {
  const handler = `worker-${world.unique()}`;
  await run(world, [step('a', { handler, ...more })], 'waiting');
  return { handler_name: handler, worker_id: 'w-1', limit: 5, version: '1.0.0' };
}

async function twoVersions(world: WriteWorld): Promise<JsonObject> {
  const blocks = [step('a'), GATE];
  const name = `s-${world.unique()}`;
  const sequence_id = await publish(world, blocks, { name });
  const target = await publish(world, [...blocks, step('c')], { name, version: 2 });
  const { id } = await world.call('POST', '/instances', { ...NAMED, sequence_id });
  await world.until(id, 'waiting');
  return { instance_id: id, target_sequence_id: target };
}

async function made(world: WriteWorld, path: string, body: JsonObject): Promise<string> {
  return (await world.call('POST', path, body)).id;
}

const session = (world: WriteWorld): JsonObject => ({
  ...{ tenant_id: TENANT, session_key: `k-${world.unique()}`, data: { lang: 'pt' } },
  expires_at: '2099-01-01T00:00:00Z',
});
const credential = (world: WriteWorld): JsonObject => ({
  ...{
    id: `c-${world.unique()}`,
    tenant_id: TENANT,
    name: 'n',
    kind: 'api_key',
    value: 'v',
    description: 'd',
  },
  expires_at: '2099-01-01T00:00:00Z',
});
const pool = (world: WriteWorld): JsonObject => ({
  ...{ tenant_id: TENANT, name: `p-${world.unique()}`, strategy: 'round_robin' },
});
const resource = (world: WriteWorld): JsonObject => ({
  ...{
    resource_key: `r-${world.unique()}`,
    name: 'n',
    weight: 2,
    daily_cap: 5,
    warmup_days: 1,
    warmup_start_cap: 1,
  },
  warmup_start: '2027-01-01',
});
const event = (world: WriteWorld): JsonObject => ({
  ...{ tenant_id: TENANT, event_name: 'e', producer_event_id: `p-${world.unique()}`, correlation_key: 'c' },
  payload: { paid: true },
});
async function schedule(world: WriteWorld): Promise<JsonObject> {
  const cron = {
    cron_expr: '0 9 1 1 *',
    timezone: 'UTC',
    metadata: { m: 1 },
    enabled: true,
    overlap_policy: 'skip',
  };
  return { ...NAMED, sequence_id: await publish(world), ...cron };
}
async function trigger(world: WriteWorld): Promise<JsonObject> {
  const sequence_name = `s-${world.unique()}`;
  await publish(world, [step('a')], { name: sequence_name });
  return {
    ...NAMED,
    slug: `t-${world.unique()}`,
    sequence_name,
    version: 1,
    enabled: true,
    config: { a: 1 },
  };
}
/** A filter that fits what one sequence has started. */
async function ofOneSequence(world: WriteWorld, id: string): Promise<JsonObject> {
  const { sequence_id } = await world.call('GET', `/instances/${id}`);
  return { tenant_id: TENANT, namespace: 'fulfilment', sequence_id };
}
async function startOf(world: WriteWorld): Promise<JsonObject> {
  return {
    ...NAMED,
    sequence_id: await publish(world),
    priority: 'High',
    timezone: 'Europe/Lisbon',
    metadata: { m: 'x' },
    context: { data: { d: 'x' }, config: { c: 'x' }, audit: [{ a: 'x' }] },
    concurrency_key: `key-${world.unique()}`,
    max_concurrency: 3,
    budget: { max_steps: 100 },
  };
}

/**
 * A request that succeeds for each route which creates or changes something, on objects of its own. Tests that go through the
 * table of routes take their requests from here, so that a new route is covered or missed.
 */
export const WRITE_REQUESTS: Readonly<Record<string, Make>> = {
  'POST /sequences': (world) => ({
    path: '/sequences',
    body: sequenceBody(world, [step('a', { params: { x: 'y' } })], { input_schema: { type: 'object' } }),
  }),
  'POST /sequences/preflight': (world) => ({
    path: '/sequences/preflight',
    body: sequenceBody(world, [step('a')]),
  }),
  'POST /sequences/dataflow': (world) => ({
    path: '/sequences/dataflow',
    body: sequenceBody(world, [step('a')]),
  }),
  'POST /sequences/inspect-template': (world) => ({
    path: '/sequences/inspect-template',
    body: {
      sequence: sequenceBody(world, [step('a', { params: { x: '{{ context.data.d }}' } })]),
      block_id: 'a',
      context_data: { d: 'x' },
      outputs: { o: 'x' },
    },
  }),
  'POST /debug/template': () => ({
    path: '/debug/template',
    body: {
      template: 'a {{ context.data.d }}',
      context_data: { d: 'x' },
      context_config: { c: 'x' },
      outputs: { o: 'x' },
    },
  }),
  'POST /sequences/{id}/deprecate': async (world) => ({
    path: `/sequences/${await publish(world)}/deprecate`,
  }),
  'POST /sequences/{id}/status': async (world) => ({
    path: `/sequences/${await publish(world)}/status`,
    body: { status: 'unpublished' },
  }),
  'POST /sequences/{name}/promote': async (world) => {
    const name = `s-${world.unique()}`;
    await publish(world, [step('a')], { name, namespace: 'default', status: 'staging' });
    return { path: `/sequences/${name}/promote` };
  },
  'POST /sequences/{name}/unpublish': async (world) => {
    const name = `s-${world.unique()}`;
    await publish(world, [step('a')], { name, namespace: 'default' });
    return { path: `/sequences/${name}/unpublish`, body: { delete: false } };
  },
  'POST /instances': async (world) => ({ path: '/instances', body: await startOf(world) }),
  'POST /instances/batch': async (world) => ({
    path: '/instances/batch',
    body: { instances: [await startOf(world), await startOf(world)] },
  }),
  'PATCH /instances/{id}/state': async (world) => ({
    path: `/instances/${await waiting(world)}/state`,
    body: { state: 'cancelled', next_fire_at: null },
  }),
  'PATCH /instances/{id}/context': async (world) => ({
    path: `/instances/${await waiting(world)}/context?mode=merge`,
    body: { context: { data: { d: 'x' }, config: { c: 'x' }, audit: ['x'] } },
  }),
  'POST /instances/{id}/signals': async (world) => ({
    path: `/instances/${await waiting(world)}/signals`,
    body: { signal_type: { custom: 'note' }, payload: { p: 'x' }, delivery_id: 'd-1' },
  }),
  'POST /instances/{id}/retry': async (world) => ({ path: `/instances/${await failed(world)}/retry` }),
  'POST /instances/{id}/wake': async (world) => ({
    path: `/instances/${await run(world, [step('a', { delay: { duration: 86_400_000 } })], 'scheduled')}/wake`,
    body: {},
  }),
  'POST /instances/{id}/remediations/apply': async (world) => {
    const id = await failed(world);
    const [preview] = await world.call('GET', `/instances/${id}/remediations`);
    const body = { preview_id: preview?.preview_id ?? '', acknowledge_side_effect_risk: true };
    return { path: `/instances/${id}/remediations/apply`, body };
  },
  'POST /instances/{id}/inject-blocks': async (world) => ({
    path: `/instances/${await waiting(world)}/inject-blocks`,
    body: { blocks: [step('injected')], position: 2 },
  }),
  'POST /sequences/migrate-instance': async (world) => ({
    path: '/sequences/migrate-instance',
    body: await twoVersions(world),
  }),
  'POST /sequences/migrate-instance/preview': async (world) => ({
    path: '/sequences/migrate-instance/preview',
    body: await twoVersions(world),
  }),
  'POST /instances/{id}/checkpoints': async (world) => ({
    path: `/instances/${await waiting(world)}/checkpoints`,
    body: { checkpoint_data: { d: 'x' } },
  }),
  'POST /instances/{id}/checkpoints/prune': async (world) => {
    const id = await waiting(world);
    for (const n of [1, 2]) await world.call('POST', `/instances/${id}/checkpoints`, { checkpoint_data: n });
    return { path: `/instances/${id}/checkpoints/prune`, body: { keep: 1 } };
  },
  'POST /instances/dlq/groups/{fingerprint}/retry': async (world) => {
    const sequence_id = await publish(world, [
      step('a', { handler: 'fail', params: { message: `m ${world.unique()}` } }),
    ]);
    const { id } = await world.call('POST', '/instances', { ...NAMED, sequence_id });
    await world.until(id, 'failed');
    const groups: readonly { fingerprint: string }[] = await world.call(
      'GET',
      `/instances/dlq/groups?tenant_id=${TENANT}&sequence_id=${sequence_id}`,
    );
    return {
      path: `/instances/dlq/groups/${groups[0]?.fingerprint ?? ''}/retry`,
      body: { mode: 'sample', force: false, limit: 5 },
    };
  },
  'POST /events': (world) => ({ path: '/events', body: event(world) }),
  'POST /events/batch': (world) => ({
    path: '/events/batch',
    body: { events: [event(world), event(world)] },
  }),
  'POST /instances/{id}/resume-from/{block_id}': async (world) => ({
    path: `/instances/${await failed(world)}/resume-from/b`,
    body: { context: { d: 'x' }, signals: [{ signal_type: { custom: 'note' }, payload: 'x' }] },
  }),
  'POST /instances/{id}/fork': async (world) => ({
    path: `/instances/${await completed(world)}/fork`,
    body: { from_block_id: 'a', context: { d: 'x' }, dry_run: true },
  }),
  'PATCH /instances/bulk/state': async (world) => ({
    path: '/instances/bulk/state',
    body: { filter: await ofOneSequence(world, await waiting(world)), state: 'cancelled' },
  }),
  'PATCH /instances/bulk/reschedule': async (world) => {
    const sequence_id = await publish(world);
    const next_fire_at = '2098-01-01T00:00:00Z';
    await world.call('POST', '/instances', { ...NAMED, sequence_id, next_fire_at });
    const filter = { tenant_id: TENANT, sequence_id, states: ['scheduled'] };
    return { path: '/instances/bulk/reschedule', body: { filter, offset_secs: 60 } };
  },
  'POST /instances/batch-action': async (world) => ({
    path: '/instances/batch-action',
    body: {
      filter: { ...(await ofOneSequence(world, await waiting(world))), states: ['waiting'] },
      action: 'signal',
      signal_type: 'note',
      payload: { p: 'x' },
      limit: 5,
    },
  }),
  'POST /workers/tasks/poll': async (world) => ({ path: '/workers/tasks/poll', body: await openTask(world) }),
  'POST /workers/tasks/poll/queue': async (world) => ({
    path: '/workers/tasks/poll/queue',
    body: { ...(await openTask(world, { queue_name: 'q' })), queue_name: 'q' },
  }),
  'POST /workers/tasks/{id}/complete': async (world) => ({
    path: `/workers/tasks/${await claimedTask(world)}/complete`,
    body: {
      worker_id: 'w-1',
      claim_epoch: 1,
      output: { o: 'x' },
      logs: [{ ts: '2027-01-01T00:00:00Z', level: 'info', message: 'x' }],
    },
  }),
  'POST /workers/tasks/{id}/fail': async (world) => ({
    path: `/workers/tasks/${await claimedTask(world)}/fail`,
    body: {
      worker_id: 'w-1',
      claim_epoch: 1,
      message: 'no',
      retryable: false,
      code: 'CODE',
      details: { d: 'x' },
    },
  }),
  'POST /workers/tasks/{id}/heartbeat': async (world) => ({
    path: `/workers/tasks/${await claimedTask(world)}/heartbeat`,
    body: { worker_id: 'w-1', claim_epoch: 1, checkpoint: { c: 'x' }, checkpoint_seq: 0 },
  }),
  'POST /workers/commands': (world) => ({
    path: '/workers/commands',
    body: { worker_id: `w-${world.unique()}`, command: 'ping', payload: { p: 'x' } },
  }),
  'POST /workers/version-pins': (world) => ({
    path: '/workers/version-pins',
    body: { tenant_id: TENANT, handler_name: `h-${world.unique()}`, min_version: '1.0.0' },
  }),
  'POST /routing-rules': (world) => ({
    path: '/routing-rules',
    body: {
      tenant_id: TENANT,
      handler_name: `h-${world.unique()}`,
      match_queue: 'q',
      queue_override: 'o',
      priority: 1,
    },
  }),
  'POST /cron': async (world) => ({ path: '/cron', body: await schedule(world) }),
  'PUT /cron/{id}': async (world) => ({
    path: `/cron/${await made(world, '/cron', await schedule(world))}`,
    body: { cron_expr: '0 10 1 1 *', timezone: 'UTC', enabled: true, metadata: { m: 'x' } },
  }),
  'POST /sessions': (world) => ({ path: '/sessions', body: session(world) }),
  'PATCH /sessions/{id}/data': async (world) => ({
    path: `/sessions/${await made(world, '/sessions', session(world))}/data`,
    body: { data: { d: 'x' } },
  }),
  'PATCH /sessions/{id}/state': async (world) => ({
    path: `/sessions/${await made(world, '/sessions', session(world))}/state`,
    body: { state: 'paused' },
  }),
  'POST /credentials': (world) => ({ path: '/credentials', body: credential(world) }),
  'PATCH /credentials/{id}': async (world) => ({
    path: `/credentials/${await made(world, '/credentials', credential(world))}`,
    body: { name: 'x', value: 'x', description: 'x', enabled: true },
  }),
  'PUT /tenants/{tenant}/rate-limits/{key}': (world) => ({
    path: `/tenants/${TENANT}/rate-limits/k-${world.unique()}`,
    body: { max_count: 5, window_seconds: 60 },
  }),
  'POST /tenants/{tenant}/circuit-breakers/{handler}/reset': (world) => ({
    path: `/tenants/${TENANT}/circuit-breakers/h-${world.unique()}/reset`,
  }),
  'PATCH /instances/{id}/budget': async (world) => ({
    path: `/instances/${await waiting(world)}/budget`,
    body: { max_steps: 7 },
  }),
  'POST /pools': (world) => ({ path: '/pools', body: pool(world) }),
  'POST /pools/{id}/resources': async (world) => ({
    path: `/pools/${await made(world, '/pools', pool(world))}/resources`,
    body: resource(world),
  }),
  'PUT /pools/{id}/resources/{rid}': async (world) => {
    const path = `/pools/${await made(world, '/pools', pool(world))}/resources`;
    return {
      path: `${path}/${await made(world, path, resource(world))}`,
      body: { name: 'x', weight: 3, enabled: false },
    };
  },
  'POST /triggers': async (world) => ({ path: '/triggers', body: await trigger(world) }),
  'POST /triggers/{slug}/fire': async (world) => {
    const body = await trigger(world);
    await world.call('POST', '/triggers', body);
    return { path: `/triggers/${String(body['slug'])}/fire`, body: { p: 'x' } };
  },
  'POST /webhooks/{slug}': async (world) => {
    const body = await trigger(world);
    await world.call('POST', '/triggers', body);
    return { path: `/webhooks/${String(body['slug'])}`, body: { p: 'x' } };
  },
  'POST /webhooks/outbox/{id}/redeliver': async (world) => ({
    path: `/webhooks/outbox/${world.parkedWebhook === null ? nextId() : await world.parkedWebhook()}/redeliver`,
  }),
  'POST /api-keys': (world) => ({
    path: '/api-keys',
    body: {
      tenant_id: TENANT,
      name: `n-${world.unique()}`,
      capabilities: ['operator'],
      expires_at: '2099-01-01T00:00:00Z',
    },
  }),
  'POST /cluster/nodes/{id}/drain': () => ({ path: `/cluster/nodes/${nextId()}/drain` }),
};

/** The values in a body that are no containers, each by the way to it. */
export function leavesOf(
  value: Json,
  at: readonly (string | number)[] = [],
): readonly (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [at];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([key, inner]) => leavesOf(inner as Json, [...at, key]));
}
