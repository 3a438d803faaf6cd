import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Miniflare, type Request as WorkerRequest, Response as WorkerResponse } from 'miniflare';
import { unstable_getMiniflareWorkerOptions as optionsOf } from 'wrangler';
import * as z from 'zod';
import type { CloudflareProject } from './cloudflare-project.ts';
import { createRuntimeLives, type RuntimeLives } from './runtime-lives.ts';

export interface WorkerSetup {
  readonly project: Pick<CloudflareProject, 'bundle' | 'configPath'>;
  /** A database of the stand-in of Neon, and where that listens. */
  readonly databaseUrl: string;
  readonly neonEndpoint: string;
  /** Where requests to other hosts than Neon's end, by host name; the others fail. */
  readonly hosts?: Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, string>>;
  /** When this version of the Worker was uploaded, epoch ms. Default: at its start. */
  readonly uploadedAt?: number;
  /**
   * Who stands between the queue's producer and its consumer: `unreliable` loses, doubles and delays messages, `idle` loses
   * them all. Default: nobody.
   */
  readonly postman?: 'unreliable' | 'idle';
}

/** The deployed Worker in the real runtime, with its queues, its cron trigger and its Durable Object. */
export interface RunningWorker {
  readonly url: string;
  readonly call: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
  readonly cron: () => Promise<unknown>;
  /** Hands messages to the consumer of a queue; answers which of them are to come again. */
  readonly deliver: (queue: string, bodies: readonly string[]) => Promise<readonly string[]>;
  /** What any other invocation may ask of the waker. */
  readonly waker: (path: string) => Promise<string>;
  /** What the postman did to how many messages. */
  readonly fates: () => Promise<Record<string, number>>;
  /** Puts a message into the queue of turns that the Worker did not send; needs an unreliable postman. */
  readonly send: (body: string) => Promise<void>;
  /** How often the consumer of the queue of turns is given a message, by its configuration, before it is a dead letter. */
  readonly turnTries: number;
  /**
   * Ends the runtime without a word, with everything that is under way, and starts it again where it was. What is done in between
   * finds the database as the dead one has left it: all leases are its own.
   */
  readonly kill: (between: () => Promise<void>) => Promise<void>;
  /** What the Worker has logged. */
  readonly log: readonly string[];
  readonly close: () => Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly body: ReturnType<typeof JSON.parse>;
}

/** As Neon writes it; the Worker knows no other database. The password says which runtime asks. */
const neonUrl = (password: string): string =>
  `postgres://app:${password}@ep-still-lake-123456.eu-central-1.aws.neon.tech/stepwell`;
const MAIN = 'stepwell';

