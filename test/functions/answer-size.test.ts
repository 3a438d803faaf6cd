import type { LambdaEvent } from 'hono/aws-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiHandler } from '../../functions/aws/api.ts';
import { createAwsHost } from '../../functions/aws/compose.ts';
import { nextId } from '../support/turn-builder.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { type SqsServer, startSqsServer } from '../support/sqs-server.ts';
import { createDatabase, TENANT } from './support/deployment.ts';
import { httpEvent, lambdaContext } from './support/lambda-events.ts';

/** What Lambda takes of a function's answer, and of an event. */
const PAYLOAD_BYTES = 6_291_556;
const RUNS = 16;

let sqs: SqsServer;
let neon: NeonLocal;
let handle: ReturnType<typeof createApiHandler>;

beforeAll(async () => {
  sqs = await startSqsServer();
  neon = await startNeonLocal();
  const environment = {
    STEPWELL_DATABASE_URL: await createDatabase(),
    STEPWELL_DATABASE_DRIVER: 'neon',
    STEPWELL_QUEUE_URL: (await sqs.createQueue(`sizes-${nextId()}`)).url,
    STEPWELL_INSECURE: '1',
    STEPWELL_LOG_LEVEL: 'error',
  };
  handle = createApiHandler(createAwsHost({ environment, writeLog: () => undefined }));
});
afterAll(async () => {
  await neon.close();
  await sqs.stop();
});

async function send(event: LambdaEvent) {
  expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThan(PAYLOAD_BYTES);
  const answer = await handle(event, lambdaContext());
  const { body } = answer;
  return {
    status: answer.statusCode,
    payloadBytes: Buffer.byteLength(JSON.stringify(answer)),
    body: body === '' ? undefined : JSON.parse(body),
  };
}

const call = (method: string, path: string, body?: unknown) => send(httpEvent(method, path, TENANT, body));

/** A body as bytes, which is how all come that are not known as text. */
function asBytes(event: LambdaEvent): LambdaEvent {
  const body = Buffer.from(String(event.body)).toString('base64');
  return Object.assign(event, { body, isBase64Encoded: true });
}

const documentOf = (blocks: readonly object[]) => {
  const id = nextId();
  const head = { id, tenant_id: TENANT, namespace: 'fulfilment', name: `s-${id}`, version: 1 };
  return { ...head, created_at: '2027-02-11T07:45:00Z', blocks };
};

describe('an answer of the API as a function', () => {
  it('fits through Lambda or is refused with what to do, whatever is in it', async () => {
    const payload = { text: '"'.repeat(120_000) };
    for (let count = 0; count < RUNS; count += 1) {
      const event = {
        event_name: 'e',
        producer_event_id: `${count}`,
        correlation_key: 'k',
        tenant_id: TENANT,
      };
      expect((await call('POST', '/api/v1/events', { ...event, payload })).status).toBe(201);
    }
    const answers: Awaited<ReturnType<typeof call>>[] = [];
    for (let limit = 1; limit <= RUNS; limit += 1) {
      answers.push(await call('GET', `/api/v1/events?limit=${limit}`));
    }
    expect(Math.max(...answers.map(({ payloadBytes }) => payloadBytes))).toBeLessThan(PAYLOAD_BYTES);
    const given = answers.filter(({ status }) => status === 200);
    const refused = answers.slice(given.length);
    expect(Math.max(...given.map(({ payloadBytes }) => payloadBytes))).toBeGreaterThan(5 * 1024 * 1024);
    expect(refused.length).toBeGreaterThan(0);
    for (const { status, body } of refused) {
      expect([status, body.code, body.error]).toEqual([
        413,
        'answer_too_large',
        expect.stringContaining('`limit`'),
      ]);
    }
  });

  it('fits through Lambda page by page where it has a cursor', async () => {
    const sequence = documentOf([{ type: 'step', id: 'a', handler: 'noop' }]);
    expect((await call('POST', '/api/v1/sequences', sequence)).status).toBe(201);
    const context = { data: { text: '"'.repeat(120_000) } };
    const start = { sequence_id: sequence.id, tenant_id: TENANT, namespace: 'fulfilment', context };
    for (let count = 0; count < RUNS; count += 1) {
      expect((await call('POST', '/api/v1/instances', start)).status).toBe(201);
    }
    const seen = new Set<string>();
    const sizes: number[] = [];
    for (let query = ''; ; ) {
      const { status, body, payloadBytes } = await call('GET', `/api/v1/instances?limit=${RUNS}${query}`);
      expect(status).toBe(200);
      expect(payloadBytes).toBeLessThan(PAYLOAD_BYTES);
      sizes.push(body.items.length);
      for (const { id } of body.items) seen.add(id);
      if (!body.has_more) break;
      query = `&cursor=${body.next_cursor}`;
    }
    expect(seen.size).toBe(RUNS);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(RUNS);
    expect(sizes.length).toBeGreaterThan(1);
  });
});

describe('a body for the API as a function', () => {
  it('may have all bytes that /info names, and Lambda passes so many on', async () => {
    const { max_body_bytes: most } = (await call('GET', '/info')).body;
    const filler = (bytes: number) => {
      const empty = JSON.stringify({ ...documentOf([]), filler: '' }).length;
      return { ...documentOf([]), filler: 'x'.repeat(bytes - empty) };
    };
    const fitting = asBytes(httpEvent('POST', '/api/v1/sequences', TENANT, filler(most)));
    expect((await send(fitting)).body).toMatchObject({ code: 'invalid_definition' });
    const larger = asBytes(httpEvent('POST', '/api/v1/sequences', TENANT, filler(most + 1)));
    expect((await send(larger)).body).toMatchObject({ code: 'body_too_large' });
  });
});
