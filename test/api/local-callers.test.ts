import { beforeEach, describe, expect, it } from 'vitest';
import { createFixture, type ApiFixture } from './support/api-fixture.ts';

describe('a server without keys that listens on this machine only', () => {
  let api: ApiFixture;

  beforeEach(() => {
    api = createFixture({ localCallersOnly: true, corsOrigins: ['https://desk.example'] });
  });

  const status = async (url: string, headers: Record<string, string>): Promise<number> => {
    const reply = await api.send('GET', url, { headers });
    return reply.status;
  };

  it.each(['localhost', 'localhost:8080', '127.0.0.1:8080', '127.9.9.9', '[::1]:8080'])(
    'answers to the name %s',
    async (host) => {
      expect(await status('/api/v1/sequences', { host })).toBe(200);
    },
  );

  it.each([
    'evil.example',
    'evil.example:8080',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
  ])('refuses the name %s, which a page may let resolve to this machine', async (host) => {
    expect(await status('/api/v1/sequences', { host })).toBe(403);
  });

  it('refuses a page of another origin and lets a configured one in', async () => {
    const host = 'localhost:8080';
    expect(await status('/api/v1/sequences', { host, origin: 'https://evil.example' })).toBe(403);
    expect(await status('/api/v1/sequences', { host, origin: 'null' })).toBe(403);
    expect(await status('/api/v1/sequences', { host, origin: 'https://desk.example' })).toBe(200);
    expect(await status('/api/v1/sequences', { host, origin: 'http://localhost:3000' })).toBe(200);
  });

  it('lets signed webhooks through under any name', async () => {
    const reply = await api.send('POST', '/webhooks/none', {
      headers: { host: 'tunnel.example' },
      raw: '{}',
    });
    expect(reply.status).toBe(404);
  });
});
