import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { neonConfig } from '@neondatabase/serverless';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { encodeHintMessage } from '../../../src/core/hint-message.ts';
import { endLeases } from '../../deploy/support/run-faults.ts';
import { tellFigures } from '../../support/figures.ts';
import { MIGRATED } from '../../postgres/store-database.ts';
import { type NeonLocal, startNeonLocal } from '../../support/neon-local.ts';
import { createTestDatabase } from '../../support/postgres-database.ts';
import { nextId } from '../../support/turn-builder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { type CloudflareProject, deployDryRun } from '../support/cloudflare-project.ts';
import { type RunningWorker, startWorker, type WorkerSetup } from '../support/cloudflare-worker.ts';
import { startGithubExample } from '../support/github-example.ts';

/** What the answers of the database wait for, in turn: later ones overtake earlier ones. */
const LATENCIES_MS = [3, 11, 5, 2, 8];
/** Calls of the desk: after one the database sleeps, during another the runtime is killed, after a third answers are lost. */
const SLEEPING_CALL = 1;
const KILLING_CALL = 3;
const FORGETTING_CALL = 8;
/** Calls during which another message for the same run comes, while the run is held. */
const DOUBLING_CALLS: ReadonlySet<number> = new Set([2, 5, 8, 11, 14]);

let neon: NeonLocal;
let databaseUrl: string;
let project: CloudflareProject;
let worker: RunningWorker;
let close = (): Promise<void> => Promise.resolve();

beforeAll(async () => {
  neon = await startNeonLocal();
  neon.setLatency(...LATENCIES_MS);
  databaseUrl = (await createTestDatabase()).url;
  project = await deployDryRun(databaseUrl);
});
afterEach(() => close());
afterAll(async () => {
  project.remove();
  await neon.close();
});

async function start(setup: Partial<WorkerSetup> = {}): Promise<void> {
  worker = await startWorker({
    project,
    databaseUrl,
    neonEndpoint: String(neonConfig.fetchEndpoint),
    ...setup,
    variables: { STEPWELL_INSECURE: '1', ...setup.variables },
  });
  close = () => worker.close();
}

/** Publishes these blocks and starts them; answers the id of the instance. */
async function run(...blocks: readonly object[]): Promise<string> {
  const id = nextId();
  const named = { tenant_id: 'default', namespace: 'default' };
  const head = { id, ...named, name: `s-${id}`, version: 1, created_at: '2027-02-11T07:45:00Z' };
  await worker.call('POST', '/api/v1/sequences', { ...head, blocks });
  return (await worker.call('POST', '/api/v1/instances', { ...named, sequence_id: id })).body.id;
}

/** Kills the runtime; the leases that it held end, as if their time had come. */
const killRuntime = (onKilled: () => void): Promise<void> =>
  worker.kill(() => {
    onKilled();
    return endLeases(databaseUrl);
  });

const read = async (id: string) => (await worker.call('GET', `/api/v1/instances/${id}`)).body;
const hasEnded = (id: string, state: string): Promise<unknown> =>
  waitUntil(`${id} is ${state}`, async () => (await read(id)).state === state);
const hint = (instanceId: string): string => encodeHintMessage({ tenantId: 'default', instanceId }) ?? '';

