import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { MIGRATED } from '../postgres/store-database.ts';
import { buildImage, type ContainerImage } from '../support/container-image.ts';
import { createTestDatabase } from '../support/postgres-database.ts';
import { waitUntil } from '../support/wait-until.ts';

// A build and real processes on a busy machine take their time.
vi.setConfig({ testTimeout: 150_000, hookTimeout: 300_000 });

const KEY = 'a-root-key-of-the-test';
const Ready = z.object({ event: z.literal('ready'), url: z.string() });
const HEADERS = { 'x-api-key': KEY, 'x-tenant-id': 'default', 'content-type': 'application/json' };

let image: ContainerImage;
const children = new Set<ChildProcess>();
const services = new Set<Server>();

beforeAll(async () => {
  image = await buildImage();
});

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  for (const service of services) service.closeAllConnections();
  for (const service of services) service.close();
  services.clear();
});

afterAll(() => image?.remove());

/** Runs an argv of the image as the container would: in its folder, with its environment and nothing of ours but the path. */
function runInImage([program = '', ...args]: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(program, args, {
    cwd: image.workFolder,
    env: { PATH: process.env['PATH'], ...image.env, STEPWELL_HTTP_ADDR: '127.0.0.1:0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  const ended = once(child, 'close').then(() => {
    children.delete(child);
    return child.exitCode ?? child.signalCode;
  });
  return { child, said, ended };
}

const serveArgv = () => [...image.entrypoint, ...image.command];

async function startServe(databaseUrl: string, env: Readonly<Record<string, string>> = {}) {
  const serve = runInImage(serveArgv(), {
    STEPWELL_DATABASE_URL: databaseUrl,
    STEPWELL_API_KEY: KEY,
    STEPWELL_ALLOW_INTERNAL_URLS: '1',
    ...env,
  });
  const url = await waitUntil('serve listens', () => {
    if (serve.child.exitCode !== null) throw new Error(serve.said.stderr);
    const line = serve.said.stdout.split('\n').find((each) => each.includes('"ready"'));
    return line === undefined ? null : Ready.parse(JSON.parse(line)).url;
  });
  return { ...serve, url };
}

/** Exit code of the health check against the server at this URL. */
function healthCheck(url: string) {
  return runInImage(image.healthCheck, { STEPWELL_HTTP_ADDR: new URL(url).host }).ended;
}

/** A service that answers when the test says so. */
async function slowService() {
  const waiting: (() => void)[] = [];
  const service = createServer((_request, response) => {
    waiting.push(() => response.setHeader('content-type', 'application/json').end('{"answer":42}'));
  });
  services.add(service.listen(0, '127.0.0.1'));
  await once(service, 'listening');
  const { port } = z.object({ port: z.number() }).parse(service.address());
  return { url: `http://127.0.0.1:${port}/`, calls: waiting };
}

async function call(url: string, path: string, body?: object) {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const answer = await fetch(`${url}/api/v1${path}`, { headers: HEADERS, ...init });
  expect(answer.ok).toBe(true);
  return answer.json();
}

describe('the container image', () => {
  it('holds the built package and the packages it needs, none for development', () => {
    const modules = join(image.workFolder, 'node_modules');
    expect(readdirSync(join(modules, 'stepwell')).toSorted()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist', 'migrations', 'package.json'].toSorted(),
    );
    expect(existsSync(join(modules, 'pg'))).toBe(true);
    for (const name of ['typescript', 'vitest', 'wrangler', 'sst', 'fauxqs']) {
      expect(existsSync(join(modules, name))).toBe(false);
    }
    expect(readdirSync(image.workFolder)).toEqual(['node_modules']);
  });

  it('runs as a user without rights and passes the signal that ends it straight on', () => {
    expect(image.user).toBe('node');
    expect(image.stopSignal).toBe('SIGTERM');
    expect(image.entrypoint[0]).toBe('node');
    expect(image.command[0]).toBe('serve');
  });

  it('refuses to serve without a root key', async () => {
    const refused = runInImage(serveArgv(), { STEPWELL_DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' });
    expect(await refused.ended).toBe(1);
    expect(refused.said.stderr).toContain('there is no root key');
  });

  it('serves handlers that are bundled as docs/deploy-node.md says', async () => {
    const [, command] = /^RUN npx (esbuild .*)$/m.exec(readFileSync('docs/deploy-node.md', 'utf8')) ?? [];
    const source = `import { defineHandler } from 'stepwell/handler';
      export const greet = defineHandler('greet', {}, (): string => 'Hello');`;
    writeFileSync(join(image.workFolder, 'handlers.ts'), source);
    const [, ...flags] = (command ?? '').split(' ');
    const bundled = runInImage([join(image.workFolder, 'node_modules/esbuild/bin/esbuild'), ...flags], {});
    expect(await bundled.ended).toBe(0);
    const { url: databaseUrl } = await createTestDatabase(MIGRATED);
    const serve = await startServe(databaseUrl, { STEPWELL_HANDLERS: './handlers.mjs' });
    expect(serve.said.stdout).toContain('"handlers":["greet"]');
  });

  it('becomes healthy when the migrate command of the same image has run', async () => {
    const { url: databaseUrl } = await createTestDatabase();
    const serve = await startServe(databaseUrl);
    expect(await healthCheck(serve.url)).toBe(1);
    const migrate = runInImage([...image.entrypoint, 'migrate'], { STEPWELL_DATABASE_URL: databaseUrl });
    expect(await migrate.ended).toBe(0);
    await waitUntil('it is ready', async () => (await fetch(`${serve.url}/health/ready`)).status === 200);
    expect(await healthCheck(serve.url)).toBe(0);
    expect((await fetch(`${serve.url}/api/v1/sequences`)).status).toBe(401);
    serve.child.kill('SIGTERM');
    expect(await serve.ended).toBe(0);
  });

  it('ends with code 0 after SIGTERM in the middle of a step and of a stream, and keeps the result of the step', async () => {
    const { url: databaseUrl } = await createTestDatabase(MIGRATED);
    const service = await slowService();
    const serve = await startServe(databaseUrl);
    const id = crypto.randomUUID();
    const scope = { tenant_id: 'default', namespace: 'default' };
    // The call itself does not end before the test lets it.
    const params = { url: service.url, timeout_ms: 120_000 };
    const blocks = [{ type: 'step', id: 'ask', handler: 'http_request', params }];
    const head = { id, ...scope, name: 'slow', version: 1, created_at: '2027-01-01T00:00:00Z' };
    await call(serve.url, '/sequences', { ...head, blocks });
    const started = await call(serve.url, '/instances', { ...scope, sequence_id: id });
    await waitUntil('the step runs', () => service.calls.length === 1);
    const stream = `${serve.url}/api/v1/instances/${started.id}/stream`;
    const events = await fetch(stream, { headers: HEADERS });
    expect(events.status).toBe(200);

    serve.child.kill('SIGTERM');
    await waitUntil('it says that it stops', () => serve.said.stdout.includes('"stopping"'));
    // Its client is to go on at another process; it does not hold up the end.
    await events.text();
    for (const answer of service.calls) answer();
    expect(await serve.ended).toBe(0);
    expect(serve.said.stderr).not.toContain('did not end in time');

    const next = await startServe(databaseUrl);
    await waitUntil('the run is completed', async () => {
      return (await call(next.url, `/instances/${started.id}`)).state === 'completed';
    });
    expect(service.calls).toHaveLength(1);
  });
});
