import { beforeEach, describe, expect, it } from 'vitest';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, createFixture, OTHER_TENANT, TENANT } from './support/api-fixture.ts';
import { waitingForWorker } from './support/seeded-runs.ts';

let api: ApiFixture;
beforeEach(() => {
  api = createFixture();
});

const HANDLER = 'parcel_lookup';
const poll = (overrides: object = {}, options: object = {}) =>
  api.call('POST', '/workers/tasks/poll', {
    body: { handler_name: HANDLER, worker_id: 'w-1', ...overrides },
    ...options,
  });
const report = (taskId: string, verb: string, body: object) =>
  api.call('POST', `/workers/tasks/${taskId}/${verb}`, {
    body: { worker_id: 'w-1', claim_epoch: 1, ...body },
  });

describe('POST /workers/tasks/poll', () => {
  it('gives the oldest task to one caller only', async () => {
    const first = await waitingForWorker(api);
    api.clock.now += 1000;
    const second = await waitingForWorker(api);
    const [a, b, c] = [await poll(), await poll({ worker_id: 'w-2' }), await poll({ limit: 5 })];
    expect(a.body).toMatchObject([
      {
        id: first.taskId,
        instance_id: first.id,
        state: 'claimed',
        worker_id: 'w-1',
        claim_epoch: 1,
        attempt: 0,
        redelivery: false,
        idempotency_key: 'key-of-the-attempt',
        claimed_at: '2027-02-11T08:00:01.000Z',
        output: null,
        error_message: null,
      },
    ]);
    expect(a.body[0]).not.toHaveProperty('queue_name');
    expect(a.body[0]).not.toHaveProperty('resume_checkpoint');
    expect(Object.keys(a.body[0].context)).toEqual(['data', 'config', 'audit', 'runtime']);
    expect(b.body).toMatchObject([{ id: second.taskId, worker_id: 'w-2' }]);
    expect(c.body).toEqual([]);
  });

  it('keeps to the tenant of the call', async () => {
    await waitingForWorker(api);
    expect((await poll({}, { tenant: OTHER_TENANT })).body).toEqual([]);
    expect((await poll()).body).toHaveLength(1);
  });

  it('gives only tasks of the queue that is asked for', async () => {
    await waitingForWorker(api);
    const body = { handler_name: HANDLER, worker_id: 'w-1', queue_name: 'eu' };
    expect((await api.call('POST', '/workers/tasks/poll/queue', { body })).body).toEqual([]);
  });

  it.each([
    [{ handler_name: undefined }, 422],
    [{ worker_id: undefined }, 422],
    [{ limit: 'many' }, 422],
    [{ limit: -1 }, 400],
    [{ handler_name: ' ' }, 400],
    [{ worker_id: '' }, 400],
  ])('answers %j with %i', async (overrides, status) => {
    expect((await poll(overrides)).status).toBe(status);
  });

  it('needs the name of the queue on the path of queues', async () => {
    const body = { handler_name: HANDLER, worker_id: 'w-1' };
    expect(await api.call('POST', '/workers/tasks/poll/queue', { body })).toMatchObject({
      status: 422,
      body: { error: 'unprocessable entity: missing field `queue_name`' },
    });
  });

  it('claims nothing with a limit of 0', async () => {
    await waitingForWorker(api);
    expect((await poll({ limit: 0 })).body).toEqual([]);
  });
});

