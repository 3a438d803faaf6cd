import { getEventListeners } from 'node:events';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { nodeExchange } from '../../src/adapters/http/exchange.ts';
import { bodyText, clientUnderTest, outboundRequest } from './client-under-test.ts';
import { loopbackServer } from './loopback-server.ts';
import { manualClock } from './manual-clock.ts';

/** A server which answers everything with these bytes. */
async function serving(bytes: Uint8Array | string, headers: Record<string, string> = {}, status = 200) {
  return await loopbackServer((_, response) => response.writeHead(status, headers).end(bytes));
}

const at = (server: { readonly port: number }, path = '/') => `http://127.0.0.1:${server.port}${path}`;

describe('response bodies [NET-8]', () => {
  const text = 'clay '.repeat(1000);

  it.each([
    ['gzip', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['GZIP', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
    ['br', brotliCompressSync(text)],
    ['identity', Buffer.from(text)],
    ['deflate, gzip', gzipSync(deflateSync(text))],
    ['gzip,identity , br', brotliCompressSync(gzipSync(text))],
  ])('[NET-8] undoes the coding %s %#', async (coding, bytes) => {
    const server = await serving(bytes, { 'content-encoding': coding });
    const result = await clientUnderTest().send(outboundRequest(at(server)));
    expect(bodyText(result)).toBe(text);
  });

  it('leaves a coding it does not know as it came', async () => {
    const server = await serving('as it is', { 'content-encoding': 'gzip, strange' });
    expect(bodyText(await clientUnderTest().send(outboundRequest(at(server))))).toBe('as it is');
  });

  it.each(['gzip', 'br', 'deflate'])('takes an empty body with the coding %s', async (coding) => {
    const server = await serving('', { 'content-encoding': coding });
    expect(await clientUnderTest().send(outboundRequest(at(server)))).toMatchObject({
      ok: true,
      status: 200,
    });
  });

  it.each([
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ])('reads no body after %s %d', async (method, status) => {
    const server = await serving('', { 'content-encoding': 'gzip', etag: '"x"' }, status);
    const result = await clientUnderTest().send(outboundRequest(at(server), { method }));
    expect(result).toMatchObject({ ok: true, status });
    expect(bodyText(result)).toBe('');
  });

  it('[NET-8] takes a body of exactly the cap and refuses one byte more', async () => {
    const server = await serving('x'.repeat(1000));
    const send = async (maxResponseBytes: number) =>
      await clientUnderTest().send(outboundRequest(at(server), { maxResponseBytes }));
    expect(await send(1000)).toMatchObject({ ok: true });
    expect(await send(999)).toEqual({
      ok: false,
      reason: 'too_large',
      message: `the answer of ${at(server)} has more than 999 bytes`,
    });
  });

  const zeros = Buffer.alloc(50 * 1024 * 1024);
  it.each([
    ['gzip', gzipSync(zeros)],
    ['br', brotliCompressSync(zeros)],
    ['deflate', deflateSync(zeros)],
    ['gzip, gzip', gzipSync(gzipSync(zeros))],
  ])('[NET-8] counts decompressed bytes of a %s bomb', async (coding, bytes) => {
    const server = await serving(bytes, { 'content-encoding': coding });
    const result = await clientUnderTest().send(
      outboundRequest(at(server), { maxResponseBytes: 1024 * 1024 }),
    );
    expect(result).toMatchObject({ ok: false, reason: 'too_large' });
  });

  it('[NET-8] bounds a compressed stream that gives nothing', async () => {
    // A gzip header whose file name never ends: bytes on the wire, none of content.
    const endless = Buffer.concat([
      Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]),
      Buffer.alloc(300_000, 'n'),
    ]);
    const server = await serving(endless, { 'content-encoding': 'gzip' });
    const result = await clientUnderTest().send(outboundRequest(at(server), { maxResponseBytes: 1024 }));
    expect(result).toMatchObject({ ok: false, reason: 'too_large' });
  });

  it.each([
    ['gzip', gzipSync(text).subarray(0, 40)],
    ['gzip', Buffer.from('this is no gzip')],
    ['br', Buffer.from('this is no brotli')],
    ['gzip, gzip, gzip, gzip', gzipSync(text)],
  ])('answers network when a %s body is damaged %#', async (coding, bytes) => {
    const server = await serving(bytes, { 'content-encoding': coding });
    expect(await clientUnderTest().send(outboundRequest(at(server)))).toMatchObject({ reason: 'network' });
  });

  it('answers network when the body ends early', async () => {
    const server = await loopbackServer((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    });
    expect(await clientUnderTest().send(outboundRequest(at(server)))).toMatchObject({ reason: 'network' });
  });
});

describe('connection errors', () => {
  it('are network when nobody listens, with the code and no query string [NET-10]', async () => {
    const result = await clientUnderTest().send(outboundRequest('http://127.0.0.1:1/path?key=secret'));
    expect(result).toEqual({
      ok: false,
      reason: 'network',
      message: 'no answer from http://127.0.0.1:1/path (ECONNREFUSED)',
      code: 'ECONNREFUSED',
    });
  });

  it('are network when the server hangs up before it answers or answers no HTTP', async () => {
    const hangs = await loopbackServer((_, response) => response.destroy());
    expect(await clientUnderTest().send(outboundRequest(at(hangs)))).toMatchObject({ reason: 'network' });
    const babbles = await loopbackServer((_, response) => response.socket?.end('220 smtp ready\r\n'));
    expect(await clientUnderTest().send(outboundRequest(at(babbles)))).toMatchObject({ reason: 'network' });
  });
});

