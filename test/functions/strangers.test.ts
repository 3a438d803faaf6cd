import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createApiHandler } from '../../functions/aws/api.ts';
import { createAwsHost } from '../../functions/aws/compose.ts';
import { createCloudflareWorker } from '../../functions/cloudflare/index.ts';
import { systemClock } from '../../src/adapters/system.ts';
import { nextId } from '../support/turn-builder.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { type SqsServer, startSqsServer } from '../support/sqs-server.ts';
import { type Scheduler, startScheduler } from '../deploy/support/scheduler.ts';
import { createDatabase, TENANT } from './support/deployment.ts';
import { httpEvent, lambdaContext } from './support/lambda-events.ts';

const KEY = 'root-key-of-the-tests';

let sqs: SqsServer;
let neon: NeonLocal;
let scheduler: Scheduler;
let environment: Record<string, string>;

beforeAll(async () => {
  sqs = await startSqsServer();
  neon = await startNeonLocal();
  scheduler = await startScheduler();
  process.env['AWS_ENDPOINT_URL_SCHEDULER'] = scheduler.endpoint;
  environment = {
    STEPWELL_DATABASE_URL: await createDatabase(),
    STEPWELL_DATABASE_DRIVER: 'neon',
    STEPWELL_QUEUE_URL: (await sqs.createQueue(`strangers-${nextId()}`)).url,
    STEPWELL_API_KEY: KEY,
    STEPWELL_LOG_LEVEL: 'error',
    STEPWELL_WAKE_GROUP: 'wakes',
    STEPWELL_WAKE_ROLE_ARN: 'arn:aws:iam::000000000000:role/wake',
  };
});
afterAll(async () => {
  scheduler.close();
  await neon.close();
  await sqs.stop();
});

/** A deployment in economy mode, by what it answers and what it has made its surroundings do. */
interface Host {
  readonly send: (method: string, path: string, key?: string, body?: unknown) => Promise<number>;
  /** Wakes that were kept so far. */
  readonly wakes: () => number;
}

function onAws(): Host {
  const handle = createApiHandler(createAwsHost({ environment, writeLog: () => undefined }));
  return {
    async send(method, path, key, body) {
      const event = httpEvent(method, path, TENANT, body);
      if (key !== undefined) Object.assign(event.headers ?? {}, { 'x-api-key': key });
      return (await handle(event, lambdaContext())).statusCode;
    },
    wakes: () => scheduler.schedules.size,
  };
}

function onWorkers(): Host {
  const asked: string[] = [];
  const fetch = (url: string) => {
    asked.push(new URL(url).pathname);
    return Promise.resolve(new Response('kept'));
  };
  const env = {
    ...environment,
    STEPWELL_VERSION: { id: 'v1', timestamp: '2026-11-30T09:00:00.000Z' },
    STEPWELL_TURNS: { sendBatch: () => Promise.resolve() },
    STEPWELL_WAKER: { idFromName: () => ({}), get: () => ({ fetch }) },
  };
  const blocks = [{ type: 'step', id: 'a', handler: 'noop' }];
  const { worker } = createCloudflareWorker({
    tenant: TENANT,
    sequences: { greet: { name: 'greet', blocks } },
  });
  return {
    async send(method, path, key, body) {
      const work: Promise<unknown>[] = [];
      const headers = new Headers({ 'x-tenant-id': TENANT, 'content-type': 'application/json' });
      if (key !== undefined) headers.set('x-api-key', key);
      const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const request = new Request(`https://workflows.example.com${path}`, init);
      const answer = await worker.fetch(request, env, { waitUntil: (promise) => work.push(promise) });
      await Promise.all(work);
      return answer.status;
    },
    wakes: () => asked.length,
  };
}

const UNANSWERED = [
  ['GET', '/'],
  ['GET', '/.env'],
  ['POST', '/wp-login.php'],
  ['HEAD', '/api/v1/instances'],
  ['OPTIONS', '/api/v1/instances'],
  ['GET', '/api/v1/instances'],
  ['POST', '/api/v1/instances'],
  ['POST', '/instances'],
  ['DELETE', '/api/v1/sequences/none'],
  ['GET', `/api/v1/instances/${nextId()}/stream`],
  ['GET', '/metrics'],
] as const;

