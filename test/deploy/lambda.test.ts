import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { neonConfig } from '@neondatabase/serverless';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startGithubExample } from '../functions/support/github-example.ts';
import { tellFigures } from '../support/figures.ts';
import { type NeonLocal, startNeonLocal } from '../support/neon-local.ts';
import { createTestDatabase } from '../support/postgres-database.ts';
import { type SqsServer, startSqsServer } from '../support/sqs-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { callerOf, OWNER } from './support/caller.ts';
import {
  type AwsProject,
  bundleProject,
  type Installation,
  install,
  requestEvent,
} from './support/installation.ts';
import { createPostman } from './support/postman.ts';
import { endLeases, messageFor } from './support/run-faults.ts';
import { type Scheduler, startScheduler } from './support/scheduler.ts';
import { testedNodes } from './support/tools.ts';

let sqs: SqsServer;
let neon: NeonLocal;
let scheduler: Scheduler;
let project: AwsProject;
let app: Installation;
let databaseUrl: string;
let closeApp = (): Promise<void> => Promise.resolve();

/** What the answers of the database wait for, in turn: later ones overtake earlier ones. */
const LATENCIES_MS = [3, 11, 5, 2, 8];

beforeAll(async () => {
  sqs = await startSqsServer();
  neon = await startNeonLocal();
  neon.setLatency(...LATENCIES_MS);
  scheduler = await startScheduler();
  project = await bundleProject();
});
afterEach(() => closeApp());
afterAll(async () => {
  project.remove();
  scheduler.close();
  await neon.close();
  await sqs.stop();
});

/** Two batches and their doubles, and what comes while all of them are at work. */
const FUNCTIONS_MAX = 6;

/** Everything as a deployment leaves it: migrated, functions there, sequences published. */
async function deploy(program: string, environment: Readonly<Record<string, string>> = {}): Promise<void> {
  databaseUrl = (await createTestDatabase()).url;
  app = await install({
    project,
    sqs,
    databaseUrl,
    program,
    concurrency: FUNCTIONS_MAX,
    environment: {
      AWS_ENDPOINT_URL_SQS: process.env['AWS_ENDPOINT_URL_SQS'] ?? '',
      AWS_ENDPOINT_URL_SCHEDULER: scheduler.endpoint,
      TEST_NEON_ENDPOINT: String(neonConfig.fetchEndpoint),
      STEPWELL_ALLOW_INTERNAL_URLS: '1',
      STEPWELL_BREAKER_FAILURE_THRESHOLD: '1000',
      ...environment,
    },
  });
  closeApp = async () => {
    closeApp = () => Promise.resolve();
    await app.close();
  };
  const { Deploy } = app.functions;
  expect(await Deploy.invoke({ action: 'migrate' })).toMatchObject({
    migrations: expect.arrayContaining(['0001_tables']),
  });
  expect(await Deploy.invoke({ action: 'publish' })).toMatchObject({
    sequences: [{ name: 'github-webhook', outcome: 'published', version: 1 }],
  });
}

const { call, publish, start, state } = callerOf(() => app.url);

/** Calls of the desk during which every function that is at work is killed, and one after which commits lose their answers. */
const KILLING_CALLS: ReadonlySet<number> = new Set([3, 9]);
const FORGETTING_CALL = 6;
/** Calls during which another message for the same run comes, while the run is held. */
const DOUBLING_CALLS: ReadonlySet<number> = new Set([2, 5, 8, 11, 14]);
const POISON = ['poison', '{"v":9}'].toSorted();

