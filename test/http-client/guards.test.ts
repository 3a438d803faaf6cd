import { getDefaultAutoSelectFamily, setDefaultAutoSelectFamily } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseAllowInternal } from '../../src/adapters/http/outbound-client.ts';
import type { Resolve } from '../../src/adapters/http/resolve-host.ts';
import { hostAllowed, urlProblem } from '../../src/core/network/outbound-url.ts';
import { clientUnderTest, outboundRequest } from './client-under-test.ts';
import { loopbackServer } from './loopback-server.ts';

const answering =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

/** A resolver which must not be asked: the host is to be refused before. */
const unasked: Resolve = async (hostname) => {
  throw new Error(`asked for ${hostname}`);
};

describe('URL rules', () => {
  it.each([
    'file:///etc/passwd',
    'ftp://example.org/x',
    'gopher://example.org/',
    'data:text/plain,x',
    'javascript:alert(1)',
    'ws://example.org/',
    'http://user@example.org/',
    'http://user:password@example.org/',
    'http://:password@example.org/',
    'http://',
    'http:///',
    '/relative',
    'example.org',
    '',
  ])('[NET-1] refuses %j as blocked', async (url) => {
    for (const allowInternal of [false, true]) {
      const result = await clientUnderTest({ allowInternal, resolve: unasked }).send(outboundRequest(url));
      expect(result).toMatchObject({
        ok: false,
        reason: 'blocked',
        message: expect.stringContaining('blocked'),
      });
    }
  });

  it('[NET-1] refuses a URL without host, should a parser let one pass', () => {
    const parts = { protocol: 'http:', hostname: '', host: '', pathname: '/', username: '', password: '' };
    expect(urlProblem(parts, { allowInternal: true })).toBe('blocked: the URL has no host');
  });

  it.each([
    'http://localhost/',
    'http://LOCALHOST:8080/',
    'http://localhost./',
    'http://a.localhost/',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://db.internal/',
    'http://127.0.0.1/',
    'http://127.1/',
    'http://0x7f.1/',
    'http://0x7f000001/',
    'http://017700000001/',
    'http://2130706433/',
    'http://0251.0376.0251.0376/',
    'http://169.254.169.254/latest/meta-data/',
    'http://169.254.169.254./',
    'http://１２７．０．０．１/',
    'http://127。0。0。1/',
    'http://①②⑦.0.0.①/',
    'http://%31%32%37.0.0.1/',
    'http://0/',
    'http://[::]/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::ffff:169.254.169.254]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[2002:a9fe:a9fe::1]/',
    'http://[2002:c0a8:101::]/',
    'http://[fe80::1]/',
    'http://[fe80::1%25eth0]/',
    'http://[fc00::1]/',
    'http://[fd00:ec2::254]/',
  ])('[NET-2] blocks %s without asking the resolver (X41)', async (url) => {
    const result = await clientUnderTest({ allowInternal: false, resolve: unasked }).send(
      outboundRequest(url),
    );
    expect(result).toMatchObject({
      ok: false,
      reason: 'blocked',
      message: expect.stringContaining('blocked'),
    });
  });

  it.each([
    ['a private address', ['10.0.0.1']],
    ['a public and a private address', ['93.184.216.34', '192.168.0.1']],
    ['a public IPv4 and a private IPv6 address', ['93.184.216.34', 'fd00::1']],
    ['a mapped private address', ['::ffff:10.0.0.1']],
    ['the metadata address', ['169.254.169.254']],
    ['a link-local address with a zone', ['fe80::1%eth0']],
    ['what is no address', ['93.184.216.34', 'nonsense']],
  ])('[NET-2] blocks a public name that resolves to %s (X43)', async (_, addresses) => {
    const client = clientUnderTest({ allowInternal: false, resolve: answering(...addresses) });
    expect(await client.send(outboundRequest('http://rebind.example.org/'))).toEqual({
      ok: false,
      reason: 'blocked',
      message: 'blocked: the host of http://rebind.example.org/ has an address that is not public',
    });
  });

  it('[NET-3] answers dns when the name has no address', async () => {
    const dns = { ok: false, reason: 'dns' };
    const url = outboundRequest('http://nowhere.example.org/a?key=secret');
    expect(await clientUnderTest({ resolve: answering() }).send(url)).toMatchObject(dns);
    expect(await clientUnderTest({ resolve: unasked }).send(url)).toEqual({
      ...dns,
      message: 'the host of http://nowhere.example.org/a cannot be resolved',
    });
  });

  it('[NET-3] asks the resolver once and connects to the checked address, whatever the name says later', async () => {
    const server = await loopbackServer((_, response) => response.end('pinned'));
    const asked: string[] = [];
    const resolve: Resolve = async (hostname) => {
      asked.push(hostname);
      return [{ address: asked.length === 1 ? '127.0.0.1' : '192.0.2.1', family: 4 }];
    };
    const result = await clientUnderTest({ resolve }).send(
      outboundRequest(`http://rebind.example.org:${server.port}/`),
    );
    expect(result).toMatchObject({ ok: true, status: 200 });
    expect(asked).toEqual(['rebind.example.org']);
    expect(server.seen[0]?.headers.host).toBe(`rebind.example.org:${server.port}`);
  });

  it('[NET-3] tries the other checked addresses when the first one does not answer', async () => {
    const server = await loopbackServer((_, response) => response.end('second'));
    const resolve = answering('::1', '127.0.0.1');
    const result = await clientUnderTest({ resolve }).send(
      outboundRequest(`http://two.example.org:${server.port}/`),
    );
    expect(result).toMatchObject({ ok: true });
  });

  it('[NET-3] pins the address also when the process tries one address only', async () => {
    const server = await loopbackServer((_, response) => response.end('pinned'));
    const before = getDefaultAutoSelectFamily();
    setDefaultAutoSelectFamily(false);
    onTestFinished(() => setDefaultAutoSelectFamily(before));
    const client = clientUnderTest({ resolve: answering('127.0.0.1') });
    const result = await client.send(outboundRequest(`http://one.example.org:${server.port}/`));
    expect(result).toMatchObject({ ok: true });
  });

  it('[NET-6] reads only 1 and true as permission, blanks and letter case aside', () => {
    for (const on of ['1', 'true', ' TRUE ', 'True\n']) expect(parseAllowInternal(on)).toBe(true);
    for (const off of [undefined, '', '0', 'false', 'yes', 'on', '2', '01', 'true1', 't']) {
      expect(parseAllowInternal(off)).toBe(false);
    }
  });

  it('[NET-6] lets internal addresses and names pass when the setting says so', async () => {
    const server = await loopbackServer((_, response) => response.end('inside'));
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]']) {
      const result = await clientUnderTest().send(outboundRequest(`http://${host}:${server.port}/`));
      expect([host, result.ok]).toEqual([host, true]);
    }
  });

  it('[NET-7] narrows to a list of host patterns and never widens', async () => {
    const server = await loopbackServer((_, response) => response.end());
    const resolve = answering('127.0.0.1');
    const client = clientUnderTest({ allowedHosts: ['*.example.org', 'pay.test'], resolve });
    const send = async (host: string) => await client.send(outboundRequest(`http://${host}:${server.port}/`));
    expect(await send('api.example.org')).toMatchObject({ ok: true });
    expect(await send('pay.test')).toMatchObject({ ok: true });
    expect(await send('example.org')).toMatchObject({ ok: false, reason: 'blocked' });
    const strict = clientUnderTest({ allowedHosts: ['localhost', '127.0.0.1'], allowInternal: false });
    expect(await strict.send(outboundRequest('http://localhost/'))).toMatchObject({ reason: 'blocked' });
    expect(await strict.send(outboundRequest('http://127.0.0.1/'))).toMatchObject({ reason: 'blocked' });
  });

  it('[NET-7] compares whole labels in any letter case', () => {
    expect(hostAllowed('API.Example.org.', ['*.EXAMPLE.org'])).toBe(true);
    expect(hostAllowed('notexample.org', ['*.example.org'])).toBe(false);
    expect(hostAllowed('example.org.evil.test', ['example.org', '*.example.org'])).toBe(false);
    expect(hostAllowed('any.test', undefined)).toBe(true);
    expect(hostAllowed('any.test', [])).toBe(false);
  });
});