describe.each([
  ['AWS', onAws],
  ['Workers', onWorkers],
])('a deployment on %s in economy mode', (_, open) => {
  it('asks nothing of its database for callers without a key, and keeps no wake', async () => {
    const host = open();
    const before = { statements: neon.requestCount(), wakes: host.wakes() };
    for (const [method, path] of UNANSWERED) {
      for (const key of [undefined, 'wrong', `sk_${'x'.repeat(43)}`]) {
        const body = method === 'POST' ? {} : undefined;
        expect([method, path, await host.send(method, path, key, body)]).toEqual([method, path, 401]);
      }
    }
    for (const path of ['/health/live', '/info']) expect(await host.send('GET', path)).toBe(200);
    expect({ statements: neon.requestCount(), wakes: host.wakes() }).toEqual(before);
  });

  it('asks nothing for what is refused, also with a key', async () => {
    const host = open();
    const before = { statements: neon.requestCount(), wakes: host.wakes() };
    expect(await host.send('POST', '/api/v1/nothing', KEY, {})).toBe(404);
    expect(await host.send('PUT', '/api/v1/instances', KEY, {})).toBe(405);
    expect(await host.send('POST', '/api/v1/instances', KEY, { sequence_id: 7 })).toBe(422);
    expect({ statements: neon.requestCount(), wakes: host.wakes() }).toEqual(before);
  });

  it('keeps no wake for a webhook that proves nothing, and looks it up only', async () => {
    const host = open();
    const before = neon.requestCount();
    const wakes = host.wakes();
    expect(await host.send('POST', '/webhooks/nobody-knows', undefined, {})).toBe(404);
    expect({ statements: neon.requestCount() - before, wakes: host.wakes() }).toEqual({
      statements: 1,
      wakes,
    });
  });

  it('keeps a wake before the first write of a caller with the key', async () => {
    const host = open();
    const wakes = host.wakes();
    expect(await host.send('POST', '/api/v1/instances', KEY, start())).toBe(404);
    expect(host.wakes()).toBeGreaterThan(wakes);
  });
});

it('a function counts callers by whom CloudFront names where it is trusted, and believes nothing else', async () => {
  // Rates count by the second, and all of this belongs to one.
  const second = vi.spyOn(systemClock, 'monotonicMs').mockReturnValue(systemClock.monotonicMs());
  const statuses = async (trusted: object, header = 'cloudfront-viewer-address') => {
    const counted = { ...environment, STEPWELL_WEBHOOK_RATE_PER_SEC: '1', ...trusted };
    const handle = createApiHandler(createAwsHost({ environment: counted, writeLog: () => undefined }));
    const answers: number[] = [];
    for (const address of ['192.0.2.1:4711', '192.0.2.2:4711', '192.0.2.2:4712']) {
      const event = httpEvent('POST', '/webhooks/nobody-counts', TENANT, {});
      Object.assign(event.headers ?? {}, { [header]: address });
      answers.push((await handle(event, lambdaContext())).statusCode);
    }
    return answers;
  };
  expect(await statuses({})).toEqual([404, 429, 429]);
  expect(await statuses({ STEPWELL_TRUSTED_PROXIES: '203.0.113.0/24' })).toEqual([404, 404, 429]);
  const xForwardedFor = await statuses({ STEPWELL_TRUSTED_PROXIES: '203.0.113.0/24' }, 'x-forwarded-for');
  expect(xForwardedFor).toEqual([404, 429, 429]);
  await expect(statuses({ STEPWELL_TRUSTED_PROXIES: 'cdn.example.com' })).rejects.toThrow(
    'STEPWELL_TRUSTED_PROXIES',
  );
  second.mockRestore();
});

it('a process that is only asked whether it is ready knows that its deployment was told to drain', async () => {
  const handle = () => createApiHandler(createAwsHost({ environment, writeLog: () => undefined }));
  const ask = async (process: ReturnType<typeof handle>, method: string, path: string) => {
    const event = httpEvent(method, path, TENANT);
    Object.assign(event.headers ?? {}, { 'x-api-key': KEY });
    const { statusCode, body } = await process(event, lambdaContext());
    return { status: statusCode, body: body === '' ? null : JSON.parse(body) };
  };
  const first = handle();
  expect(await ask(first, 'GET', '/health/ready')).toMatchObject({ status: 200 });
  // A sign of life goes along with the first admitted request, and is there when that has been answered.
  await ask(first, 'GET', '/api/v1/instances');
  const nodes = await ask(first, 'GET', '/api/v1/cluster/nodes');
  const { id } = nodes.body[0];
  await ask(first, 'POST', `/api/v1/cluster/nodes/${id}/drain`);
  const drained = { status: 503, body: { status: 'not_ready', reason: 'draining' } };
  expect(await ask(handle(), 'GET', '/health/ready')).toEqual(drained);
});

function start() {
  return { sequence_id: nextId(), tenant_id: TENANT, namespace: 'fulfilment' };
}
