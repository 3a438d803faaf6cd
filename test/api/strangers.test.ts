import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { hmacSha256 } from '../../src/core/digest.ts';
import { newKeySecret } from '../../src/engine/api-keys/key-secret.ts';
import type { Store } from '../../src/ports/store/store.ts';
import { createMemoryStore } from '../../src/adapters/memory/store.ts';
import { nextId } from '../support/turn-builder.ts';
import { type ApiFixture, type CallOptions, createFixture, START_MS, TENANT } from './support/api-fixture.ts';
import { published } from './support/documents.ts';

const ROOT_KEY = 'root-key-of-the-tests';
const ROOT = { 'x-api-key': ROOT_KEY };

interface Watched {
  readonly api: ApiFixture;
  /** Names of the store's calls, and what the host was told, since the last look. */
  readonly look: () => string[];
}

/** An API that tells what it has asked of the store and of its host. */
function watched(peerOf = () => '192.0.2.7'): Watched {
  let asked: string[] = [];
  const store = told(createMemoryStore({ now: () => START_MS }), (name) => asked.push(name));
  const onAdmitted = (mayWrite: boolean) => {
    asked.push(mayWrite ? 'host: write' : 'host: read');
    return Promise.resolve(null);
  };
  const api = createFixture({ apiKey: ROOT_KEY, maxBodyBytes: 4096 }, { store, onAdmitted, peerOf });
  return {
    api,
    look: () => {
      const before = asked;
      asked = [];
      return before;
    },
  };
}

function told(store: Store, tell: (name: string) => void): Store {
  return new Proxy(store, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function' || typeof name !== 'string') return member;
      if (name === 'withinBytes') return (maxBytes: number) => told(target.withinBytes(maxBytes), tell);
      return (...args: unknown[]) => {
        tell(name);
        return Reflect.apply(member, target, args);
      };
    },
  });
}

let seed = 0;
const wrongKey = (): string => {
  seed += 1;
  return newKeySecret({ bytes: (length) => new Uint8Array(length).fill(seed) });
};

const closed = ROUTES.filter(({ access }) => access !== 'public').map(
  ({ method, path, mount }) =>
    [method, (mount === 'both' ? '/api/v1' : '') + path.replace(/\{\w+\}/g, nextId())] as const,
);