describe.each(testedNodes())(
  'the bundled functions under the runtime client of AWS, on Node $version',
  ({ version, program }) => {
    it('play the example through lost, doubled, late and poisonous messages, killed functions and a database that sleeps and loses answers', async () => {
      let killed = 0;
      let doubled = 0;
      const example = await startGithubExample(11, 8, async (callNo, instanceId) => {
        const { Turn, Sweep, Api } = app.functions;
        if (KILLING_CALLS.has(callNo)) for (const each of [Turn, Sweep, Api]) killed += each.killBusy();
        if (callNo === FORGETTING_CALL) neon.loseAnswers(2);
        if (!DOUBLING_CALLS.has(callNo)) return;
        doubled += 1;
        await Turn.invoke(messageFor(instanceId)).catch(() => undefined);
      });
      await deploy(program, { DESK_URL: example.deskUrl, STEPWELL_MAX_STEPS_PER_INVOCATION: '2' });
      const { Turn } = app.functions;
      const postman = createPostman((event) => Turn.invoke(event));
      const turns = app.sourceOf('turns', postman.bring);
      for (const body of POISON) await app.turns.send(body);
      neon.refuse(3, 503);
      // What was lost or killed is found by the wakes that were kept before anything was written.
      const findings = await example.play(app.url, async () => {
        await Promise.all([turns.poll(), turns.poll()]);
        await postman.bringLate();
        await turns.endVisibility();
        // No turn is under way: a lease that is held belongs to a process that was killed.
        await endLeases(databaseUrl);
        // A wake that breaks off is not repeated.
        await scheduler.fireEarly((schedule) => {
          const wake = app.wakeOf(schedule);
          return wake().catch(() => undefined);
        });
      });
      example.close();
      expect(findings).toMatchObject({ violations: [], completedCount: 8 });
      tellFigures('faults', {
        host: `Lambda, Node ${version}`,
        ...postman.fates,
        killed,
        doubled,
      });
      expect(Math.min(...Object.values(postman.fates), killed, doubled)).toBeGreaterThan(0);
      await turns.drain();
      expect(
        app.deadLetters
          .look()
          .ready.map(({ body }) => body)
          .toSorted(),
      ).toEqual(POISON);
      await app.sourceOf('deadLetters').drain();
      expect(app.deadLetters.look()).toEqual({ ready: [], delayed: [], inFlight: [] });
    }, 240_000);

    it('migrate and publish again what was deployed before, and nothing changes; migrations go over a WebSocket where there is one', async () => {
      const frames = neon.frameCount();
      await deploy(program);
      expect(neon.frameCount() > frames).toBe(Number(version) >= 22);
      const again = await app.functions.Deploy.invoke({ action: 'publish' });
      expect(again).toMatchObject({ sequences: [{ outcome: 'known' }] });
      expect(await app.functions.Deploy.invoke({ action: 'migrate' })).toMatchObject({ migrations: [] });
    });

    it('give a poisonous message up after five receives, say so, and go on', async () => {
      await deploy(program);
      const { Turn, DeadLetter } = app.functions;
      const id = await start({ type: 'step', id: 'a', handler: 'noop' });
      await app.turns.send('{"secret":"poison"}');
      await app.sourceOf('turns').drain();
      expect(await state(id)).toBe('completed');
      expect(app.deadLetters.look().ready).toMatchObject([{ body: '{"secret":"poison"}' }]);
      expect(Turn.log.filter((line) => line.includes('a queue message is no hint'))).toHaveLength(5);
      await app.sourceOf('deadLetters').drain();
      expect(app.deadLetters.look()).toEqual({ ready: [], delayed: [], inFlight: [] });
      expect(DeadLetter.log.join('\n')).toContain('a message came to the dead-letter queue');
      expect([...Turn.log, ...DeadLetter.log].join('\n')).not.toContain('secret');
    });

    it('run what there was never room for', async () => {
      await deploy(program);
      const id = await start({ type: 'step', id: 'a', handler: 'noop' });
      const turns = app.sourceOf('turns');
      turns.throttle(5);
      await turns.drain();
      expect(app.deadLetters.look().ready).toHaveLength(1);
      await app.sourceOf('deadLetters').drain();
      expect(await state(id)).toBe('completed');
    });

    it('take over what a killed function held, under the same key', async () => {
      await deploy(program);
      const { Turn, Sweep } = app.functions;
      const keys: string[] = [];
      const service = createServer((request, response) => {
        keys.push(String(request.headers['idempotency-key']));
        if (keys.length === 1) Turn.killBusy();
        else response.end('{}');
      });
      service.listen(0, '127.0.0.1');
      await once(service, 'listening');
      const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/`;
      const id = await start(
        { type: 'step', id: 'before', handler: 'noop' },
        { type: 'step', id: 'call', handler: 'http_request', params: { url, method: 'POST', json: {} } },
      );
      const turns = app.sourceOf('turns');
      await turns.drain();
      expect(keys).toHaveLength(1);
      // The message came back while the lease of the dead function was still valid, so it was done with.
      expect(await state(id)).toBe('running');
      await endLeases(databaseUrl);
      await Sweep.invoke({});
      await waitUntil('the run has ended', async () => (await state(id)) === 'completed');
      service.closeAllConnections();
      service.close();
      expect(new Set(keys).size).toBe(1);
      expect(keys).toHaveLength(2);
    });

    it('stream what becomes of a run, and everything else as well', async () => {
      await deploy(program);
      const { Stream } = app.functions;
      const id = await start({ type: 'step', id: 'a', handler: 'noop' });
      await app.sourceOf('turns').drain();
      const ask = (path: string) => Stream.invoke(requestEvent('GET', `/api/v1${path}`));
      expect(await ask(`/instances/${id}/stream`)).toMatchObject({
        statusCode: 200,
        headers: { 'content-type': expect.stringContaining('text/event-stream') },
        body: expect.stringMatching(/^id: [\s\S]*completed/m),
      });
      expect(await ask(`/instances/${id}`)).toMatchObject({ body: expect.stringContaining(id) });
      const whole = await fetch(`${app.url}/api/v1/instances/${id}/stream`);
      expect(await whole.json()).toMatchObject({ code: 'too_many_streams' });
      const { length } = Stream.log;
      const refused = { TRACE: 405, CONNECT: 405, HEAD: 200, GET: 200 };
      for (const [method, statusCode] of Object.entries(refused)) {
        const event = requestEvent(method, `/api/v1/instances/${id}/stream`, {}, 'a body');
        expect(await Stream.invoke(event)).toMatchObject({ statusCode });
      }
      const stranger = requestEvent('TRACE', '/api/v1/instances', { 'x-api-key': 'wrong' });
      expect(await Stream.invoke(stranger)).toMatchObject({
        statusCode: 401,
        body: expect.stringContaining('"code":"unauthorized"'),
      });
      expect(Stream.log.slice(length).filter((line) => line.includes('ERROR'))).toEqual([]);
    });

    it('end a page early that does not fit through Lambda, and stream it', async () => {
      await deploy(program);
      const id = await publish({ type: 'step', id: 'a', handler: 'noop' });
      const large = { ...OWNER, sequence_id: id, context: { data: { text: '"'.repeat(120_000) } } };
      for (let batch = 0; batch < 2; batch += 1) {
        const instances = Array.from({ length: 10 }, () => large);
        expect((await call('POST', '/instances/batch', { instances })).status).toBe(201);
      }
      const path = '/instances?limit=100';
      const page = await call('GET', path);
      expect([page.status, typeof page.body.next_cursor]).toEqual([200, 'string']);
      expect(page.body.items.length).toBeLessThan(20);
      expect((await call('GET', '/instances?limit=5')).body.items).toHaveLength(5);
      const streamed = await app.functions.Stream.invoke(requestEvent('GET', `/api/v1${path}`));
      expect(streamed).toMatchObject({ statusCode: 200, body: expect.stringContaining(id) });
    });

    it('leave nothing undone behind an answer: the process is frozen then, and what it has to tell is in the queue', async () => {
      await deploy(program);
      for (let run = 0; run < 3; run += 1) {
        const id = await start({ type: 'step', id: 'a', handler: 'noop' });
        expect(app.turns.look().ready).toHaveLength(1);
        await app.sourceOf('turns').drain();
        expect(await state(id)).toBe('completed');
      }
    });

    it('keep a wake for each minute in which something is due, and for what they might leave behind', async () => {
      await deploy(program);
      const beginsAt = Date.now();
      const id = await start({
        type: 'step',
        id: 'a',
        handler: 'noop',
        delay: { duration: 40 * 24 * 3_600_000 },
      });
      await app.sourceOf('turns').drain();
      await scheduler.fireAll((schedule) => app.wakeOf(schedule)());
      const ahead = [...scheduler.schedules].map(([name, { ScheduleExpression }]) => {
        const at = /^at\((.+)\)$/.exec(ScheduleExpression)?.[1] ?? '';
        expect(name).toBe(`wake-${at.replaceAll(/\D/g, '').slice(0, 12)}`);
        return Date.parse(`${at}Z`) - beginsAt;
      });
      const days = ahead.map((ms) => Math.round(ms / (24 * 3_600_000)));
      expect(days.filter((count) => count === 40)).toHaveLength(1);
      expect(await state(id)).toBe('scheduled');
    });
  },
);
