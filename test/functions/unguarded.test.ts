import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createCloudflareWorker } from '../../functions/cloudflare/index.ts';
import { encodeHintMessage } from '../../src/core/hint-message.ts';
import { type Scheduler, startScheduler } from '../deploy/support/scheduler.ts';
import type { SqsEvent } from '../support/event-source.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { refusingEndpoint } from '../support/silent-server.ts';
import { type SqsServer, startSqsServer } from '../support/sqs-server.ts';
import { followMessage } from './support/cloudflare-queues.ts';
import { createDatabase, deploy, type Deployment, TENANT } from './support/deployment.ts';

const WAKES = { STEPWELL_WAKE_GROUP: 'wakes', STEPWELL_WAKE_ROLE_ARN: 'arn:aws:iam::000000000000:role/wake' };
/** The cron trigger of the template. */
const CRON_SECS = 6 * 3_600;
const BLOCKS = [{ type: 'step', id: 'a', handler: 'noop' }];

let sqs: SqsServer;
let neon: NeonLocal;
let scheduler: Scheduler;
let databaseUrl: string;
let apps: Deployment[] = [];

beforeAll(async () => {
  sqs = await startSqsServer();
  neon = await startNeonLocal();
  scheduler = await startScheduler();
  databaseUrl = await createDatabase();
});
afterEach(async () => {
  for (const app of apps) await app.close();
  apps = [];
});
afterAll(async () => {
  scheduler.close();
  await neon.close();
  await sqs.stop();
});

async function deployWith(environment: Readonly<Record<string, string>>): Promise<Deployment> {
  const app = await deploy(sqs, { databaseUrl, environment });
  apps.push(app);
  return app;
}

async function withoutScheduler(): Promise<Deployment> {
  process.env['AWS_ENDPOINT_URL_SCHEDULER'] = await refusingEndpoint();
  return deployWith(WAKES);
}

async function withScheduler(): Promise<Deployment> {
  process.env['AWS_ENDPOINT_URL_SCHEDULER'] = scheduler.endpoint;
  return deployWith(WAKES);
}

const hintOf = (instanceId: string): string => encodeHintMessage({ tenantId: TENANT, instanceId }) ?? '';

function messageFor(instanceId: string): SqsEvent {
  const record = { messageId: 'm1', receiptHandle: 'r1', body: hintOf(instanceId) };
  return { Records: [record] } as unknown as SqsEvent;
}

describe('an invocation whose wake cannot be kept', () => {
  it('refuses a write with 503 and stores nothing; reading goes on', async () => {
    const app = await withoutScheduler();
    const id = await (await deployWith({})).publish({ blocks: BLOCKS });
    const start = { sequence_id: id, tenant_id: TENANT, namespace: 'fulfilment' };
    const refused = await app.call('POST', '/instances', start);
    expect(refused).toMatchObject({ status: 503, body: { code: 'wake_unavailable' } });
    const listed = await app.call('GET', `/instances?sequence_id=${id}`);
    expect(listed).toMatchObject({ status: 200, body: { items: [] } });
  });

  it('runs what a message names and lets it come again, until a wake is kept', async () => {
    const steady = await deployWith({});
    const id = await steady.start(BLOCKS);
    const app = await withoutScheduler();
    const again = { batchItemFailures: [{ itemIdentifier: 'm1' }] };
    expect(await app.turn(messageFor(id))).toEqual(again);
    expect(await steady.state(id)).toBe('completed');
    expect(await app.turn(messageFor(id))).toEqual(again);
    expect(await (await withScheduler()).turn(messageFor(id))).toEqual({ batchItemFailures: [] });
    expect(scheduler.schedules.size).toBeGreaterThan(0);
  });

  it('does the same on Workers, for longer than the cron trigger takes to come', async () => {
    const steady = await deployWith({});
    const id = await steady.start(BLOCKS);
    const { worker } = createCloudflareWorker();
    const headers = { 'x-tenant-id': TENANT, 'content-type': 'application/json' };
    const request = new Request('https://w.example.com/api/v1/events', {
      method: 'POST',
      headers,
      body: JSON.stringify({
        event_name: 'e',
        producer_event_id: '1',
        correlation_key: 'k',
        tenant_id: TENANT,
      }),
    });
    const answer = await worker.fetch(request, workerEnv(isOverloaded), { waitUntil: () => undefined });
    expect(answer.status).toBe(503);
    const backAtSecs = CRON_SECS + 60;
    const receivedAtSecs: number[] = [];
    const end = await followMessage(hintOf(id), (batch, atSecs) => {
      receivedAtSecs.push(atSecs);
      return worker.queue(batch, workerEnv(atSecs < backAtSecs ? isOverloaded : keeps));
    });
    // A waker that is away for a moment is asked soon, and one that stays away is asked seldom.
    expect(receivedAtSecs.slice(0, 8)).toEqual([0, 10, 30, 70, 150, 310, 310, 610]);
    expect(await steady.state(id)).toBe('completed');
    expect(end).toMatchObject({ fate: 'done', receives: { 'stepwell-turns': 6 } });
    expect(end.atSecs).toBeGreaterThanOrEqual(backAtSecs);
  });

  it('lets messages of Workers come again also when an invocation fails before it has begun', async () => {
    const { worker } = createCloudflareWorker();
    let received = 0;
    const end = await followMessage(hintOf('any'), async (batch, atSecs) => {
      received += 1;
      await worker.queue(
        batch,
        atSecs < CRON_SECS ? { ...workerEnv(keeps), STEPWELL_DATABASE_URL: 3 } : workerEnv(keeps),
      );
    });
    expect(end.fate).toBe('done');
    expect(received).toBeGreaterThan(6);
  });
});

function workerEnv(fetch: () => Promise<Response>) {
  return {
    STEPWELL_DATABASE_URL: databaseUrl,
    STEPWELL_INSECURE: '1',
    STEPWELL_LOG_LEVEL: 'error',
    STEPWELL_TURNS: { sendBatch: () => Promise.resolve() },
    STEPWELL_WAKER: { idFromName: () => ({}), get: () => ({ fetch }) },
  };
}

const isOverloaded = (): Promise<Response> => Promise.reject(new Error('the object is overloaded'));
const keeps = (): Promise<Response> => Promise.resolve(new Response('kept'));
