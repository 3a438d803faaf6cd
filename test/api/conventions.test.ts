import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/adapters/memory/store.ts';
import type { ApiSettings } from '../../src/api/api-deps.ts';
import { StoreUnavailable } from '../../src/ports/store/store.ts';
import { nextId } from '../support/turn-builder.ts';
import { wholeReads } from '../support/whole-reads.ts';
import { createFixture, START_MS } from './support/api-fixture.ts';
import { document, published } from './support/documents.ts';

const KEY = 'root-key-of-the-tests';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('paths', () => {
  const api = createFixture();

  it('are found with and without prefix, and the bare form says that it is the older one', async () => {
    const canonical = await api.send('GET', '/api/v1/sequences?limit=5');
    const bare = await api.send('GET', '/sequences?limit=5');
    expect(bare.body).toEqual(canonical.body);
    expect(bare.headers.get('deprecation')).toMatch(/^@\d+$/);
    expect(Date.parse(bare.headers.get('sunset') ?? '')).toBeGreaterThan(Date.parse('2029-01-01'));
    expect(bare.headers.get('link')).toBe('</api/v1/sequences?limit=5>; rel="successor-version"');
    for (const name of ['deprecation', 'sunset', 'link']) expect(canonical.headers.has(name)).toBe(false);
  });

  it('mark the bare form of errors too', async () => {
    const reply = await api.send('GET', `/instances/${nextId()}`);
    expect(reply.status).toBe(404);
    expect(reply.headers.has('deprecation')).toBe(true);
  });

  it('have root forms that are found nowhere else and are not deprecated', async () => {
    for (const path of ['/health/live', '/health/ready', '/info', '/metrics']) {
      const reply = await api.send('GET', path);
      expect(reply.status).toBe(200);
      expect(reply.headers.has('deprecation')).toBe(false);
      expect((await api.send('GET', `/api/v1${path}`)).status).toBe(404);
    }
    expect((await api.send('POST', '/api/v1/webhooks/x', { body: {} })).status).toBe(404);
  });

  it('answer 404 when there is no such path', async () => {
    for (const path of ['/', '/nope', '/api/v1', '/api/v1/instances/x/y/z', '/api/v2/instances']) {
      const reply = await api.send('GET', path);
      expect(reply).toMatchObject({ status: 404, body: { code: 'not_found' } });
      expect(reply.body.error).toMatch(/^not found: /);
    }
  });

  it('answer 405 with the allowed methods, also where a parameter would fit', async () => {
    const cases = [
      ['DELETE', '/instances', 'POST, GET, HEAD'],
      ['PUT', '/instances/dlq', 'GET, HEAD'],
      ['PATCH', `/instances/${nextId()}`, 'GET, HEAD'],
      ['GET', '/instances/batch', 'POST'],
      ['OPTIONS', '/sequences', 'POST, GET, HEAD'],
      ['PROPFIND', '/sequences', 'POST, GET, HEAD'],
    ] as const;
    for (const [method, path, allow] of cases) {
      const reply = await api.send(method, `/api/v1${path}`);
      expect(reply).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
      expect(reply.headers.get('allow')).toBe(allow);
    }
  });

  it('do not obey a header that names another method', async () => {
    const headers = { 'x-http-method-override': 'DELETE' };
    const id = await published(createFixture());
    expect((await api.send('POST', `/api/v1/sequences/${id}`, { headers, body: {} })).status).toBe(405);
  });

  it('take a trailing slash for nothing', async () => {
    expect((await api.send('GET', '/api/v1/sequences/')).status).toBe(200);
    expect((await api.send('GET', '/instances/?limit=1')).status).toBe(200);
  });

  it('answer HEAD as GET without body', async () => {
    const reply = await api.send('HEAD', '/api/v1/sequences');
    expect(reply).toMatchObject({ status: 200, text: '' });
  });

  it.each(['not-a-uuid', '123', '%00', '..%2f..%2fetc', '%252e%252e', 'x'.repeat(5000), `${nextId()};x=y`])(
    'answer 400 for the id %j',
    async (id) => {
      expect((await api.send('GET', `/api/v1/instances/${id}`)).status).toBe(400);
      expect((await api.send('GET', `/api/v1/sequences/${id}`)).status).toBe(400);
    },
  );
});