describe('a caller without a valid key', () => {
  it('costs nothing, whatever route is asked', async () => {
    const { api, look } = watched();
    const wrong = [{}, { 'x-api-key': 'wrong' }, { authorization: `Bearer sk_${'x'.repeat(43)}` }];
    for (const [method, path] of closed) {
      for (const headers of wrong) {
        const { status } = await api.send(method, path, {
          headers,
          ...(method === 'GET' ? {} : { body: {} }),
        });
        expect([method, path, status === 401 || status === 429]).toEqual([method, path, true]);
      }
    }
    expect(look()).toEqual([]);
  });

  it('costs nothing by other methods, paths and large headers', async () => {
    const { api, look } = watched();
    for (const method of ['HEAD', 'OPTIONS', 'PUT', 'TRACE-ME', 'DELETE']) {
      for (const path of ['/api/v1/instances', '/.env', '/wp-login.php', '/api/v1/../../etc/passwd', '//']) {
        const headers = { 'x-api-key': 'k'.repeat(60_000), 'x-tenant-id': 't'.repeat(5_000) };
        expect([401, 429]).toContain((await api.send(method, path, { headers, tenant: null })).status);
      }
    }
    expect(look()).toEqual([]);
  });

  it('is looked up a bounded number of times in a second by wrong keys that could be right', async () => {
    const { api, look } = watched();
    const statuses: number[] = [];
    for (let count = 0; count < 200; count += 1) {
      const { status } = await api.call('GET', '/instances', { headers: { 'x-api-key': wrongKey() } });
      statuses.push(status);
    }
    expect(look()).toEqual(Array.from({ length: 50 }, () => 'useApiKey'));
    expect(statuses.slice(50)).toEqual(Array.from({ length: 150 }, () => 429));
  });

  it('is looked up as often when all of them come at once', async () => {
    const { api, look } = watched();
    const calls = Array.from({ length: 200 }, () =>
      api.call('GET', '/instances', { headers: { 'x-api-key': wrongKey() } }),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status).toSorted((a, b) => a - b);
    expect(look()).toEqual(Array.from({ length: 50 }, () => 'useApiKey'));
    expect(statuses).toEqual([...Array(50).fill(401), ...Array(150).fill(429)]);
  });

  it('takes no place when the key proves right, whether it is remembered or not', async () => {
    const { api } = watched();
    const make = async (): Promise<string> => {
      const body = { tenant_id: TENANT };
      return (await api.call('POST', '/api-keys', { headers: ROOT, tenant: null, body })).body.secret;
    };
    const list = async (key: string) =>
      (await api.call('GET', '/instances', { headers: { 'x-api-key': key } })).status;
    const keys = await Promise.all(Array.from({ length: 60 }, make));
    for (const key of keys) expect(await list(key)).toBe(200);
    const [first = ''] = keys;
    api.clock.now += 5_000;
    const again = await Promise.all(Array.from({ length: 200 }, () => list(first)));
    expect(new Set(again)).toEqual(new Set([200]));
  });

  it('is the same one under all addresses of its network', async () => {
    let host = 0;
    const { api, look } = watched(() => `2001:db8:1:2::${((host += 1)).toString(16)}`);
    for (let count = 0; count < 200; count += 1) {
      await api.call('GET', '/instances', { headers: { 'x-api-key': wrongKey() } });
    }
    expect(look()).toHaveLength(50);
  });

  it('does not keep out the keys beside it that were seen, nor by what is no key those that were not', async () => {
    const { api } = watched();
    const make = async (): Promise<string> => {
      const body = { tenant_id: TENANT };
      return (await api.call('POST', '/api-keys', { headers: ROOT, tenant: null, body })).body.secret;
    };
    const [seen, unseen] = [await make(), await make()];
    const list = async (key: string) =>
      (await api.call('GET', '/instances', { headers: { 'x-api-key': key } })).status;
    expect(await list(seen)).toBe(200);
    for (let count = 0; count < 100; count += 1) await list('nonsense');
    expect(await list(unseen)).toBe(200);
    for (let count = 0; count < 100; count += 1) await list(wrongKey());
    expect(await list(seen)).toBe(200);
  });
});

describe('a request that is refused with a valid key', () => {
  const path = `/api/v1/instances/${nextId()}/signals`;
  it.each<[string, string, string, CallOptions, number]>([
    ['for its path', 'POST', '/api/v1/nothing', { body: {} }, 404],
    ['for its method', 'PUT', '/api/v1/instances', { body: {} }, 405],
    ['for its tenant', 'POST', path, { body: {}, tenant: null }, 400],
    ['for its id', 'POST', '/api/v1/instances/nope/signals', { body: {} }, 400],
    ['for its media type', 'POST', path, { raw: '{}', headers: { 'content-type': 'text/plain' } }, 415],
    ['for its size', 'POST', path, { raw: `"${'x'.repeat(5_000)}"` }, 413],
    ['for what is no JSON', 'POST', path, { raw: '{' }, 400],
    ['for its shape', 'POST', path, { body: { signal_type: 7 } }, 422],
    [
      'for its idempotency key',
      'POST',
      path,
      { body: { signal_type: 'pause' }, headers: { 'idempotency-key': 'x'.repeat(300) } },
      400,
    ],
  ])('%s costs nothing', async (_, method, target, options, status) => {
    const { api, look } = watched();
    const headers = { ...ROOT, ...options.headers };
    expect((await api.send(method, target, { ...options, headers })).status).toBe(status);
    expect(look()).toEqual([]);
  });

  it('by the host costs nothing more, and says what the host says', async () => {
    const { store } = createFixture();
    const refusal = { kind: 'unavailable', message: 'no wake', code: 'wake_unavailable' } as const;
    const api = createFixture({}, { store, onAdmitted: () => Promise.resolve(refusal) });
    const before = await api.footprint();
    const { status, body } = await api.call('POST', '/events', {
      body: { event_name: 'e', producer_event_id: '1', correlation_key: 'k', tenant_id: TENANT },
    });
    expect([status, body.code]).toEqual([503, 'wake_unavailable']);
    expect(await api.footprint()).toEqual(before);
  });
});