describe('the deployed Worker in workerd', () => {
  it('is migrated by its build command before it is bundled', () => {
    expect(project.output).toMatch(/Applied 0001_tables[\s\S]*is ready[\s\S]*Total Upload/);
    const gzipped = gzipSync(project.bundle).length;
    tellFigures('worker', {
      of: 'the template, as wrangler uploads it',
      bytes: project.bundle.length,
      gzipped,
    });
  });

  it('runs the GitHub example with messages lost, doubled, late and poisonous, a runtime that is killed, and a database that sleeps and loses answers', async () => {
    const killings: Promise<void>[] = [];
    let doubled = 0;
    const example = await startGithubExample(20270301, 8, async (callNo, instanceId) => {
      if (callNo === SLEEPING_CALL) neon.refuse(3, 503);
      if (callNo === KILLING_CALL) killings.push(killRuntime(example.hangUp));
      if (callNo === FORGETTING_CALL) neon.loseAnswers(2);
      if (!DOUBLING_CALLS.has(callNo)) return;
      doubled += 1;
      // One that comes to a runtime that is being killed is lost with it.
      await worker.deliver('stepwell-turns', [hint(instanceId)]).catch(() => undefined);
    });
    await start({
      postman: 'unreliable',
      hosts: { 'desk.example.com': example.deskUrl },
      variables: { STEPWELL_BREAKER_FAILURE_THRESHOLD: '1000', STEPWELL_MAX_STEPS_PER_INVOCATION: '2' },
    });
    await worker.send('poison');
    // What was lost or killed would be found by the guard of its invocation; an earlier wake does not wait for that.
    const findings = await example.play(worker.url, async () => {
      await worker.waker('wake?ms=200').catch(() => undefined);
    });
    await Promise.all(killings);
    example.close();
    expect(findings).toMatchObject({ violations: [], completedCount: 8 });
    const fates = await worker.fates();
    const poison = worker.log.filter((line) => line.includes('a queue message is no hint')).length;
    tellFigures('faults', { host: 'workerd', ...fates, poison, killed: killings.length, doubled });
    expect(killings).toHaveLength(1);
    expect(poison).toBeGreaterThan(0);
    expect(Math.min(...Object.values(fates), doubled)).toBeGreaterThan(0);
  }, 240_000);

  it('gives up a poisonous message after its tries, and the dead-letter queue drops it', async () => {
    await start({ postman: 'unreliable' });
    await worker.send('nonsense');
    const id = await run({ type: 'step', id: 'a', handler: 'noop' });
    const refusals = () => worker.log.filter((line) => line.includes('a queue message is no hint')).length;
    await waitUntil('the message came to the dead-letter queue', () => refusals() === worker.turnTries + 1);
    await worker.waker('wake?ms=0');
    await hasEnded(id, 'completed');
    expect(refusals()).toBe(worker.turnTries + 1);
  });

  it('publishes its sequences once, however many isolates come', async () => {
    const versions = async () => {
      const query = 'tenant_id=default&namespace=default&name=github-webhook';
      return (await worker.call('GET', `/api/v1/sequences/versions?${query}`)).body.length;
    };
    await start();
    expect(await versions()).toBe(1);
    await worker.close();
    await start();
    expect(await versions()).toBe(1);
  });

  it('has its sequences for the first request, although that finds a database that wakes up', async () => {
    await start({ databaseUrl: (await createTestDatabase(MIGRATED)).url, postman: 'idle' });
    neon.refuse(3, 503);
    const body = { sequence_name: 'github-webhook', tenant_id: 'default', namespace: 'default' };
    expect(await worker.call('POST', '/api/v1/instances', body)).toMatchObject({ status: 201 });
  });

  it('finds what the queue lost by its cron trigger, and wakes for a timer by the alarm', async () => {
    await start({ postman: 'idle' });
    const id = await run(
      { type: 'step', id: 'a', handler: 'noop' },
      { type: 'step', id: 'b', handler: 'noop', delay: { duration: 2_000 } },
    );
    expect(await read(id)).toMatchObject({ state: 'scheduled' });
    await worker.cron();
    const { next_fire_at: dueAt } = await read(id);
    expect(Number(await worker.waker('next'))).toBeLessThan(Date.parse(dueAt) + 1_000);
    await hasEnded(id, 'completed');
  });

  it('asks one question and keeps no wake when its cron trigger finds nothing to do', async () => {
    await start({ databaseUrl: (await createTestDatabase(MIGRATED)).url, postman: 'idle' });
    await worker.cron();
    const before = neon.statementCount();
    await worker.cron();
    expect(neon.statementCount() - before).toBe(1);
    expect(await worker.waker('next')).toBe('none');
  });

  it('keeps a wake before it stores what may fall due, and reading keeps none', async () => {
    await start({ postman: 'idle' });
    await worker.call('GET', '/api/v1/instances');
    expect(await worker.waker('next')).toBe('none');
    const earliest = Date.now() + 60_000;
    await run({ type: 'step', id: 'a', handler: 'noop' });
    expect(Number(await worker.waker('next'))).toBeGreaterThan(earliest);
  });
});