describe('address in use', () => {
  it('[NET-3] is checked again at connect time, before a byte of the request is sent', async () => {
    const server = await serving('must not be asked');
    const hop = { method: 'GET', url: new URL(at(server)), headers: [], body: undefined };
    const result = await nodeExchange(hop, {
      addresses: [{ address: '127.0.0.1', family: 4 }],
      allowInternal: false,
      signal: new AbortController().signal,
    });
    expect(result).toMatchObject({ ok: false });
    await server.connectionClosed;
    expect(server.seen).toEqual([]);
  });
});

describe('end of an exchange', () => {
  it('times out while nothing is answered, and closes the connection', async () => {
    const clock = manualClock();
    const server = await loopbackServer(() => clock.fire());
    const result = await clientUnderTest({ clock }).send(outboundRequest(at(server), { timeoutMs: 1234 }));
    expect(result).toEqual({ ok: false, reason: 'timeout', message: 'no complete answer within 1234 ms' });
    await server.connectionClosed;
  });

  it('times out over a body that drips for ever', async () => {
    const clock = manualClock();
    const server = await loopbackServer((_, response) => {
      response.writeHead(200);
      // The last drop before the timer fires has reached the wire.
      const drip = (left: number): void => {
        response.write('.', () => (left === 0 ? clock.fire() : drip(left - 1)));
      };
      drip(20);
    });
    const result = await clientUnderTest({ clock }).send(outboundRequest(at(server)));
    expect(result).toMatchObject({ ok: false, reason: 'timeout' });
    await server.connectionClosed;
  });

  it('has one timer over all hops', async () => {
    const clock = manualClock();
    const waiting: number[][] = [];
    const server = await loopbackServer(({ url }, response) => {
      waiting.push(clock.waiting());
      if (url === '/') response.writeHead(302, { location: '/next' }).end();
      else clock.fire();
    });
    const result = await clientUnderTest({ clock }).send(outboundRequest(at(server), { timeoutMs: 77 }));
    expect(result).toMatchObject({ reason: 'timeout' });
    expect(waiting).toEqual([[77], [77]]);
  });

  it('times out while the name is being resolved, and sends nothing afterwards', async () => {
    const clock = manualClock();
    const server = await loopbackServer((_, response) => response.end());
    let answerName: () => void = () => undefined;
    const named = new Promise<void>((resolve) => {
      answerName = resolve;
    });
    const resolve = async () => {
      clock.fire();
      await named;
      return [{ address: '127.0.0.1', family: 4 as const }];
    };
    const url = `http://slow.example.org:${server.port}/`;
    expect(await clientUnderTest({ clock, resolve }).send(outboundRequest(url))).toMatchObject({
      reason: 'timeout',
    });
    answerName();
    // A second request is answered, so the first one has had its chance to be sent.
    await clientUnderTest().send(outboundRequest(at(server)));
    expect(server.seen.map(({ headers }) => headers.host)).toEqual([`127.0.0.1:${server.port}`]);
  });

  it('stops when the signal fires, before and during the request [H-6]', async () => {
    const stop = new AbortController();
    const server = await loopbackServer(() => stop.abort());
    const request = outboundRequest(at(server), { signal: stop.signal });
    const aborted = { ok: false, reason: 'aborted', message: 'the request was cancelled' };
    expect(await clientUnderTest().send(request)).toEqual(aborted);
    await server.connectionClosed;
    expect(await clientUnderTest().send(request)).toEqual(aborted);
    expect(server.connectionCount()).toBe(1);
  });

  it('leaves neither timer nor listener behind', async () => {
    const clock = manualClock();
    const server = await serving('ok');
    const { signal } = new AbortController();
    await clientUnderTest({ clock }).send(outboundRequest(at(server), { signal }));
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await clientUnderTest({ clock }).send(outboundRequest('http://127.0.0.1:1/'));
    await clientUnderTest({ clock }).send(outboundRequest('nonsense'));
    expect(clock.waiting()).toEqual([]);
  });

  it('rejects on a bug of the exchange and leaves no timer behind', async () => {
    const clock = manualClock();
    const exchange = () => Promise.reject(new Error('bug'));
    await expect(
      clientUnderTest({ clock, exchange }).send(outboundRequest('http://127.0.0.1/')),
    ).rejects.toThrow('bug');
    expect(clock.waiting()).toEqual([]);
  });

  it('closes the connection of a redirect before it asks the next server', async () => {
    const first = await loopbackServer((_, response) => {
      response.writeHead(302, { location: at(second) });
      response.write('a body that never ends');
    });
    const second = await loopbackServer((_, response) => {
      void first.connectionClosed.then(() => response.end('asked afterwards'));
    });
    expect(bodyText(await clientUnderTest().send(outboundRequest(at(first))))).toBe('asked afterwards');
  });

  it('closes the connection after a complete answer', async () => {
    const server = await serving('done');
    await clientUnderTest().send(outboundRequest(at(server)));
    await server.connectionClosed;
  });
});
