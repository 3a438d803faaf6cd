import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/sdk/client.ts';
import { sequence } from '../../src/sdk/sequence.ts';
import { createWorld, type SdkWorld } from './support/world.ts';

const parcel = sequence({ name: 'parcel', blocks: [{ type: 'step', id: 'weigh', handler: 'weigh_parcel' }] });

const TASK = { handler_name: 'weigh_parcel', worker_id: 'w-1' };

/** A world with one instance whose task is claimed, and a client that meets the planned faults. */
async function claimedWorld() {
  const world = createWorld();
  const { id } = await world.run(parcel);
  const [task] = await world.client.tasks.poll(TASK);
  if (task === undefined) throw new Error('there is no task');
  return { world, client: world.clientOf(), id, task };
}

async function errorOf(world: SdkWorld, work: Promise<unknown>): Promise<ApiError> {
  const reason: unknown = await world.awaitOn(
    work.then(
      () => null,
      (error: unknown) => error,
    ),
  );
  if (!(reason instanceof ApiError)) throw new Error(`no ApiError but ${String(reason)}`);
  return reason;
}

/** When the requests of a world left. */
function departures(world: SdkWorld): readonly number[] {
  return world.requestTimes.map((at, index) => at - (world.requestTimes[index - 1] ?? at));
}