describe('the queue consumer in workerd', () => {
  it('gives one outcome per message: what is no hint fails alone', async () => {
    await start({ postman: 'idle' });
    const id = await run({ type: 'step', id: 'a', handler: 'noop' });
    const again = await worker.deliver('stepwell-turns', ['nonsense', hint(id), hint(nextId()), hint(id)]);
    expect(again).toEqual(['m0']);
    expect(await read(id)).toMatchObject({ state: 'completed' });
  });

  it('follows a dead letter once more and drops what is no hint', async () => {
    await start({ postman: 'idle' });
    const id = await run({ type: 'step', id: 'a', handler: 'noop' });
    expect(await worker.deliver('stepwell-dead-letters', ['nonsense', hint(id)])).toEqual([]);
    expect(await read(id)).toMatchObject({ state: 'completed' });
  });

  it('waits for a database that wakes up, and finds out what became of a commit whose answer was lost', async () => {
    await start({ postman: 'idle' });
    const step = { type: 'step', handler: 'http_request', params: { url: 'https://nobody.example.com/' } };
    const id = await run({
      ...step,
      id: 'a',
      retry: { max_attempts: 3, initial_backoff: 1, max_backoff: 1 },
    });
    neon.refuse(3, 503);
    neon.loseAnswers(3);
    expect(await worker.deliver('stepwell-turns', [hint(id)])).toEqual([]);
    await hasEnded(id, 'failed');
    const { body } = await worker.call('GET', `/api/v1/instances/${id}/outputs?include=markers`);
    // Three tries, each once: nothing of the database cost one.
    expect(body.map(({ attempt }: { readonly attempt: number }) => attempt)).toEqual([0, 1, 2]);
  });

  it('lets messages come again when the database cannot be reached', async () => {
    await start({ neonEndpoint: 'http://127.0.0.1:1/sql' });
    expect(await worker.deliver('stepwell-turns', [hint(nextId())])).toEqual(['m0']);
  });
});

describe('requests to the Worker', () => {
  it('need the key', async () => {
    await start({ variables: { STEPWELL_INSECURE: '0', STEPWELL_API_KEY: 'k'.repeat(40) } });
    expect((await worker.call('GET', '/api/v1/instances')).status).toBe(401);
    const withKey = { authorization: `Bearer ${'k'.repeat(40)}` };
    expect((await worker.call('GET', '/api/v1/instances', undefined, withKey)).status).toBe(200);
    expect((await worker.call('GET', '/health/ready')).body).toEqual({ status: 'ready' });
  });
});

describe('requests from the Worker', () => {
  let outside: Server;
  let hosts: Record<string, string>;

  beforeAll(async () => {
    outside = createServer((request, response) => {
      if (request.url === '/inward')
        response.writeHead(302, { location: 'http://169.254.169.254/secret' }).end();
      else response.writeHead(200, { 'content-type': 'application/json' }).end('{"fine":true}');
    });
    outside.listen(0, '127.0.0.1');
    await once(outside, 'listening');
    const origin = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`;
    hosts = { 'fine.example.com': origin, '169.254.169.254': origin, 'db.internal': origin };
  });
  afterAll(() => outside.close());

  it('reach public hosts, and are refused elsewhere on every hop (RULINGS B16) [NET-2]', async () => {
    await start({ hosts });
    const call = (url: string) => run({ type: 'step', id: 'call', handler: 'http_request', params: { url } });
    const fine = await call('https://fine.example.com/');
    const refused = await Promise.all([
      call('http://169.254.169.254/'),
      call('http://db.internal/'),
      call('https://fine.example.com/inward'),
    ]);
    await hasEnded(fine, 'completed');
    const { body } = await worker.call('GET', `/api/v1/instances/${fine}/outputs`);
    expect(body).toMatchObject([{ output: { status: 200, body: '{"fine":true}' } }]);
    for (const id of refused) {
      await hasEnded(id, 'failed');
      const { body: outputs } = await worker.call('GET', `/api/v1/instances/${id}/outputs`);
      expect(JSON.stringify(outputs)).toContain('blocked');
    }
  });

  it('cost one request to the database per step, and always the same around them', async () => {
    await start({ hosts, postman: 'idle' });
    const params = { url: 'https://fine.example.com/' };
    const requestsFor = async (count: number): Promise<number> => {
      const steps = Array.from({ length: count }, (_, n) => ({ type: 'step', id: `s${n}` }));
      const id = await run(...steps.map((step) => ({ ...step, handler: 'http_request', params })));
      const before = neon.requestCount();
      await worker.deliver('stepwell-turns', [hint(id)]);
      return neon.requestCount() - before;
    };
    await requestsFor(1);
    const few = await requestsFor(5);
    // A sign of life may be due in between.
    expect((await requestsFor(25)) - few).toBeLessThanOrEqual(21);
    // The claim and the sequence.
    expect(few).toBeLessThanOrEqual(5 + 3);
  });
});
