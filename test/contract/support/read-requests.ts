import { createHmac } from 'node:crypto';
import { TENANT } from '../../api/support/api-fixture.ts';
import { WRITE_REQUESTS, type WriteRequest } from '../../api/support/write-requests.ts';
import type { ContractWorld } from './contract-world.ts';
import { type RichRuns, richRuns } from './rich-runs.ts';

export interface ContractRequest extends WriteRequest {
  readonly headers?: Record<string, string>;
}

type Make = (world: ContractWorld) => Promise<ContractRequest> | ContractRequest;

const at =
  (path: string): Make =>
  () => ({ path });

/** A path that names one of the runs which are there to be read. */
const ofRun =
  (pathOf: (runs: RichRuns) => string): Make =>
  async (world) => ({ path: pathOf(await richRuns(world)) });

/** A path that names what a request of the table of writes has made, for this reader alone. */
const ofMade =
  (route: string, pathOf: (made: Record<string, string>) => string): Make =>
  async (world) => ({ path: pathOf(await world.write(route)) });

const DOCUMENT_NAME = `tenant_id=${TENANT}&namespace=fulfilment&name=rich`;

/** Requests that succeed for each route which only reads. */
const READS: Readonly<Record<string, Make>> = {
  'GET /health/live': at('/health/live'),
  'GET /health/ready': at('/health/ready'),
  'GET /info': at('/info'),
  'GET /metrics': at('/metrics'),
  'GET /api-docs/openapi.json': at('/api-docs/openapi.json'),
  'GET /swagger-ui': at('/swagger-ui'),
  'GET /swagger-ui/{file}': at('/swagger-ui/start.js'),
  'GET /sequences': ofRun(() => '/sequences?live_runs=true'),
  'GET /sequences.json': ofRun(() => '/sequences.json'),
  'GET /sequences/by-name': ofRun(() => `/sequences/by-name?${DOCUMENT_NAME}`),
  'GET /sequences/versions': ofRun(() => `/sequences/versions?${DOCUMENT_NAME}&live_runs=true`),
  'GET /sequences/{id}': ofRun(({ sequenceId }) => `/sequences/${sequenceId}`),
  'GET /sequences/{id}/preflight': ofRun(({ sequenceId }) => `/sequences/${sequenceId}/preflight`),
  'GET /sequences/{id}/dataflow': ofRun(({ sequenceId }) => `/sequences/${sequenceId}/dataflow`),
  'GET /instances/{id}/blocks/{block_id}/resolved-input': ofRun(
    ({ completed }) => `/instances/${completed}/blocks/say/resolved-input?at_block=twice`,
  ),
  'GET /instances': ofRun(() => '/instances?limit=2'),
  'GET /instances/summary': ofRun(() => '/instances/summary'),
  'GET /instances/{id}': ofRun(({ completed }) => `/instances/${completed}`),
  'GET /instances/dlq': ofRun(() => '/instances/dlq'),
  'GET /instances/dlq/groups': ofRun(() => '/instances/dlq/groups'),
  'GET /instances/{id}/stream': ofRun(({ completed }) => `/instances/${completed}/stream?include=nodes`),
  'GET /changes': ofRun(() => '/changes?limit=5'),
  'GET /changes/stream': ofRun(() => '/changes/stream'),
  'GET /api-keys': async (world) => {
    await world.once('key', () => world.write('POST /api-keys'));
    return { path: `/api-keys?tenant_id=${TENANT}` };
  },
  'GET /instances/{id}/tree': ofRun(({ completed }) => `/instances/${completed}/tree`),
  'GET /instances/{id}/outputs': ofRun(({ completed }) => `/instances/${completed}/outputs`),
  'GET /instances/{id}/outputs/{output_id}': ofRun(
    ({ completed, outputId }) => `/instances/${completed}/outputs/${outputId}`,
  ),
  'GET /instances/{id}/children': ofRun(({ completed }) => `/instances/${completed}/children`),
  'GET /instances/{id}/logs': ofRun(({ completed }) => `/instances/${completed}/logs`),
  'GET /instances/{id}/audit': ofRun(({ completed }) => `/instances/${completed}/audit`),
  'GET /instances/{id}/journal': ofRun(({ completed }) => `/instances/${completed}/journal`),
  'GET /instances/{id}/timeline': ofRun(({ completed }) => `/instances/${completed}/timeline`),
  'GET /instances/{id}/explain': ofRun(({ waiting }) => `/instances/${waiting}/explain`),
  'GET /instances/{id}/effects': ofRun(({ completed }) => `/instances/${completed}/effects`),
  'GET /instances/{id}/artifacts': ofRun(({ completed }) => `/instances/${completed}/artifacts`),
  'GET /artifacts/{instance_id}/{artifact_id}': ofRun(({ completed }) => `/artifacts/${completed}/report`),
  'GET /instances/{id}/checkpoints': ofRun(({ completed }) => `/instances/${completed}/checkpoints`),
  'GET /instances/{id}/checkpoints/latest': ofRun(
    ({ completed }) => `/instances/${completed}/checkpoints/latest`,
  ),
  'GET /instances/{id}/fork-preview': ofRun(
    ({ completed }) => `/instances/${completed}/fork-preview?from_block_id=twice`,
  ),
  'GET /instances/{id}/verify': ofRun(({ completed }) => `/instances/${completed}/verify`),
  'GET /instances/{id}/compare/{other}': ofRun(
    ({ completed, failed }) => `/instances/${completed}/compare/${failed}`,
  ),
  'GET /instances/{id}/diagnosis': ofRun(({ waiting }) => `/instances/${waiting}/diagnosis`),
  'GET /instances/{id}/remediations': ofRun(({ failed }) => `/instances/${failed}/remediations`),
  'GET /instances/{id}/signals': ofRun(({ completed }) => `/instances/${completed}/signals`),
  'GET /approvals': ofRun(() => '/approvals'),
  'GET /workers/tasks': ofRun(() => '/workers/tasks'),
  'GET /workers/tasks/stats': ofRun(() => '/workers/tasks/stats'),
  'GET /workers/tasks/{id}/attempts': ofRun(({ taskId }) => `/workers/tasks/${taskId}/attempts`),
  'GET /workers': ofRun(() => '/workers?include_stale=true'),
  'GET /handlers': ofRun(() => '/handlers'),
  'GET /workers/{worker_id}/commands': ofMade(
    'POST /workers/commands',
    ({ worker_id }) => `/workers/${worker_id}/commands`,
  ),
  'GET /workers/version-pins': ofMade('POST /workers/version-pins', () => '/workers/version-pins'),
  'GET /routing-rules': ofMade('POST /routing-rules', () => '/routing-rules'),
  'GET /routing-rules/{id}': ofMade('POST /routing-rules', ({ id }) => `/routing-rules/${id}`),
  'GET /cron': ofMade('POST /cron', () => '/cron'),
  'GET /cron/{id}': ofMade('POST /cron', ({ id }) => `/cron/${id}`),
  'GET /cron/{id}/next-fires': ofMade('POST /cron', ({ id }) => `/cron/${id}/next-fires?n=2`),
  'GET /sessions/{id}': ofMade('POST /sessions', ({ id }) => `/sessions/${id}`),
  'GET /sessions/by-key/{tenant_id}/{key}': ofMade(
    'POST /sessions',
    ({ session_key }) => `/sessions/by-key/${TENANT}/${session_key}`,
  ),
  'GET /sessions/{id}/instances': ofRun(({ sessionId }) => `/sessions/${sessionId}/instances`),
  'GET /events': ofMade('POST /events', () => '/events'),
  'GET /events/{id}': ofMade('POST /events', ({ event_id }) => `/events/${event_id}`),
  'GET /credentials': ofMade('POST /credentials', () => '/credentials'),
  'GET /credentials/{id}': ofMade('POST /credentials', ({ id }) => `/credentials/${id}`),
  'GET /limits': ofRun(() => '/limits'),
  'GET /rate-limits': ofRun(() => '/rate-limits'),
  'GET /tenants/{tenant}/rate-limits': ofRun(() => `/tenants/${TENANT}/rate-limits`),
  'GET /tenants/{tenant}/rate-limits/{key}': ofRun(() => `/tenants/${TENANT}/rate-limits/rich`),
  'GET /circuit-breakers': ofRun(() => '/circuit-breakers'),
  'GET /tenants/{tenant}/circuit-breakers': ofRun(() => `/tenants/${TENANT}/circuit-breakers`),
  'GET /tenants/{tenant}/circuit-breakers/{handler}': ofRun(
    () => `/tenants/${TENANT}/circuit-breakers/rich_worker`,
  ),
  'GET /pools': ofMade('POST /pools', () => '/pools'),
  'GET /pools/{id}': ofMade('POST /pools', ({ id }) => `/pools/${id}`),
  'GET /pools/{id}/resources': ofMade(
    'POST /pools/{id}/resources',
    ({ pool_id }) => `/pools/${pool_id}/resources`,
  ),
  'GET /triggers': ofMade('POST /triggers', () => '/triggers'),
  'GET /triggers/{slug}': ofMade('POST /triggers', ({ slug }) => `/triggers/${slug}`),
  'GET /webhooks/outbox': async (world) => {
    await parked(world);
    return { path: '/webhooks/outbox' };
  },
  'GET /webhooks/outbox/{id}/redeliver-preview': async (world) => ({
    path: `/webhooks/outbox/${await parked(world)}/redeliver-preview`,
  }),
  'GET /webhooks/deliveries': async (world) => {
    await parked(world);
    return { path: '/webhooks/deliveries' };
  },
  'GET /webhooks/deliveries/{delivery_id}': async (world) => {
    await parked(world);
    const [delivery] = await world.call('GET', '/webhooks/deliveries?delivered=false');
    return { path: `/webhooks/deliveries/${delivery.delivery_id}` };
  },
  'GET /plugins': ofMade('POST /plugins', () => '/plugins'),
  'GET /plugins/{name}': ofMade('POST /plugins', ({ name }) => `/plugins/${name}`),
  'GET /cluster/nodes': at('/cluster/nodes'),
};

