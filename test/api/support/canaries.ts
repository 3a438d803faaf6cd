import type { ApiFixture } from './api-fixture.ts';
import { TENANT } from './api-fixture.ts';
import { published } from './documents.ts';
import { ended, waitingForAnswer, waitingForWorker } from './seeded-runs.ts';

/** Values of the parameters of a path, by name. */
export type Place = Readonly<Record<string, string>>;
/** What the owner has, by the folder of the routes that take it. */
export type Owned = Readonly<Record<string, readonly Place[]>>;

const NAMED = { tenant_id: TENANT, name: 'canary' };

/** Gives the tenant one of everything that a path can name. */
export async function canaries(api: ApiFixture): Promise<Owned> {
  const make = async (path: string, body: object) => {
    const reply = await api.call('POST', path, { body });
    if (reply.status >= 300) throw new Error(`${path} answered ${reply.status} ${reply.text}`);
    return reply.body;
  };
  const sequence = await published(api, { name: 'canary-sequence' });
  // Where a promotion would look for it.
  await published(api, { name: 'canary-sequence', namespace: 'default', status: 'staging' });
  const inNamespace = { tenant_id: TENANT, namespace: 'fulfilment' };
  const instances = await runsOf(api);
  const slug = 'canary-trigger';
  await make('/triggers', { ...inNamespace, slug, sequence_name: 'canary-sequence' });
  const schedule = await make('/cron', { ...inNamespace, sequence_id: sequence, cron_expr: '0 9 * * *' });
  const session = await make('/sessions', { tenant_id: TENANT, session_key: 'canary' });
  const rule = { tenant_id: TENANT, handler_name: 'canary', queue_override: 'canary' };
  const event = { tenant_id: TENANT, event_name: 'canary', producer_event_id: 'canary-1' };
  const { event_id: eventId } = await make('/events', { ...event, correlation_key: 'canary' });
  const credential = await make('/credentials', { ...NAMED, id: 'canary-credential', value: 'canary' });
  await make('/plugins', { name: 'canary-plugin', plugin_type: 'wasm', source: 'canary' });
  const pool = await make('/pools', NAMED);
  const resource = await make(`/pools/${pool.id}/resources`, { name: 'canary', resource_key: 'canary' });
  const rate = { body: { max_count: 5, window_seconds: 60 } };
  await api.call('PUT', `/tenants/${TENANT}/rate-limits/canary`, rate);
  return {
    ...instances,
    sequences: [{ id: sequence, name: 'canary-sequence' }],
    'routing-rules': [{ id: (await make('/routing-rules', rule)).id }],
    triggers: [{ slug }],
    cron: [{ id: schedule.id }],
    sessions: [{ id: session.id, tenant_id: TENANT, key: 'canary' }],
    events: [{ id: eventId }],
    credentials: [{ id: credential.id }],
    plugins: [{ name: 'canary-plugin' }],
    pools: [{ id: pool.id, rid: resource.id }],
    tenants: [{ tenant: TENANT, key: 'canary', handler: 'canary' }],
  };
}

/** Runs in several states, each with a checkpoint, and the task of one of them. */
async function runsOf(api: ApiFixture): Promise<Owned> {
  const task = await waitingForWorker(api);
  await api.call('POST', '/workers/tasks/poll', {
    body: { handler_name: 'parcel_lookup', worker_id: 'w-1' },
  });
  const waiting = await waitingForAnswer(api);
  const failed = await ended(api, 'failed');
  const completed = await ended(api, 'completed');
  const [output] = (await api.call('GET', `/instances/${completed}/outputs`)).body;
  const [group] = (await api.call('GET', `/instances/dlq/groups?tenant_id=${TENANT}`)).body;
  const more = { block_id: 'first', other: completed, output_id: output.id, fingerprint: group.fingerprint };
  const ids = [task.id, waiting, failed, completed];
  for (const id of ids) {
    const body = { checkpoint_data: { of: 'canary' } };
    await api.call('POST', `/instances/${id}/checkpoints`, { body });
  }
  const blob = { artifactId: 'canary', contentType: 'text/plain', size: 6, sha256: '0'.repeat(64) };
  const bytes = new TextEncoder().encode('canary');
  await api.store.putBlob({ tenantId: TENANT, instanceId: completed }, { ...blob, bytes });
  return {
    instances: ids.map((id) => ({ id, ...more })),
    workers: [{ id: task.taskId }],
    artifacts: [{ instance_id: completed, artifact_id: 'canary' }],
  };
}
