import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type ListeningServer, listen, peerOf } from '../../src/adapters/node-server/listen.ts';
import { systemClock } from '../../src/adapters/system.ts';
import { createApi } from '../../src/api/create-api.ts';
import { createFixture, type ApiFixture } from '../api/support/api-fixture.ts';
import { document } from '../api/support/documents.ts';

let server: ListeningServer | undefined;
afterEach(async () => {
  await server?.close(0);
  server = undefined;
});

async function serve(api: ApiFixture, options: Partial<Parameters<typeof listen>[1]> = {}): Promise<string> {
  const app = createApi({ ...api.deps, peerOf });
  const started = await listen(app, { host: '127.0.0.1', port: 0, clock: systemClock, ...options });
  if (!started.ok) throw new Error(started.error.message);
  server = started.value;
  return `http://127.0.0.1:${server.port}`;
}

/** Sends bytes as they are and collects the answer until the other side closes. */
function rawCall(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

const portOf = (base: string): number => Number(new URL(base).port);

describe('listen', () => {
  it('serves the API over a socket', async () => {
    const api = createFixture();
    const base = await serve(api);
    const headers = { 'content-type': 'application/json', 'x-tenant-id': 'saltmarsh' };
    const body = JSON.stringify(document());
    const created = await fetch(`${base}/api/v1/sequences`, { method: 'POST', headers, body });
    expect(created.status).toBe(201);
    const missing = await fetch(`${base}/api/v1/sequences`, {
      method: 'POST',
      headers: { 'x-tenant-id': 't' },
    });
    expect(missing.status).toBe(400);
    const other = await fetch(`${base}/api/v1/sequences`, {
      method: 'POST',
      headers: { 'x-tenant-id': 't' },
      body,
    });
    expect(other.status).toBe(415);
    const head = await fetch(`${base}/health/live`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('tells the app the address of the peer', async () => {
    const api = createFixture();
    const peers: string[] = [];
    const app = { fetch: (_request: Request, env: object) => (peers.push(peerOf(env)), new Response('ok')) };
    const started = await listen(app, { host: '127.0.0.1', port: 0, clock: systemClock });
    if (!started.ok) throw new Error(started.error.message);
    server = started.value;
    await (await fetch(`http://127.0.0.1:${server.port}/`)).text();
    expect(peers).toEqual(['127.0.0.1']);
    expect(peerOf(api)).toBe('');
    expect(peerOf(null)).toBe('');
  });

  it('answers 413 to a body without end and closes the connection', async () => {
    const base = await serve(createFixture({ maxBodyBytes: 10_000 }));
    const outcome = await new Promise<{ status: number | undefined; sent: number }>((resolve, reject) => {
      let sent = 0;
      let status: number | undefined;
      const headers = { 'content-type': 'application/json', 'x-tenant-id': 't' };
      const call = httpRequest(`${base}/api/v1/sequences`, { method: 'POST', headers }, (response) => {
        status = response.statusCode;
        response.resume();
      });
      call.on('error', (error) => (status === undefined ? reject(error) : resolve({ status, sent })));
      call.on('close', () => resolve({ status, sent }));
      const more = (): void => {
        if (call.destroyed) return;
        sent += 1000;
        call.write(' '.repeat(1000), more);
      };
      more();
    });
    expect(outcome.status).toBe(413);
  });

  it('refuses what is no HTTP, headers that are too large, and lengths that contradict', async () => {
    const port = portOf(await serve(createFixture()));
    const statusOf = async (text: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(await rawCall(port, text))?.[1]);
    expect(await statusOf('nonsense\r\n\r\n')).toBe(400);
    const large = `GET /health/live HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(70_000)}\r\n\r\n`;
    expect(await statusOf(large)).toBe(431);
    const both =
      'POST /api/v1/sequences HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n';
    expect(await statusOf(both)).toBe(400);
    const trace = 'TRACE /health/live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
    expect([400, 405]).toContain(await statusOf(trace));
    const unknown = 'PURGE /health/live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
    expect(await statusOf(unknown)).toBe(405);
  });

  it('cuts off a body that trickles in', async () => {
    const base = await serve(createFixture(), { requestTimeoutMs: 50, headersTimeoutMs: 50 });
    const start = 'POST /api/v1/sequences HTTP/1.1\r\nhost: x\r\nx-tenant-id: t\r\n';
    const answer = await rawCall(
      portOf(base),
      `${start}content-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 408/);
  });

  it('says when the port is taken', async () => {
    const base = await serve(createFixture());
    const second = await listen(
      { fetch: () => new Response() },
      { host: '127.0.0.1', port: portOf(base), clock: systemClock },
    );
    expect(second).toMatchObject({ ok: false, error: { code: 'EADDRINUSE' } });
  });

  it('finishes what runs before it closes, and takes nothing new', async () => {
    let release: () => void = () => undefined;
    let entered: () => void = () => undefined;
    const running = new Promise<void>((resolve) => (entered = resolve));
    const app = {
      fetch: async () => {
        entered();
        await new Promise<void>((resolve) => (release = resolve));
        return new Response('done');
      },
    };
    const started = await listen(app, { host: '127.0.0.1', port: 0, clock: systemClock });
    if (!started.ok) throw new Error(started.error.message);
    const base = `http://127.0.0.1:${started.value.port}/`;
    const first = fetch(base);
    await running;
    const closing = started.value.close(60_000);
    await expect(fetch(base)).rejects.toThrow('fetch failed');
    release();
    expect(await (await first).text()).toBe('done');
    await closing;
  });

  it('cuts off what still runs after the grace time', async () => {
    const app = { fetch: () => new Promise<Response>(() => undefined) };
    const started = await listen(app, { host: '127.0.0.1', port: 0, clock: systemClock });
    if (!started.ok) throw new Error(started.error.message);
    const call = fetch(`http://127.0.0.1:${started.value.port}/`).catch(() => 'cut off');
    await new Promise((resolve) => setImmediate(resolve));
    await started.value.close(1);
    expect(await call).toBe('cut off');
  });
});
