import type { LambdaEvent } from 'hono/aws-lambda';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiHandler } from '../../functions/aws/api.ts';
import { createAwsHost } from '../../functions/aws/compose.ts';
import { requestOf } from '../../functions/aws/http-event.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { type SqsServer, startSqsServer } from '../support/sqs-server.ts';
import { nextId } from '../support/turn-builder.ts';
import { createDatabase, TENANT } from './support/deployment.ts';
import { httpEvent, lambdaContext } from './support/lambda-events.ts';

const KEY = 'root-key-of-the-tests';
const PATH = '/api/v1/instances';

let sqs: SqsServer;
let neon: NeonLocal;
let answer: (event: LambdaEvent) => Promise<{ readonly status: number; readonly code: unknown }>;
const log: string[] = [];

beforeAll(async () => {
  sqs = await startSqsServer();
  neon = await startNeonLocal();
  const environment = {
    STEPWELL_DATABASE_URL: await createDatabase(),
    STEPWELL_DATABASE_DRIVER: 'neon',
    STEPWELL_QUEUE_URL: (await sqs.createQueue(`events-${nextId()}`)).url,
    STEPWELL_API_KEY: KEY,
  };
  const handle = createApiHandler(createAwsHost({ environment, writeLog: (line) => log.push(line) }));
  answer = async (event) => {
    const { statusCode, body, headers } = await handle(event, lambdaContext());
    if (headers?.['x-request-id'] === undefined) throw new Error('the answer names no request');
    return { status: statusCode, code: body === '' ? undefined : JSON.parse(body).code };
  };
});
afterAll(async () => {
  await neon.close();
  await sqs.stop();
});

function eventOf(method: string, parts: object = {}, headers: Record<string, string> = { 'x-api-key': KEY }) {
  const event = httpEvent(method, PATH, TENANT);
  return Object.assign(event, { headers: { ...event.headers, ...headers }, ...parts });
}

describe('events that are no plain request', () => {
  const odd = ['TRACE', 'CONNECT', 'TRACK', 'BREW', 'get it', ''];

  it('of another method are 405 with the code of the contract, and 401 to strangers', async () => {
    for (const method of odd) {
      expect(await answer(eventOf(method))).toEqual({ status: 405, code: 'method_not_allowed' });
      expect(await answer(eventOf(method, {}, {}))).toEqual({ status: 401, code: 'unauthorized' });
      expect(await answer(eventOf(method, { body: 'x' }))).toMatchObject({ status: 405 });
    }
  });

  it('GET and HEAD with a body are answered as without', async () => {
    for (const method of ['GET', 'HEAD']) {
      expect(await answer(eventOf(method, { body: '{}' }))).toMatchObject({ status: 200 });
      expect((await answer(eventOf(method, { body: '{}' }, {}))).status).toBe(401);
    }
  });

  it('with a body that is not the base64 it says it is are 400', async () => {
    for (const body of ['$$$$', 'A', '-_-_']) {
      const event = eventOf('POST', { body, isBase64Encoded: true });
      expect(await answer(event)).toEqual({ status: 400, code: 'invalid_argument' });
    }
  });

  it('with a header or an address that is none are 400 or lead nowhere', async () => {
    expect(await answer(eventOf('GET', {}, { 'x-tenant-id': 'a\nb' }))).toMatchObject({ status: 400 });
    expect(await answer(eventOf('GET', { rawPath: ':99999/x' }))).toMatchObject({ status: 404 });
    expect(await answer(eventOf('GET', { rawPath: '' }, {}))).toMatchObject({ status: 401 });
  });

  it('name the tenant of a header whether their host has decoded it or not', async () => {
    const key = { 'x-api-key': KEY };
    const body = JSON.stringify({
      id: nextId(),
      tenant_id: 'café',
      namespace: 'n',
      name: 'welcome',
      version: 1,
      created_at: '2027-02-11T07:45:00Z',
      blocks: [{ type: 'step', id: 'a', handler: 'noop' }],
    });
    const json = { ...key, 'content-type': 'application/json' };
    const publish = { rawPath: '/api/v1/sequences', body };
    const bytes = Buffer.from('café').toString('latin1');
    expect(await answer(eventOf('POST', publish, { ...json, 'x-tenant-id': 'café' }))).toMatchObject({
      status: 201,
    });
    const byName = {
      rawPath: '/api/v1/sequences/by-name',
      rawQueryString: `tenant_id=${encodeURIComponent('café')}&namespace=n&name=welcome`,
    };
    for (const tenant of ['café', bytes]) {
      expect(await answer(eventOf('GET', byName, { ...key, 'x-tenant-id': tenant }))).toMatchObject({
        status: 200,
      });
    }
    const literally = eventOf('GET', byName, { ...key, 'x-tenant-id': 'caf%C3%A9' });
    expect((await answer(literally)).status).not.toBe(200);
    expect(await answer(eventOf('GET', {}, { ...key, 'x-tenant-id': 'a\ufffd' }))).toMatchObject({
      status: 400,
    });
  });

  it('write nothing into the log', () => {
    expect(log).toEqual([]);
  });
});

describe('events of payload 1.0', () => {
  const event = {
    httpMethod: 'POST',
    path: '/api/v1/sequences',
    headers: { host: 'api.example.com' },
    multiValueHeaders: { host: ['api.example.com'], accept: ['text/html', 'application/json'] },
    queryStringParameters: { a: '2' },
    multiValueQueryStringParameters: { a: ['1 & 2', '2'] },
    requestContext: {},
    body: Buffer.from('{"é":1}').toString('base64'),
    isBase64Encoded: true,
  } as unknown as LambdaEvent;

  it('become the same request', async () => {
    const read = requestOf(event);
    if (!read.ok) throw new Error(read.error);
    const { value: request } = read;
    expect([request.method, request.url, await request.text()]).toEqual([
      'POST',
      'https://api.example.com/api/v1/sequences?a=1+%26+2&a=2',
      '{"é":1}',
    ]);
    expect(request.headers.get('accept')).toBe('text/html, application/json');
  });
});