export async function startWorker(setup: WorkerSetup): Promise<RunningWorker> {
  const log: string[] = [];
  const lives = createRuntimeLives();
  const options = () => ({
    workers: workersOf(setup, lives),
    cf: false as const,
    // Any port, and the same after a restart.
    port: 0,
    handleRuntimeStdio: (stdout: Readable, stderr: Readable) => {
      createInterface(stdout).on('line', (line) => log.push(line));
      createInterface(stderr).on('line', (line) => log.push(line));
    },
  });
  const mf = new Miniflare(options());
  const url = (await mf.ready).origin;
  return {
    url,
    async call(method, path, body, headers = {}) {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: { 'x-tenant-id': 'default', 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
    },
    cron: async () => (await mf.getWorker(MAIN)).scheduled({ cron: '17 */6 * * *' }),
    async deliver(queue, bodies) {
      const worker = await mf.getWorker(MAIN);
      const sent = bodies.map((body, index) => ({
        id: `m${index}`,
        timestamp: new Date(0),
        attempts: 1,
        body,
      }));
      const { retryMessages } = await worker.queue(queue, sent);
      return retryMessages.map(({ msgId }) => msgId);
    },
    async waker(path) {
      const namespace = await mf.getDurableObjectNamespace('STEPWELL_WAKER', MAIN);
      const stub = namespace.get(namespace.idFromName('waker'));
      return (await stub.fetch(`https://waker/${path}`, { method: 'POST' })).text();
    },
    async fates() {
      const answer = await (await mf.getWorker('postman')).fetch('https://postman/');
      return JSON.parse(await answer.text());
    },
    async send(body) {
      const queue = await mf.getQueueProducer<string>('TURNS', 'postman');
      await queue.send(body, { contentType: 'text' });
    },
    turnTries: turnTriesOf(setup.project.configPath),
    kill: (between) => lives.change(() => mf.setOptions(options()), between),
    log,
    close: () => mf.dispose(),
  };
}

type Workers = Extract<ConstructorParameters<typeof Miniflare>[0], { readonly workers: unknown }>['workers'];

function workersOf(
  { project, variables, postman, uploadedAt, ...setup }: WorkerSetup,
  lives: RuntimeLives,
): Workers {
  const { workerOptions } = optionsOf(project.configPath);
  const main = {
    ...workerOptions,
    name: MAIN,
    modules: [{ type: 'ESModule' as const, path: 'index.js', contents: project.bundle }],
    ...(uploadedAt === undefined ? {} : { versionMetadata: undefined }),
    bindings: { STEPWELL_DATABASE_URL: neonUrl(lives.name()), ...variables, ...versionOf(uploadedAt) },
    outboundService: (request: WorkerRequest) => outside(setup, lives, request),
  };
  if (postman === undefined) return [main];
  return [
    { ...main, queueProducers: { STEPWELL_TURNS: { queueName: 'wire' } } },
    postmanWorker(postman === 'idle' ? 'lost' : POSTMAN_WAYS),
  ];
}

function versionOf(uploadedAt: number | undefined) {
  if (uploadedAt === undefined) return {};
  return { STEPWELL_VERSION: { id: 'v', tag: '', timestamp: new Date(uploadedAt).toISOString() } };
}

const Consumers = z.object({ 'stepwell-turns': z.object({ maxRetries: z.number() }) });

function turnTriesOf(configPath: string): number {
  return (
    Consumers.parse(optionsOf(configPath).workerOptions['queueConsumers'])['stepwell-turns'].maxRetries + 1
  );
}

/** The internet as the Worker sees it: Neon's HTTP endpoint, and the hosts of the test. */
async function outside(
  setup: Pick<WorkerSetup, 'databaseUrl' | 'neonEndpoint' | 'hosts'>,
  lives: RuntimeLives,
  request: WorkerRequest,
): Promise<WorkerResponse> {
  const { hostname, pathname } = new URL(request.url);
  const headers = new Headers([...request.headers]);
  const isNeon = hostname === 'api.eu-central-1.aws.neon.tech' && pathname === '/sql';
  const life = new URL(headers.get('neon-connection-string') ?? neonUrl('')).password;
  if (isNeon) headers.set('neon-connection-string', setup.databaseUrl);
  const origin = setup.hosts?.[hostname];
  if (!isNeon && origin === undefined) return new WorkerResponse('no such host', { status: 530 });
  const body = request.method === 'GET' ? {} : { body: await request.text() };
  const target = isNeon ? setup.neonEndpoint : `${origin}${pathname}`;
  const send = async (): Promise<WorkerResponse> => {
    const answer = await fetch(target, { method: request.method, headers, redirect: 'manual', ...body });
    return new WorkerResponse(await answer.text(), { status: answer.status, headers: [...answer.headers] });
  };
  if (!isNeon) return send();
  return (await lives.carry(life, send)) ?? new WorkerResponse('nobody asks any more', { status: 503 });
}

/** What becomes of one message after the other. */
const POSTMAN_WAYS = 'sent sent lost sent late sent doubled';

function postmanWorker(ways: string) {
  return {
    name: 'postman',
    modules: true as const,
    compatibilityDate: '2026-03-01',
    queueConsumers: { wire: { maxBatchTimeout: 0 } },
    queueProducers: { TURNS: { queueName: 'stepwell-turns' } },
    script: `
      const ways = '${ways}'.split(' ');
      const fates = { sent: 0, lost: 0, late: 0, doubled: 0 };
      let count = 0;
      export default {
        fetch: () => Response.json(fates),
        async queue({ messages }, { TURNS }) {
          for (const { body } of messages) {
            const way = ways[count++ % ways.length];
            fates[way] += 1;
            const copies = { sent: [0], lost: [], late: [1], doubled: [0, 0] }[way];
            for (const delaySeconds of copies) await TURNS.send(body, { contentType: 'text', delaySeconds });
          }
        },
      };`,
  };
}