describe('the host', () => {
  it('is told before the first statement of a write, and of a read as a read', async () => {
    const { api, look } = watched();
    await api.call('GET', '/instances', { headers: ROOT });
    expect(look()[0]).toBe('host: read');
    await published(api, {}, { headers: ROOT });
    const [first, ...others] = look();
    expect(first).toBe('host: write');
    expect(others).not.toContain('host: write');
    expect(others.length).toBeGreaterThan(0);
  });

  it('is told of a webhook when it has proven itself, before it starts anything', async () => {
    const { api, look } = watched();
    const sequence = await published(api, {}, { headers: ROOT });
    const { name } = (await api.call('GET', `/sequences/${sequence}`, { headers: ROOT })).body;
    const trigger = {
      slug: 'desk',
      tenant_id: TENANT,
      namespace: 'fulfilment',
      sequence_name: name,
      trigger_type: 'webhook',
      secret: 'It is a secret to everybody',
      config: { signature: { scheme: 'github' } },
    };
    expect((await api.call('POST', '/triggers', { headers: ROOT, body: trigger })).status).toBe(201);
    look();
    const deliver = (signature: string) =>
      api.send('POST', '/webhooks/desk', {
        raw: '{}',
        tenant: null,
        headers: { 'x-hub-signature-256': signature, 'x-github-delivery': '1', 'x-github-event': 'push' },
      });
    expect((await deliver(`sha256=${'0'.repeat(64)}`)).status).toBe(401);
    expect(look()).toEqual(['getTrigger']);
    const digest = hmacSha256(trigger.secret, new TextEncoder().encode('{}'));
    expect((await deliver(`sha256=${Buffer.from(digest).toString('hex')}`)).status).toBe(202);
    const asked = look();
    expect(asked.slice(0, 2)).toEqual(['getTrigger', 'host: write']);
    expect(asked).toContain('start');
  });

  it('is asked a bounded number of times a second for webhooks that nobody knows', async () => {
    const { api, look } = watched();
    const statuses: number[] = [];
    for (let count = 0; count < 120; count += 1) {
      statuses.push((await api.send('POST', `/webhooks/guess-${count}`, { raw: '{}', tenant: null })).status);
    }
    expect(look()).toEqual(Array.from({ length: 50 }, () => 'getTrigger'));
    expect(statuses.slice(50)).toEqual(Array.from({ length: 70 }, () => 429));
  });

  it('is asked as often when all of them come at once', async () => {
    const { api, look } = watched();
    const calls = Array.from({ length: 120 }, (_, count) =>
      api.send('POST', `/webhooks/guess-${count}`, { raw: '{}', tenant: null }),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status).toSorted((a, b) => a - b);
    expect(look()).toEqual(Array.from({ length: 50 }, () => 'getTrigger'));
    expect(statuses).toEqual([...Array(50).fill(404), ...Array(70).fill(429)]);
  });
});

describe('a stranger who sends slowly', () => {
  it('holds no more than a quarter of the places, and none without a key elsewhere', async () => {
    const api = createFixture({ apiKey: ROOT_KEY, maxConcurrentRequests: 8 });
    const endless = (): CallOptions => ({
      raw: new ReadableStream({ pull: () => new Promise(() => undefined) }),
    });
    void api.send('POST', '/webhooks/a', endless());
    void api.send('POST', '/webhooks/b', endless());
    expect((await api.send('POST', '/webhooks/c', endless())).status).toBe(503);
    for (let count = 0; count < 20; count += 1) {
      expect((await api.send('POST', '/api/v1/instances', endless())).status).toBe(401);
    }
    expect((await api.call('GET', '/instances', { headers: ROOT })).status).toBe(200);
  });
});

describe('who asks after the health of the process', () => {
  it('costs nothing for whether it lives', async () => {
    const { api, look } = watched();
    for (const path of ['/health/live', '/info']) expect((await api.send('GET', path)).status).toBe(200);
    expect(look()).toEqual([]);
  });

  it('costs one look in five seconds for whether it is ready', async () => {
    const { api, look } = watched();
    for (let count = 0; count < 100; count += 1) {
      expect((await api.send('GET', '/health/ready')).status).toBe(200);
    }
    expect(look()).toEqual(['ping']);
    api.clock.now += 5_000;
    await api.send('GET', '/health/ready');
    expect(look()).toEqual(['ping']);
  });
});
