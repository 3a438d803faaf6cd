import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createApiHandler } from '../../functions/aws/api.ts';
import { createAwsHost } from '../../functions/aws/compose.ts';
import { readSettings } from '../../functions/settings.ts';
import { defineHandler } from '../../src/sdk/handler.ts';
import { type SqsServer, startSqsServer } from '../support/sqs-server.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { createDatabase, deploy, type Deployment, TENANT } from './support/deployment.ts';
import { httpEvent, lambdaContext } from './support/lambda-events.ts';

let sqs: SqsServer;
let neon: NeonLocal;
let databaseUrl: string;
let app: Deployment | null = null;
const calls: string[] = [];
const handler = defineHandler('book', {}, (_input, { blockId }) => {
  calls.push(blockId);
  return { booked: true };
});
const book = (id: string, extra: object = {}) => ({ type: 'step', id, handler: 'book', ...extra });

beforeAll(async () => {
  sqs = await startSqsServer();
  neon = await startNeonLocal();
  databaseUrl = await createDatabase();
});
afterEach(async () => {
  calls.length = 0;
  await app?.close();
  app = null;
});
afterAll(async () => {
  await neon.close();
  await sqs.stop();
});

async function deployHere(): Promise<Deployment> {
  app = await deploy(sqs, { databaseUrl, handlers: [handler] });
  return app;
}

describe('the API as a function', () => {
  it('takes a start, hints at it and runs nothing', async () => {
    const { start, call, queue } = await deployHere();
    const id = await start([book('flight')]);
    expect(queue.look().ready).toMatchObject([{ body: `{"v":1,"tenant":"${TENANT}","instance":"${id}"}` }]);
    expect((await call('GET', `/instances/${id}`)).body).toMatchObject({ id, state: 'scheduled' });
    expect(calls).toEqual([]);
  });

  it('lets a signal take effect within the request and leaves the step to the queue', async () => {
    const { start, call, queue, turns, state } = await deployHere();
    const ask = {
      prompt: 'Book it?',
      choices: [
        { label: 'Yes', value: 'yes' },
        { label: 'No', value: 'no' },
      ],
    };
    const id = await start([book('flight', { wait_for_input: ask })]);
    await turns.drain();
    expect(await state(id)).toBe('waiting');
    const signal = { signal_type: { custom: 'human_input:flight' }, payload: { value: 'yes' } };
    expect((await call('POST', `/instances/${id}/signals`, signal)).status).toBeLessThan(300);
    const { body } = await call('GET', `/instances/${id}`);
    expect(body).toMatchObject({ state: 'scheduled', context: { data: { flight: 'yes' } } });
    expect(calls).toEqual([]);
    expect(queue.look().ready).toHaveLength(1);
    await turns.drain();
    expect(calls).toEqual(['flight']);
    expect(await state(id)).toBe('completed');
  });

  it('cancels a waiting instance within the request', async () => {
    const { start, call, turns, state } = await deployHere();
    const id = await start([book('flight', { delay: { duration: 3_600_000 } })]);
    await turns.drain();
    expect((await call('POST', `/instances/${id}/signals`, { signal_type: 'cancel' })).status).toBeLessThan(
      300,
    );
    expect(await state(id)).toBe('cancelled');
  });

  it('retries an operator’s failed instance by way of the queue', async () => {
    const { start, call, turns, state } = await deployHere();
    const id = await start([{ type: 'step', id: 'check', handler: 'fail', params: { message: 'no' } }]);
    await turns.drain();
    expect(await state(id)).toBe('failed');
    expect((await call('POST', `/instances/${id}/retry`)).status).toBe(200);
    expect(await state(id)).toBe('scheduled');
    expect(await turns.drain()).toBe(1);
    expect(await state(id)).toBe('failed');
  });

  it('answers an unknown path with the error of the contract', async () => {
    const { call } = await deployHere();
    expect(await call('GET', '/nothing')).toMatchObject({ status: 404, body: { error: expect.any(String) } });
  });

  it('does not open without a key unless that was asked for', async () => {
    const environment = {
      STEPWELL_DATABASE_URL: 'postgres://127.0.0.1:1/none',
      STEPWELL_QUEUE_URL: 'http://q',
    };
    const open = createApiHandler(createAwsHost({ environment }));
    await expect(open(httpEvent('GET', '/health/live', TENANT), lambdaContext())).rejects.toThrow(
      'STEPWELL_API_KEY',
    );
  });
});

describe('the settings of functions', () => {
  it('name all that is missing or wrong, and no values', () => {
    const read = () => readSettings({ STEPWELL_LEASE_MS: 'secret', STEPWELL_LOG_LEVEL: 'loud' });
    expect(read).toThrow(/STEPWELL_DATABASE_URL.*STEPWELL_LEASE_MS.*STEPWELL_LOG_LEVEL.*STEPWELL_QUEUE_URL/);
    expect(read).not.toThrow(/secret|loud/);
  });
});
