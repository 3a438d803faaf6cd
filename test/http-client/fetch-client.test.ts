import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createFetchClient, type FetchClientSettings } from '../../src/adapters/http/fetch-client.ts';
import type { HttpEffects } from '../../src/ports/effects.ts';
import { bodyText, outboundRequest } from './client-under-test.ts';
import { loopbackServer } from './loopback-server.ts';
import { manualClock } from './manual-clock.ts';

function client(settings: Partial<FetchClientSettings> = {}): HttpEffects {
  const standard = { clock: manualClock(), userAgent: 'stepwell/0.0.0-test', allowInternal: true };
  return createFetchClient({ ...standard, ...settings });
}

const at = (server: { readonly port: number }, path = '/') => `http://127.0.0.1:${server.port}${path}`;

describe('the client of hosts that have only fetch (RULINGS B16)', () => {
  it('sends method, headers and body, and reads what came', async () => {
    const server = await loopbackServer((_, response) =>
      response.writeHead(201, { 'x-kind': 'clay', 'content-encoding': 'gzip' }).end(gzipSync('made')),
    );
    const headers = [['X-Effect', 'a']] as const;
    const result = await client().send(
      outboundRequest(at(server, '/pots?n=1'), { method: 'POST', headers, body: '{"n":1}' }),
    );
    expect(result).toMatchObject({ ok: true, status: 201 });
    expect(bodyText(result)).toBe('made');
    expect(server.seen).toMatchObject([
      {
        method: 'POST',
        url: '/pots?n=1',
        body: '{"n":1}',
        headers: { 'x-effect': 'a', 'user-agent': 'stepwell/0.0.0-test', 'accept-encoding': 'gzip, br' },
      },
    ]);
  });

  it.each([
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://localhost/',
    'http://metadata.google.internal/',
    'ftp://example.com/',
    'http://user@example.com/',
  ])('refuses %s before anything is sent [NET-2]', async (url) => {
    expect(await client({ allowInternal: false }).send(outboundRequest(url))).toMatchObject({
      ok: false,
      reason: 'blocked',
    });
  });

  it('checks each hop itself: a redirect inwards is refused, and its target never asked [NET-4]', async () => {
    const inner = await loopbackServer((_, response) => response.end('secret'));
    const outer = await loopbackServer((_, response) =>
      response.writeHead(302, { location: `http://localhost:${inner.port}/` }).end(),
    );
    const allowedHosts = ['127.0.0.1'];
    expect(await client({ allowedHosts }).send(outboundRequest(at(outer)))).toMatchObject({
      ok: false,
      reason: 'blocked',
      code: 'redirect',
    });
    expect(inner.seen).toEqual([]);
  });

  it('follows a redirect, and takes no secret header to another origin', async () => {
    const target = await loopbackServer((_, response) => response.end('there'));
    const first = await loopbackServer((_, response) =>
      response.writeHead(307, { location: at(target, '/next') }).end(),
    );
    const headers = [['Authorization', 'Bearer s']] as const;
    const result = await client().send(outboundRequest(at(first), { headers, method: 'PUT', body: 'b' }));
    expect(bodyText(result)).toBe('there');
    expect(target.seen).toMatchObject([{ method: 'PUT', url: '/next', body: 'b' }]);
    expect(target.seen[0]?.headers['authorization']).toBeUndefined();
  });

  it('takes a body of exactly the cap, and refuses a byte more although it is packed small [NET-8]', async () => {
    const server = await loopbackServer((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(1000))),
    );
    const read = (maxResponseBytes: number) =>
      client().send(outboundRequest(at(server), { maxResponseBytes }));
    expect(bodyText(await read(1000))).toHaveLength(1000);
    expect(await read(999)).toMatchObject({ ok: false, reason: 'too_large' });
  });

  it('tells a host that nobody serves as a failure of the network', async () => {
    expect(await client().send(outboundRequest('http://127.0.0.1:1/'))).toMatchObject({
      ok: false,
      reason: 'network',
    });
  });

  it('ends a request whose time is up, and one that is cancelled', async () => {
    const server = await loopbackServer(() => undefined);
    const clock = manualClock();
    const slow = client({ clock }).send(outboundRequest(at(server), { timeoutMs: 50 }));
    clock.fire();
    expect(await slow).toMatchObject({ ok: false, reason: 'timeout' });
    const cancel = new AbortController();
    const cancelled = client().send(outboundRequest(at(server), { signal: cancel.signal }));
    cancel.abort();
    expect(await cancelled).toMatchObject({ ok: false, reason: 'aborted' });
  });
});