describe('a call that may be repeated', () => {
  it('is tried again after no answer and after what passes, with growing pauses', async () => {
    const world = createWorld();
    world.plan(/GET/, 'request lost', { status: 503 }, 'answer lost');
    const { id } = await world.run(parcel);
    const instance = await world.awaitOn(world.clientOf().instances.get(id));
    expect(instance.id).toBe(id);
    const [, ...pauses] = departures(world);
    expect(pauses).toHaveLength(3);
    for (const [index, pauseMs] of pauses.entries()) {
      expect(pauseMs).toBeGreaterThanOrEqual(100 * 2 ** index);
      expect(pauseMs).toBeLessThanOrEqual(200 * 2 ** index + 1);
    }
  });

  it('is given up after its last try, and says that it was repeated', async () => {
    const world = createWorld();
    world.plan(/GET/, 'request lost', 'request lost');
    const error = await errorOf(world, world.clientOf({ maxTries: 2 }).approvals.list());
    expect(error).toMatchObject({ status: 0, code: 'no_answer', repeated: true, isPassing: true });
    expect(error.message).toMatch(/^GET http:\S+\/approvals: fetch failed \(connect ECONNREFUSED\)$/);
    expect(world.requests).toHaveLength(2);
  });

  it('waits as long as the server asks', async () => {
    const world = createWorld();
    const body = JSON.stringify({ error: 'rate limit exceeded', code: 'rate_limited', request_id: 'r-1' });
    const headers = { 'content-type': 'application/json', 'retry-after': '7', 'x-request-id': 'r-1' };
    world.plan(/GET/, { status: 429, headers, body }, { status: 429, headers, body });
    const error = await errorOf(world, world.clientOf({ maxTries: 2 }).approvals.list());
    expect(departures(world)).toEqual([0, 7000]);
    expect(error).toMatchObject({ status: 429, code: 'rate_limited', retryAfterMs: 7000, requestId: 'r-1' });
    // Who is told to wait knows that nothing was done.
    expect(error.repeated).toBe(false);
  });

  it('is not tried again when the answer is clear', async () => {
    const world = createWorld();
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect(await errorOf(world, world.clientOf().instances.get(unknown))).toMatchObject({ status: 404 });
    expect(world.requests).toEqual([`GET /instances/${unknown}`]);
  });

  it('has one effect when its answer was lost: a publish', async () => {
    const { world, client } = await claimedWorld();
    world.plan(/POST \/sequences$/, 'answer lost');
    const published = await world.awaitOn(client.sequences.publish(parcel));
    expect(published).toEqual({ id: expect.any(String), version: 2 });
    expect(await client.sequences.versions({ name: 'parcel' })).toHaveLength(2);
  });

  it('has one effect when its answer was lost: a signal', async () => {
    const { world, client, id } = await claimedWorld();
    world.plan(/signals$/, 'answer lost');
    await world.awaitOn(client.instances.signal(id, { type: 'seen' }));
    const bodies = world.sent.flatMap(({ body }) => (typeof body === 'string' ? [body] : []));
    const signals = bodies.filter((body) => body.includes('seen'));
    expect(signals).toHaveLength(2);
    expect(signals[1]).toBe(signals[0]);
  });

  it('has one effect when its answer was lost: a start with a key', async () => {
    const { world, client } = await claimedWorld();
    world.plan(/POST \/instances$/, 'answer lost');
    const start = { sequence_name: 'parcel', idempotency_key: 'k' };
    expect(await world.awaitOn(client.instances.start(start))).toMatchObject({ deduplicated: true });
    expect((await client.instances.list()).items).toHaveLength(2);
  });

  it('has one effect when its answer was lost: a heartbeat, with a checkpoint and without', async () => {
    const { world, client, task } = await claimedWorld();
    world.plan(/heartbeat$/, 'answer lost', 'request lost');
    const checkpoint = { checkpoint: { row: 1 }, checkpoint_seq: 0 };
    const beat = await world.awaitOn(client.tasks.heartbeat(task, checkpoint));
    expect(beat).toEqual({ ok: true, checkpoint_seq: 1, cancelled: false });
    world.plan(/heartbeat$/, 'answer lost');
    expect(await world.awaitOn(client.tasks.heartbeat(task))).toEqual(beat);
  });

  it('has one effect when its answer was lost: a report', async () => {
    const { world, client, id, task } = await claimedWorld();
    world.plan(/complete$/, 'answer lost');
    expect(await world.awaitOn(client.tasks.complete(task, { kg: 3 }))).toBeUndefined();
    const events = (await client.tasks.attempts(task.id)).map(({ event }) => event);
    expect(events).toEqual(['claimed', 'completed', 'stale_mutation_rejected']);
    expect(await client.instances.get(id)).toMatchObject({ state: 'completed' });
  });

  it('has one effect when its answer was lost: a deletion', async () => {
    const { world, client } = await claimedWorld();
    await client.triggers.create({ slug: 's', sequence_name: 'parcel' });
    const { id } = await client.sequences.publish({ ...parcel, name: 'other' });
    world.plan(/DELETE/, 'answer lost', 'request lost');
    expect(await world.awaitOn(client.triggers.delete('s'))).toBeUndefined();
    world.plan(/DELETE/, 'answer lost');
    expect(await world.awaitOn(client.sequences.delete(id))).toBeUndefined();
    expect(await client.triggers.list()).toEqual([]);
  });

  it('stays refused when another call was faster', async () => {
    const { world, client, task } = await claimedWorld();
    const stale = { checkpoint: 1, checkpoint_seq: 9 };
    expect(await errorOf(world, client.tasks.heartbeat(task, stale))).toMatchObject({
      status: 409,
      code: 'stale_checkpoint',
    });
    await client.tasks.complete(task, {});
    expect(await errorOf(world, client.tasks.complete(task, {}))).toMatchObject({
      status: 409,
      code: 'stale_claim',
      repeated: false,
    });
    const draft = { ...parcel, version: 1 };
    world.plan(/POST \/sequences$/, 'request lost');
    expect(await errorOf(world, client.sequences.publish(draft))).toMatchObject({
      status: 409,
      repeated: true,
    });
  });
});

