import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../src/adapters/http/exchange.ts';
import type { Hop } from '../../src/adapters/http/redirect.ts';
import { nextHop } from '../../src/adapters/http/redirect.ts';
import { bodyText, clientUnderTest, outboundRequest } from './client-under-test.ts';
import { loopbackServer } from './loopback-server.ts';

/** A network in which every host answers with a redirect to the next location, then with 200. */
function redirectingNetwork(...locations: string[]): { exchange: Exchange; hops: Hop[] } {
  const hops: Hop[] = [];
  const exchange: Exchange = async (hop) => {
    const location = locations[hops.length];
    hops.push(hop);
    return {
      ok: true,
      status: location === undefined ? 200 : 302,
      headers: [],
      location,
      readBody: async () => ({ ok: true, body: new Uint8Array(0) }),
      close: () => undefined,
    };
  };
  return { exchange, hops };
}

const publicResolve = async (hostname: string) => [
  { address: hostname === 'inside.test' ? '10.0.0.1' : '93.184.216.34', family: 4 as const },
];

describe('redirects [NET-4]', () => {
  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://127.0.0.1:8080/',
    'http://2130706433/',
    'http://[::1]/',
    'http://localhost/',
    'http://inside.test/',
    '//10.0.0.1/',
    'file:///etc/passwd',
    'ftp://example.org/',
    'http://user:pass@example.org/',
    'http://',
    'http://[broken/',
  ])('[NET-4] refuses a redirect to %s at the hop (X45)', async (location) => {
    const { exchange, hops } = redirectingNetwork(location);
    const client = clientUnderTest({ allowInternal: false, resolve: publicResolve, exchange });
    const result = await client.send(outboundRequest('http://start.test/'));
    expect(result).toMatchObject({
      ok: false,
      reason: 'blocked',
      message: expect.stringContaining('blocked'),
    });
    expect(hops).toHaveLength(1);
  });

  it('[NET-4] checks a later hop like the first, also after several public ones', async () => {
    const { exchange, hops } = redirectingNetwork(
      'http://b.test/',
      'https://c.test/',
      'https://inside.test/',
    );
    const client = clientUnderTest({ allowInternal: false, resolve: publicResolve, exchange });
    expect(await client.send(outboundRequest('http://a.test/'))).toMatchObject({ reason: 'blocked' });
    expect(hops.map(({ url }) => url.host)).toEqual(['a.test', 'b.test', 'c.test']);
  });

  it('refuses to go from https to http (RULINGS B16)', async () => {
    const { exchange, hops } = redirectingNetwork('http://start.test/');
    const client = clientUnderTest({ allowInternal: false, resolve: publicResolve, exchange });
    expect(await client.send(outboundRequest('https://start.test/?key=secret'))).toEqual({
      ok: false,
      reason: 'blocked',
      message: 'blocked: redirect from https to http',
      code: 'redirect',
    });
    expect(hops).toHaveLength(1);
  });

  it('says of a refused hop whether a redirect led there', async () => {
    const { exchange } = redirectingNetwork('http://10.0.0.1/');
    const client = clientUnderTest({ allowInternal: false, resolve: publicResolve, exchange });
    expect(await client.send(outboundRequest('http://start.test/'))).toMatchObject({ code: 'redirect' });
    expect(await client.send(outboundRequest('http://10.0.0.1/'))).not.toHaveProperty('code');
  });

  it.each([301, 302, 303, 307, 308])('%i never loses a body that must not be lost', async (status) => {
    const seen: string[] = [];
    const server = await loopbackServer(({ url, method }, response) => {
      seen.push(`${method} ${url}`);
      if (url === '/to') response.writeHead(200).end();
      else response.writeHead(status, { location: '/to' }).end();
    });
    const request = outboundRequest(`http://127.0.0.1:${server.port}/from`, {
      method: 'POST',
      body: '{}',
      keepsBody: true,
    });
    const result = await clientUnderTest().send(request);
    const kept = status >= 307;
    expect(result).toMatchObject(kept ? { ok: true, status: 200 } : { ok: false, code: 'redirect' });
    expect(seen).toEqual(kept ? ['POST /from', 'POST /to'] : ['POST /from']);
  });

  it('[NET-4] follows ten redirects and refuses the eleventh', async () => {
    const server = await loopbackServer(({ url }, response) => {
      const left = Number(url.slice(1));
      if (left === 0) response.end('arrived');
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    const send = async (start: number) =>
      await clientUnderTest().send(outboundRequest(`http://127.0.0.1:${server.port}/${start}`));
    const ten = await send(10);
    expect(ten.ok && bodyText(ten)).toBe('arrived');
    expect(server.seen).toHaveLength(11);
    expect(await send(11)).toMatchObject({
      ok: false,
      reason: 'blocked',
      message: expect.stringContaining('10 redirects'),
    });
    expect(server.seen).toHaveLength(22);
  });

  it('[NET-4] ends a loop of redirects', async () => {
    const server = await loopbackServer((_, response) =>
      response.writeHead(307, { location: '/again' }).end(),
    );
    const result = await clientUnderTest().send(outboundRequest(`http://127.0.0.1:${server.port}/again`));
    expect(result).toMatchObject({ ok: false, reason: 'blocked' });
    expect(server.seen).toHaveLength(11);
  });

  it('[NET-4] drops credentials when the port changes and does not bring them back', async () => {
    const target = await loopbackServer(({ url }, response) => {
      if (url === '/there')
        response.writeHead(302, { location: `http://127.0.0.1:${origin.port}/back` }).end();
      else response.end();
    });
    const origin = await loopbackServer(({ url }, response) => {
      if (url === '/same') response.writeHead(302, { location: '/start' }).end();
      else if (url === '/start')
        response.writeHead(302, { location: `http://127.0.0.1:${target.port}/there` }).end();
      else response.end('home');
    });
    const headers: [string, string][] = [
      ['Authorization', 'Bearer secret'],
      ['Cookie', 'session=secret'],
      ['X-Api-Key', 'secret'],
      ['X-Trace', 'kept'],
    ];
    const request = outboundRequest(`http://127.0.0.1:${origin.port}/same`, {
      headers,
      secretHeaders: ['x-api-key'],
    });
    expect(await clientUnderTest().send(request)).toMatchObject({ ok: true });
    const all = {
      authorization: 'Bearer secret',
      cookie: 'session=secret',
      'x-api-key': 'secret',
      'x-trace': 'kept',
    };
    expect(origin.seen[0]?.headers).toMatchObject(all);
    expect(origin.seen[1]?.headers).toMatchObject(all);
    for (const seen of [target.seen[0], origin.seen[2]]) {
      expect(seen?.headers['x-trace']).toBe('kept');
      expect(JSON.stringify(seen)).not.toContain('secret');
    }
  });

  const hopTo = (url: string, method = 'POST'): Hop => ({
    method,
    url: new URL(url),
    headers: [
      ['AUTHORIZATION', 'secret'],
      ['Content-Type', 'text/plain'],
    ],
    body: 'sent',
  });

  it.each([
    ['https://a.test/x', 'https://a.test/y', true],
    ['https://a.test/x', 'https://a.test:443/y', true],
    ['https://a.test/x', 'https://b.test/y', false],
    ['https://a.test/x', 'https://sub.a.test/y', false],
    ['https://a.test/x', 'https://a.test:444/y', false],
    ['http://a.test/x', 'https://a.test/y', false],
    ['http://a.test/x', 'http://a.test./y', false],
  ])('[NET-4] from %s to %s keeps credentials: %s', (from, to, kept) => {
    const next = nextHop(hopTo(from), 307, to, []);
    expect(next.type === 'hop' && next.hop.headers.some(([name]) => name === 'AUTHORIZATION')).toBe(kept);
  });

  it.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [303, 'DELETE', 'GET'],
    [303, 'HEAD', 'HEAD'],
    [301, 'PUT', 'PUT'],
    [302, 'PATCH', 'PATCH'],
    [301, 'GET', 'GET'],
    [307, 'POST', 'POST'],
    [308, 'POST', 'POST'],
  ])('[NET-4] after %d a %s becomes %s', (status, method, becomes) => {
    const next = nextHop(hopTo('https://a.test/', method), status, '/next', []);
    if (next.type !== 'hop') throw new Error(next.type);
    expect(next.hop.method).toBe(becomes);
    const keepsBody = method === becomes && !(status === 303 && method === 'GET');
    expect(next.hop.body).toBe(keepsBody ? 'sent' : undefined);
    expect(next.hop.headers.some(([name]) => name === 'Content-Type')).toBe(keepsBody);
  });

  it('takes 300, 304 and a redirect status without location as answers', () => {
    for (const status of [200, 300, 304, 305, 404]) {
      expect(nextHop(hopTo('https://a.test/'), status, '/next', [])).toEqual({ type: 'answer' });
    }
    expect(nextHop(hopTo('https://a.test/'), 302, undefined, [])).toEqual({ type: 'answer' });
  });

  it('sends the body again after 307 and reads a location in UTF-8', async () => {
    const server = await loopbackServer(({ url }, response) => {
      const location = Buffer.from('/ärger?ü=1', 'utf8').toString('latin1');
      if (url === '/') response.writeHead(307, { location }).end('ignored');
      else response.end('done');
    });
    const request = outboundRequest(`http://127.0.0.1:${server.port}/`, { method: 'POST', body: 'größe' });
    expect(await clientUnderTest().send(request)).toMatchObject({ ok: true });
    expect(server.seen.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', '/', 'größe'],
      ['POST', '/%C3%A4rger?%C3%BC=1', 'größe'],
    ]);
  });
});