describe('reports of workers', () => {
  it('close the task, wake the instance, and count once', async () => {
    const { id, taskId } = await waitingForWorker(api);
    await poll();
    expect(await report(taskId, 'complete', { output: { a: 1 } })).toMatchObject({ status: 200, text: '' });
    expect(api.runner.nudged).toEqual([{ tenantId: TENANT, instanceId: id }]);
    expect((await api.store.getFrontier(null, id))?.inbox.map(({ fact }) => fact)).toMatchObject([
      { kind: 'task', taskId, outcome: { ok: true, output: { a: 1 } } },
    ]);
    expect(await report(taskId, 'complete', { output: { a: 1 } })).toMatchObject({
      status: 409,
      body: { code: 'stale_claim' },
    });
    expect(await report(taskId, 'fail', { message: 'no' })).toMatchObject({ status: 409 });
    expect((await api.store.getFrontier(null, id))?.inbox).toHaveLength(1);
  });

  it('hand on code, details and logs of a failure', async () => {
    const { id, taskId } = await waitingForWorker(api);
    await poll();
    const logs = [{ ts: '2027-02-11T09:00:00+01:00', level: 'info', message: 'x'.repeat(9000) }];
    const body = { message: 'upstream', retryable: true, code: 'UPSTREAM', details: { status: 503 }, logs };
    expect((await report(taskId, 'fail', body)).status).toBe(200);
    expect((await api.store.getFrontier(null, id))?.inbox[0]?.fact).toMatchObject({
      outcome: {
        ok: false,
        message: 'upstream',
        retryable: true,
        code: 'UPSTREAM',
        details: { status: 503 },
      },
    });
    const lines = (await api.call('GET', `/instances/${id}/logs`)).body;
    expect(lines).toMatchObject([{ block_id: 'first', level: 'info', ts: '2027-02-11T08:00:00.000Z' }]);
    expect(lines[0].message).toHaveLength(8192);
  });

  it.each([
    ['complete', {}, 422, 'missing field `output`'],
    ['complete', { output: 1, worker_id: undefined }, 422, 'missing field `worker_id`'],
    ['complete', { output: 1, claim_epoch: undefined }, 422, 'missing field `claim_epoch`'],
    ['complete', { output: 1, claim_epoch: '1' }, 422, 'claim_epoch'],
    ['complete', { output: 1, logs: [{ ts: 'x' }] }, 422, 'logs[0]'],
    ['fail', {}, 422, 'missing field `message`'],
    ['fail', { message: 'm', retryable: 'yes' }, 422, 'retryable'],
    ['complete', { output: 1, claim_epoch: 2 }, 409, 'claim_epoch'],
    ['complete', { output: 1, worker_id: 'w-2' }, 409, 'claimed'],
    ['heartbeat', { claim_epoch: 2 }, 409, 'claimed'],
    ['heartbeat', { checkpoint: {} }, 400, 'checkpoint_seq'],
    ['heartbeat', { checkpoint: {}, checkpoint_seq: 1 }, 409, 'checkpoint_seq'],
    ['heartbeat', { checkpoint: 'x'.repeat(262_144), checkpoint_seq: 0 }, 413, 'checkpoint'],
  ])('of %s with %j are answered with %i', async (verb, body, status, fragment) => {
    const { taskId } = await waitingForWorker(api);
    await poll();
    const reply = await report(taskId, verb, body);
    expect(reply.status).toBe(status);
    expect(reply.body.error).toContain(fragment);
  });

  it.each([null, 0, false, '', []])('keep the output %j as it is', async (output) => {
    const { id, taskId } = await waitingForWorker(api);
    await poll();
    expect((await report(taskId, 'complete', { output })).status).toBe(200);
    expect((await api.store.getFrontier(null, id))?.inbox[0]?.fact).toMatchObject({ outcome: { output } });
  });

  it('are 409 while nobody has claimed the task, and 404 for an unknown one', async () => {
    const { taskId } = await waitingForWorker(api);
    expect((await report(taskId, 'complete', { output: 1 })).status).toBe(409);
    const unknown = nextId();
    for (const [verb, body] of [
      ['complete', { output: 1 }],
      ['fail', { message: 'm' }],
      ['heartbeat', {}],
    ] as const) {
      expect(await report(unknown, verb, body)).toMatchObject({
        status: 404,
        body: { error: `not found: worker task ${unknown}` },
      });
    }
  });

  it('of heartbeats store checkpoints in their order', async () => {
    const { taskId } = await waitingForWorker(api);
    await poll();
    const beat = (body: object) => report(taskId, 'heartbeat', body);
    expect((await beat({})).body).toEqual({ ok: true, checkpoint_seq: 0, cancelled: false });
    expect((await beat({ checkpoint: { row: 12 }, checkpoint_seq: 0 })).body.checkpoint_seq).toBe(1);
    expect((await beat({ checkpoint: { row: 13 }, checkpoint_seq: 0 })).status).toBe(409);
    expect((await beat({ checkpoint: null, checkpoint_seq: 1 })).body.checkpoint_seq).toBe(2);
  });
});

describe('reading about workers', () => {
  it('lists tasks by state, handler, worker and queue', async () => {
    const { taskId } = await waitingForWorker(api);
    const ids = async (query: string) =>
      (await api.call('GET', `/workers/tasks?${query}`)).body.map(({ id }: { id: string }) => id);
    expect(await ids('state=pending')).toEqual([taskId]);
    await poll();
    expect(await ids('state=pending')).toEqual([]);
    expect(await ids('state=claimed,completed&worker_id=w-1&handler_name=parcel_lookup')).toEqual([taskId]);
    expect(await ids('queue_name=eu')).toEqual([]);
    expect((await api.call('GET', '/workers/tasks?state=open')).status).toBe(400);
    expect((await api.call('GET', '/workers/tasks', { tenant: OTHER_TENANT })).body).toEqual([]);
  });

  it('counts tasks by state and handler', async () => {
    await waitingForWorker(api);
    const { body } = await api.call('GET', '/workers/tasks/stats');
    expect(body.by_state).toMatchObject({ pending: 1 });
    expect(body.by_handler).toMatchObject({ [HANDLER]: { pending: 1 } });
  });

  it('tells what happened to a task, refused reports included', async () => {
    const { taskId } = await waitingForWorker(api);
    await poll();
    await report(taskId, 'complete', { output: 1, claim_epoch: 7 });
    await report(taskId, 'complete', { output: 1 });
    const { body } = await api.call('GET', `/workers/tasks/${taskId}/attempts`);
    expect(body.map(({ event }: { event: string }) => event)).toEqual([
      'claimed',
      'stale_mutation_rejected',
      'completed',
    ]);
    expect((await api.call('GET', `/workers/tasks/${nextId()}/attempts`)).status).toBe(404);
  });

  it('lists workers and handlers that were seen in polls', async () => {
    await poll({ version: '1.2.0' });
    expect((await api.call('GET', '/workers')).body).toMatchObject([
      { worker_id: 'w-1', handlers: [HANDLER], version: '1.2.0', alive: true },
    ]);
    expect((await api.call('GET', '/handlers')).body).toEqual({
      builtin: ['fail', 'log', 'noop', 'sleep'],
      external: [HANDLER],
      local: [],
    });
    const own = createFixture({}, { handlerNames: ['noop', 'charge'] });
    expect((await own.call('GET', '/handlers')).body).toEqual({
      builtin: ['noop'],
      external: [],
      local: ['charge'],
    });
    api.clock.now += 61_000;
    expect((await api.call('GET', '/workers')).body).toEqual([]);
    expect((await api.call('GET', '/workers?include_stale=true')).body).toMatchObject([{ alive: false }]);
  });
});