describe('a call that changes something', () => {
  it.each([
    ['a start without key of its own', /POST \/instances$/],
    ['a firing', /fire/],
    ['a retry', /retry/],
    ['a patch', /PATCH/],
  ])('has one effect under the key that the client makes for it: %s (RULINGS B13)', async (name, pattern) => {
    const { world, client, id } = await claimedWorld();
    await client.triggers.create({ slug: 's', sequence_name: 'parcel' });
    world.plan(pattern, 'answer lost', 'request lost');
    const calls: Record<string, () => Promise<unknown>> = {
      'a start without key of its own': () => client.instances.start({ sequence_name: 'parcel' }),
      'a firing': () => client.triggers.fire('s'),
      'a retry': () => client.instances.retry(id),
      'a patch': () => client.instances.patchContext(id, { data: { a: 1 } }),
    };
    const isRefused = name === 'a retry';
    const before = (await client.instances.list()).items.length;
    const outcome = await world.awaitOn(
      (calls[name]?.() ?? Promise.resolve()).then(
        () => 'done',
        (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
      ),
    );
    expect(outcome).toBe(isRefused ? 'illegal_transition' : 'done');
    expect(world.requests.filter((request) => pattern.test(request))).toHaveLength(3);
    const keys = world.sent.map(({ headers }) => new Headers(headers).get('idempotency-key'));
    expect(new Set(keys.filter((key) => key !== null)).size).toBe(2);
    const isStart = pattern.source.includes('instances$') || name === 'a firing';
    expect((await client.instances.list()).items.length - before).toBe(isStart ? 1 : 0);
  });

  it('may be named by its caller, so that another process may repeat it', async () => {
    const { client } = await claimedWorld();
    const start = () => client.instances.start({ sequence_name: 'parcel' }, { idempotencyKey: 'order "17"' });
    expect(await start()).toEqual(await start());
    const other = client.instances.start(
      { sequence_name: 'parcel', priority: 'High' },
      { idempotencyKey: 'order "17"' },
    );
    await expect(other).rejects.toMatchObject({ status: 422, code: 'idempotency_key_reused' });
  });

  it('waits while an earlier try of it is still being carried out', async () => {
    const { world, client } = await claimedWorld();
    const body = JSON.stringify({
      error: 'conflict: busy',
      code: 'idempotency_key_in_use',
      request_id: 'r-1',
    });
    const headers = { 'content-type': 'application/json', 'retry-after': '1' };
    world.plan(/POST \/instances$/, 'request lost', { status: 409, headers, body });
    expect(await world.awaitOn(client.instances.start({ sequence_name: 'parcel' }))).toMatchObject({
      deduplicated: false,
    });
  });
});

describe('a call that may not be repeated', () => {
  it('is sent once: a poll', async () => {
    const { world, client } = await claimedWorld();
    world.plan(/poll/, 'answer lost', 'answer lost');
    const error = await errorOf(world, client.tasks.poll(TASK));
    expect(error).toMatchObject({ status: 0, code: 'no_answer', repeated: false });
    expect(world.requests.filter((request) => /poll/.test(request))).toHaveLength(1);
  });
});

describe('a request of the client', () => {
  it('names the tenant in UTF-8 and the key, and keeps a path of the address', async () => {
    const world = createWorld();
    const url = 'http://127.0.0.1:8080/behind/proxy/';
    await world.clientOf({ url, tenant: 'Köln', apiKey: 'k-1', fetch: answerTo(world) }).triggers.list();
    expect(world.sent[0]?.headers).toMatchObject({ 'x-tenant-id': 'KÃ¶ln', 'x-api-key': 'k-1' });
    await world.clientOf({ tenant: null, fetch: answerTo(world) }).triggers.get('a/b c');
    expect(world.sent[1]?.headers).not.toHaveProperty('x-tenant-id');
    expect(world.requests).toEqual([
      'http://127.0.0.1:8080/behind/proxy/api/v1/triggers',
      'http://127.0.0.1:8080/api/v1/triggers/a%2Fb%20c',
    ]);
  });

  it.each(['127.0.0.1:8080', 'ftp://a', 'http://'])('needs an address: %s', (url) => {
    expect(() => createWorld().clientOf({ url })).toThrow(TypeError);
  });

  it.each([
    ['text', { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>hello</p>' }],
    ['broken JSON', { status: 200, headers: { 'content-type': 'application/json' }, body: '{' }],
    ['an error of a proxy', { status: 404, body: 'no such host' }],
    ['a redirect', { status: 302, headers: { location: 'http://elsewhere.example/' } }],
  ])('is refused when the answer is not one of Stepwell: %s', async (_, fault) => {
    const world = createWorld();
    world.plan(/GET/, fault);
    const error = await errorOf(world, world.clientOf().triggers.list());
    expect(error).toMatchObject({ status: fault.status, code: 'unexpected_answer' });
    expect(world.sent[0]?.redirect).toBe('manual');
  });
});

/** Notes whole addresses, and answers with an empty list. */
function answerTo(world: SdkWorld) {
  return (url: string, init: RequestInit) => {
    world.requests.push(url);
    world.sent.push(init);
    return Promise.resolve(Response.json([]));
  };
}
