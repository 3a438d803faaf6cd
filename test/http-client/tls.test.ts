import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { clientUnderTest, outboundRequest } from './client-under-test.ts';
import { loopbackServer } from './loopback-server.ts';

const pem = (name: string) => readFileSync(new URL(`certificates/${name}.pem`, import.meta.url), 'utf8');
const key = pem('good-test.key');
const good = { key, cert: pem('good-test') };
const resolve = async () => [{ address: '127.0.0.1', family: 4 as const }];

const refused = (code: string) => ({
  ok: false,
  reason: 'network',
  message: expect.stringContaining(`(${code})`),
});

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('TLS (X49)', () => {
  it('keeps the name of the host for the certificate while the connection is pinned to an address', async () => {
    const server = await loopbackServer((_, response) => response.end('safe'), good);
    const client = clientUnderTest({ resolve, trustedCertificates: good.cert });
    expect(await client.send(outboundRequest(`https://good.test:${server.port}/`))).toMatchObject({
      ok: true,
    });
    expect(server.seen[0]?.headers.host).toBe(`good.test:${server.port}`);
  });

  it('refuses a self-signed certificate', async () => {
    const server = await loopbackServer((_, response) => response.end(), good);
    const result = await clientUnderTest({ resolve }).send(
      outboundRequest(`https://good.test:${server.port}/`),
    );
    expect(result).toMatchObject(refused('DEPTH_ZERO_SELF_SIGNED_CERT'));
    expect(server.seen).toEqual([]);
  });

  it('refuses it also when the environment switches certificate checks off', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const server = await loopbackServer((_, response) => response.end(), good);
    const result = await clientUnderTest({ resolve }).send(
      outboundRequest(`https://good.test:${server.port}/`),
    );
    expect(result).toMatchObject(refused('DEPTH_ZERO_SELF_SIGNED_CERT'));
  });

  it('refuses the certificate of another host', async () => {
    const server = await loopbackServer((_, response) => response.end(), good);
    const client = clientUnderTest({ resolve, trustedCertificates: good.cert });
    expect(await client.send(outboundRequest(`https://other.test:${server.port}/`))).toMatchObject(
      refused('ERR_TLS_CERT_ALTNAME_INVALID'),
    );
    expect(server.seen).toEqual([]);
  });

  it('refuses an expired certificate', async () => {
    const expired = { key, cert: pem('expired') };
    const server = await loopbackServer((_, response) => response.end(), expired);
    const client = clientUnderTest({ resolve, trustedCertificates: expired.cert });
    expect(await client.send(outboundRequest(`https://good.test:${server.port}/`))).toMatchObject(
      refused('CERT_HAS_EXPIRED'),
    );
  });

  it('refuses TLS 1.1', async () => {
    const old = createServer({
      ...good,
      minVersion: 'TLSv1.1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    await new Promise<void>((listening) => old.listen(0, '127.0.0.1', listening));
    onTestFinished(() => {
      old.close();
    });
    const { port } = old.address() as AddressInfo;
    const client = clientUnderTest({ resolve, trustedCertificates: good.cert });
    const result = await client.send(outboundRequest(`https://good.test:${port}/`));
    expect(result).toMatchObject({
      ok: false,
      reason: 'network',
      message: expect.stringMatching(/SSL|TLS|EPROTO/),
    });
  });
});