describe('request ids', () => {
  const api = createFixture();
  const idFor = async (sent: string | undefined) =>
    (
      await api.send('GET', '/health/live', { headers: sent === undefined ? {} : { 'x-request-id': sent } })
    ).headers.get('x-request-id');

  it('are kept without strange characters and echoed', async () => {
    expect(await idFor('abc-DEF_123')).toBe('abc-DEF_123');
    expect(await idFor('a b<c>/é')).toBe('abc');
    expect(await idFor('x'.repeat(300))).toBe('x'.repeat(128));
  });

  it('are made when nothing is left of them', async () => {
    for (const sent of [undefined, '', '<<>>']) expect(await idFor(sent)).toMatch(UUID);
  });

  it('stand in error bodies and on errors of every kind', async () => {
    for (const path of ['/nope', '/api/v1/instances/x']) {
      const reply = await api.send('GET', path, { headers: { 'x-request-id': 'me' } });
      expect(reply.body.request_id).toBe('me');
      expect(reply.headers.get('x-request-id')).toBe('me');
    }
  });
});

describe('bodies', () => {
  const api = createFixture({ maxBodyBytes: 2000 });
  const path = '/api/v1/sequences';

  it.each([
    ['application/json', 201],
    ['application/json; charset=utf-8', 201],
    ['Application/JSON ;charset=UTF-8', 201],
    ['text/plain', 415],
    ['application/jsonx', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=application/json', 415],
  ])('of type %s are answered with %i', async (type, status) => {
    const body = document({ name: type });
    expect((await api.send('POST', path, { body, headers: { 'content-type': type } })).status).toBe(status);
  });

  it('are 400 when they are missing, whatever their type', async () => {
    for (const headers of [{}, { 'content-type': 'text/plain' }]) {
      const reply = await api.send('POST', path, { headers });
      expect(reply).toMatchObject({
        status: 400,
        body: { error: 'invalid argument: the request has no body' },
      });
    }
  });

  it('are 413 above the limit, by their announced length or while they are read', async () => {
    const large = JSON.stringify(document({ name: 'x'.repeat(3000) }));
    expect(await api.send('POST', path, { raw: large })).toMatchObject({
      status: 413,
      body: { code: 'body_too_large', error: 'payload too large: the body exceeds 2000 bytes' },
    });
    const announced = { headers: { 'content-length': '2001' }, raw: '{}' };
    expect((await api.send('POST', path, announced)).status).toBe(413);
  });

  it('that never end are cut off at the limit', async () => {
    let pulled = 0;
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled += 1;
        controller.enqueue(new Uint8Array(100).fill(0x20));
      },
      cancel: () => {
        cancelled = true;
      },
    });
    expect((await api.send('POST', path, { raw: endless })).status).toBe(413);
    expect(pulled).toBeLessThan(40);
    expect(cancelled).toBe(true);
  });

  it('may come in pieces', async () => {
    const bytes = new TextEncoder().encode(JSON.stringify(document({ name: 'in pieces é \u{1f600}' })));
    const pieces = [bytes.subarray(0, 50), bytes.subarray(50, 51), bytes.subarray(51)];
    const raw = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    expect((await api.send('POST', path, { raw })).status).toBe(201);
  });
});

/** A fixture whose store may be changed. */
const changeable = (settings: Partial<ApiSettings> = {}) =>
  createFixture(settings, { store: wholeReads(createMemoryStore({ now: () => START_MS })) });

