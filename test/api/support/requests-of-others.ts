import { nextId } from '../../support/turn-builder.ts';
import { TENANT } from './api-fixture.ts';
import {
  claimedTask,
  credential,
  event,
  made,
  openTask,
  plugin,
  pool,
  resource,
  schedule,
  session,
  trigger,
  type Make,
} from './write-world.ts';

/** For workers, and for what stands beside instances. */
export const REQUESTS_OF_OTHERS: Readonly<Record<string, Make>> = {
  'POST /events': (world) => ({ path: '/events', body: event(world) }),
  'POST /events/batch': (world) => ({
    path: '/events/batch',
    body: { events: [event(world), event(world)] },
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
  'POST /cron/preview': () => ({
    path: '/cron/preview',
    body: { cron_expr: '0 9 * * *', timezone: 'UTC', from: '2027-01-01T00:00:00Z', n: 3 },
  }),
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
  'POST /plugins': (world) => ({ path: '/plugins', body: plugin(world) }),
  'PATCH /plugins/{name}': async (world) => {
    const { name } = await world.call('POST', '/plugins', plugin(world));
    return {
      path: `/plugins/${name}`,
      body: { source: 'x', config: { c: 'x' }, description: 'x', enabled: false },
    };
  },
  'POST /triggers': async (world) => ({ path: '/triggers', body: await trigger(world) }),
  'POST /triggers/{slug}/fire': async (world) => {
    const { slug } = await world.call('POST', '/triggers', await trigger(world));
    return { path: `/triggers/${slug}/fire`, body: { p: 'x' } };
  },
  'POST /webhooks/{slug}': async (world) => {
    const { slug } = await world.call('POST', '/triggers', await trigger(world));
    return { path: `/webhooks/${slug}`, body: { p: 'x' } };
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
