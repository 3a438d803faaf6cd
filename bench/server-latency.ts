import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { systemClock } from '../src/adapters/system.ts';
import { client, readEvents } from './server-client.ts';

const CLI = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
const PORT = 18_077;
const SLEEP_MS = 300;
/** Run code that has not been compiled yet; not counted. */
const WARM_UP_RUNS = 5;

/** Milliseconds, one entry per run. */
export interface ServerLatency {
  /** From sending the start, the answer of a person, the report of a worker to the call of the step behind it. */
  readonly start: readonly number[];
  readonly signal: readonly number[];
  readonly report: readonly number[];
  /** What lies between the calls around a sleep, without the sleep. */
  readonly timer: readonly number[];
  /** From the answer of a step's call to its `output` event on the stream of the instance. */
  readonly event: readonly number[];
}

type OneRun = Record<keyof ServerLatency, number>;

/** What a local server takes from a cause to its effect, seen from outside over HTTP; the database is embedded. */
export async function serverLatency(runs: number): Promise<ServerLatency> {
  const folder = await mkdtemp(join(tmpdir(), 'stepwell-bench-'));
  const desk = await startDesk();
  const server = await startServer(folder);
  try {
    return await measure(desk, runs);
  } finally {
    server.kill('SIGTERM');
    await once(server, 'exit');
    desk.server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(desk: Desk, runs: number): Promise<ServerLatency> {
  const api = client(`http://127.0.0.1:${PORT}/api/v1`);
  const sequenceId = await api.publish(blocksOf(desk.url));
  const seen: OneRun[] = [];
  for (let run = 0; run < WARM_UP_RUNS + runs; run += 1) seen.push(await measureOne(api, desk, sequenceId));
  const of = (name: keyof OneRun) => seen.slice(WARM_UP_RUNS).map((each) => each[name]);
  return {
    start: of('start'),
    signal: of('signal'),
    report: of('report'),
    timer: of('timer'),
    event: of('event'),
  };
}

async function measureOne(api: ReturnType<typeof client>, desk: Desk, sequenceId: string): Promise<OneRun> {
  const first = desk.next('first');
  const startedAt = systemClock.monotonicMs();
  const id = await api.start(sequenceId);
  const start = (await first).at - startedAt;

  const events = readEvents(`http://127.0.0.1:${PORT}/api/v1/instances/${id}/stream`);
  await api.untilWaiting(id);
  const [second, third] = [desk.next('second'), desk.next('third')];
  const signalledAt = systemClock.monotonicMs();
  await api.answer(id, 'ask');
  const calledAt = (await second).at;
  const event = (await events.output('second')) - calledAt;
  const timer = (await third).at - calledAt - SLEEP_MS;

  const fourth = desk.next('fourth');
  const report = await api.reportOf('bench_worker');
  const reportedAt = systemClock.monotonicMs();
  await report();
  const reported = (await fourth).at - reportedAt;
  await events.done;
  return { start, signal: calledAt - signalledAt, report: reported, timer, event };
}

function blocksOf(url: string): readonly unknown[] {
  const call = (id: string) => ({
    type: 'step',
    id,
    handler: 'http_request',
    params: { url: `${url}/${id}` },
  });
  return [
    call('first'),
    { type: 'step', id: 'ask', handler: 'noop', wait_for_input: { prompt: 'Go on?' } },
    call('second'),
    { type: 'step', id: 'rest', handler: 'sleep', params: { duration_ms: SLEEP_MS } },
    call('third'),
    { type: 'step', id: 'work', handler: 'bench_worker' },
    call('fourth'),
  ];
}

interface Desk {
  readonly server: Server;
  readonly url: string;
  readonly next: (name: string) => Promise<{ readonly at: number }>;
}

/** Answers at once and says when it was called. */
async function startDesk(): Promise<Desk> {
  const waiting = new Map<string, (call: { readonly at: number }) => void>();
  const server = createServer((request, response) => {
    waiting.get((request.url ?? '').slice(1))?.({ at: systemClock.monotonicMs() });
    response.setHeader('content-type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = z.object({ port: z.number() }).parse(server.address());
  const next = (name: string) =>
    new Promise<{ readonly at: number }>((resolve) => waiting.set(name, resolve));
  return { server, url: `http://127.0.0.1:${port}`, next };
}

async function startServer(folder: string) {
  const child = spawn(process.execPath, [CLI, 'dev', '--port', String(PORT), '--data', folder, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, STEPWELL_ALLOW_INTERNAL_URLS: '1', STEPWELL_LOG_LEVEL: 'error' },
  });
  for await (const line of createInterface({ input: child.stdout })) if (line.includes('"ready"')) break;
  return child;
}