describe('failures of the server', () => {
  it('are 503 when the database does not answer', async () => {
    const api = changeable();
    api.store.listSequences = () =>
      Promise.reject(new StoreUnavailable('connection refused', { unknown: false }));
    const reply = await api.call('GET', '/sequences');
    expect(reply).toMatchObject({ status: 503, body: { code: 'database_unavailable' } });
    expect(reply.body.error).toBe('unavailable: the database did not answer');
    expect(reply.headers.get('retry-after')).toBe('1');
  });

  it('are 500 with a text that says nothing, and a log that says all', async () => {
    const api = changeable();
    api.store.listSequences = () => Promise.reject(new Error('relation "sequences" does not exist'));
    const reply = await api.call('GET', '/sequences', { headers: { 'x-request-id': 'r-1' } });
    expect(reply).toMatchObject({ status: 500, body: { error: 'internal server error', code: 'internal' } });
    expect(reply.text).not.toContain('relation');
    expect(api.logged.join()).toContain('relation');
    expect(api.logged.join()).toContain('r-1');
  });

  it('are kept away by a cap of requests at once', async () => {
    const api = changeable({ maxConcurrentRequests: 1 });
    let release: (value: never[]) => void = () => undefined;
    const real = { ...api.store };
    api.store.listSequences = () => new Promise((resolve) => (release = resolve));
    const first = api.call('GET', '/sequences');
    await Promise.resolve();
    expect(await api.call('GET', '/sequences')).toMatchObject({
      status: 503,
      body: { code: 'too_many_requests' },
    });
    release([]);
    expect((await first).status).toBe(200);
    Object.assign(api.store, real);
    expect((await api.call('GET', '/sequences')).status).toBe(200);
  });
});

describe('service endpoints', () => {
  it('say why the process should get no traffic', async () => {
    const api = createFixture();
    const ready = async () => (await api.call('GET', '/health/ready')).body;
    expect(await ready()).toEqual({ status: 'ready' });
    api.store.ping = () => Promise.resolve({ now: 0, schemaVersion: 0 });
    api.clock.now += 5_000;
    expect(await ready()).toEqual({ status: 'not_ready', reason: 'migrations_pending' });
    api.store.ping = () => Promise.reject(new StoreUnavailable('gone', { unknown: false }));
    api.clock.now += 1_000;
    expect(await ready()).toEqual({ status: 'not_ready', reason: 'database_unreachable' });
    const service = { version: '0', schemaVersion: 1, notReadyReason: () => 'draining' as const };
    const draining = await createFixture({}, { service }).call('GET', '/health/ready');
    expect(draining).toMatchObject({ status: 503, body: { reason: 'draining' } });
  });

  it('show version and environment', async () => {
    const api = createFixture({ envLabel: 'staging', envColor: '#0b7a75' });
    expect((await api.call('GET', '/info')).body).toEqual({
      version: '0.1.0',
      storage_schema_version: 1,
      contract_schema_version: 1,
      env_label: 'staging',
      env_color: '#0b7a75',
      max_body_bytes: 10_485_760,
    });
  });

  it('export every series with help and type', async () => {
    const { text, headers } = await createFixture().call('GET', '/metrics');
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4');
    const names = [...text.matchAll(/^# TYPE (\w+) (counter|gauge|histogram)$/gm)].map((match) => match[1]);
    expect(new Set(names).size).toBe(24);
    for (const name of names) expect(text).toContain(`# HELP ${name} `);
    expect(text).toContain('\norch8_steps_executed_total 0\n');
    expect(text.endsWith('\n')).toBe(true);
  });
});

describe('calls from browsers', () => {
  it('are allowed from configured origins only', async () => {
    const api = createFixture({ corsOrigins: ['https://app.example.com'], apiKey: KEY });
    const headers = { origin: 'https://app.example.com', 'access-control-request-method': 'POST' };
    const preflight = await api.send('OPTIONS', '/api/v1/instances', { headers, tenant: null });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('x-tenant-id');
    const foreign = { ...headers, origin: 'https://evil.example.com' };
    const refused = await api.send('OPTIONS', '/api/v1/instances', { headers: foreign, tenant: null });
    expect(refused.headers.get('access-control-allow-origin')).toBeNull();
    const plain = await createFixture().send('GET', '/api/v1/instances', { headers });
    expect(plain.headers.has('access-control-allow-origin')).toBe(false);
  });
});