async function parked(world: ContractWorld): Promise<string> {
  return world.once('parked webhook', () => world.parkedWebhook?.() ?? Promise.resolve(''));
}

/** Requests that succeed for each route which removes something. */
const DELETES: Readonly<Record<string, Make>> = {
  'DELETE /sequences/{id}': ofMade('POST /sequences', ({ id }) => `/sequences/${id}`),
  'DELETE /api-keys/{id}': ofMade('POST /api-keys', ({ id }) => `/api-keys/${id}`),
  'DELETE /workers/commands/{id}': ofMade('POST /workers/commands', ({ id }) => `/workers/commands/${id}`),
  'DELETE /workers/version-pins/{tenant_id}/{handler_name}': ofMade(
    'POST /workers/version-pins',
    ({ handler_name }) => `/workers/version-pins/${TENANT}/${handler_name}`,
  ),
  'DELETE /routing-rules/{id}': ofMade('POST /routing-rules', ({ id }) => `/routing-rules/${id}`),
  'DELETE /cron/{id}': ofMade('POST /cron', ({ id }) => `/cron/${id}`),
  'DELETE /credentials/{id}': ofMade('POST /credentials', ({ id }) => `/credentials/${id}`),
  'DELETE /tenants/{tenant}/rate-limits/{key}': ofMade(
    'PUT /tenants/{tenant}/rate-limits/{key}',
    ({ resource_key }) => `/tenants/${TENANT}/rate-limits/${resource_key}`,
  ),
  'DELETE /pools/{id}': ofMade('POST /pools', ({ id }) => `/pools/${id}`),
  'DELETE /pools/{id}/resources/{rid}': ofMade(
    'POST /pools/{id}/resources',
    ({ pool_id, id }) => `/pools/${pool_id}/resources/${id}`,
  ),
  'DELETE /plugins/{name}': ofMade('POST /plugins', ({ name }) => `/plugins/${name}`),
  'DELETE /triggers/{slug}': ofMade('POST /triggers', ({ slug }) => `/triggers/${slug}`),
  'DELETE /webhooks/outbox/{id}': async (world) => ({
    path: `/webhooks/outbox/${await world.parkedWebhook?.()}`,
  }),
};

/** A webhook that is signed by http-api.md 12.3; its nonce is good once. */
async function signedWebhook(world: ContractWorld): Promise<ContractRequest> {
  const made = await WRITE_REQUESTS['POST /triggers']?.(world);
  const { slug } = await world.call('POST', '/triggers', { ...made?.body, secret: 'a secret' });
  const body = { p: 'x' };
  const timestamp = String(Math.floor(world.api.time.now / 1000));
  const nonce = `nonce-of-the-walk-${world.unique()}`;
  const said = `${timestamp}.${nonce}.${JSON.stringify(body)}`;
  const headers = {
    'x-trigger-timestamp': timestamp,
    'x-trigger-nonce': nonce,
    'x-orch8-signature': `v1=${createHmac('sha256', 'a secret').update(said).digest('base64url')}`,
  };
  return { path: `/webhooks/${slug}`, body, headers };
}

/** A request that succeeds for each route; a route without one fails the walk. */
export const REQUESTS: Readonly<Record<string, Make>> = {
  ...WRITE_REQUESTS,
  'POST /webhooks/{slug}': signedWebhook,
  ...READS,
  ...DELETES,
};
