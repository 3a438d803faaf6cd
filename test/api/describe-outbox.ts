import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { checkStandardSignature } from '../../src/core/webhook-schemes.ts';
import type { OutboundRequest, OutboundResult } from '../../src/ports/effects.ts';
import { nextId } from '../support/turn-builder.ts';
import { type Body, OTHER_TENANT, TENANT } from './support/api-fixture.ts';
import { type BackendName, useBackend } from './support/backends.ts';
import { published, startBody } from './support/documents.ts';
import { createLiveApi, type LiveApi, type LiveHost } from './support/live-api.ts';

const SECRET = 'whsec_c2VjcmV0LW9mLXRoZS10ZXN0cw==';
const URLS = ['https://a.example.com/hooks', 'https://b.example.com/hooks'];

interface Received {
  readonly at: number;
  readonly request: OutboundRequest;
}

const answer = (status: number, text = ''): OutboundResult => ({
  ok: true,
  status,
  headers: [],
  body: new TextEncoder().encode(text),
});

/** Registers the tests of outgoing webhooks over one kind of store (http-api.md 21, acceptance G25). */
export function describeOutboxOverHttp(backendName: BackendName): void {
  const backend = useBackend(backendName);
  let api: LiveApi;
  let received: Received[] = [];
  let answers: (request: OutboundRequest) => OutboundResult = () => answer(200);
  let before: (request: OutboundRequest) => Promise<void> = () => Promise.resolve();
  afterEach(async () => {
    await api.stop();
  });

  const open = async (webhooks: object = {}, settings: object = {}): Promise<void> => {
    received = [];
    answers = () => answer(200);
    before = () => Promise.resolve();
    const standard = { urls: URLS.slice(0, 1), secret: SECRET, timeoutMs: 10_000, maxRetries: 3 };
    const host: LiveHost = {
      engine: { webhooks: { ...standard, cancelled: false, ...webhooks } },
      webhookClient: {
        send: async (request) => {
          await before(request);
          received.push({ at: api.time.now, request });
          return answers(request);
        },
      },
    };
    api = createLiveApi(await backend.fresh(), settings, host);
  };
  const run = async (handler: string, overrides: object = {}, end = 'completed'): Promise<string> => {
    const params = handler === 'fail' ? { params: { message: 'no' } } : {};
    const blocks = [{ type: 'step', id: 's', handler, ...params }];
    const sequence = await published(api as never, { name: `s-${nextId()}`, blocks });
    const body = startBody(sequence, { ...overrides });
    const started = await api.call('POST', '/instances', { body });
    if (end !== '') await api.until(started.body.id, end);
    return started.body.id as string;
  };
  const get = async (path: string, options: object = {}): Promise<Body> =>
    (await api.call('GET', path, options)).body;
  const bodyOf = ({ request }: Received): Body => JSON.parse(String(request.body));
  const headersOf = ({ request }: Received): Readonly<Record<string, string>> =>
    Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value]));
  const metric = async (name: string): Promise<number> =>
    Number(
      new RegExp(`^orch8_webhooks_${name}_total (\\d+)$`, 'm').exec(
        (await api.call('GET', '/metrics')).text,
      )?.[1],
    );

  describe('outgoing webhooks over HTTP', () => {
    it('tell each target of an end once, signed over time and body in both schemes [INS-14]', async () => {
      await open({ urls: URLS });
      const id = await run('noop');
      await api.time.pass(1000);
      expect(received.map(({ request }) => request.url).toSorted()).toEqual(URLS);
      for (const one of received) {
        const headers = headersOf(one);
        const body = String(one.request.body);
        expect(JSON.parse(body)).toEqual({
          event_type: 'instance.completed',
          instance_id: id,
          timestamp: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
          data: {
            tenant_id: TENANT,
            namespace: 'fulfilment',
            sequence_id: expect.any(String),
            state: 'completed',
          },
        });
        const mac = createHmac('sha256', SECRET)
          .update(`${headers['x-orch8-timestamp']}.${body}`)
          .digest('hex');
        expect(headers['x-orch8-signature']).toBe(`sha256=${mac}`);
        const proof = {
          id: headers['webhook-id'],
          timestamp: headers['webhook-timestamp'],
          signature: headers['webhook-signature'],
        };
        const bytes = new TextEncoder().encode(body);
        expect(checkStandardSignature(SECRET, bytes, proof, api.time.now)).toBe(true);
        expect(one.request).toMatchObject({ method: 'POST', timeoutMs: 10_000 });
        expect(headers['content-type']).toBe('application/json');
      }
      expect(await get('/webhooks/outbox')).toEqual([]);
      expect(await metric('sent')).toBe(2);
    });

    it('a receiver that answers 500 for ever: 4 tries after 0, 0.5, 1, 2 s, then parked; redelivery removes it (G25)', async () => {
      await open();
      answers = () => answer(500, 'on fire, Bearer abc.def');
      const id = await run('fail', {}, 'failed');
      await api.time.pass(60_000);
      const [first = 0] = received.map(({ at }) => at);
      expect(received.map(({ at }) => at - first)).toEqual([0, 500, 1500, 3500]);
      expect(bodyOf(received[0] as Received)).toMatchObject({
        event_type: 'instance.failed',
        instance_id: id,
      });
      const [parked] = await get('/webhooks/outbox');
      expect(parked).toMatchObject({
        ...{ url: URLS[0], event_type: 'instance.failed', instance_id: id, status: 'parked', attempts: 4 },
        ...{ delivery_id: parked.id, last_error: 'status 500: on fire, [REDACTED]' },
      });
      expect([await metric('failed'), await metric('parked'), await metric('sent')]).toEqual([4, 1, 0]);
      const path = `/webhooks/outbox/${parked.id}`;
      expect(await get(`${path}/redeliver-preview`)).toEqual({
        ...{ url: URLS[0], event_type: 'instance.failed', will_be_signed: true },
        payload_bytes: JSON.stringify(parked.payload).length,
        ...{ previous_delivery_id: parked.id, previous_attempts: 4, last_error: parked.last_error },
      });
      expect(received).toHaveLength(4);
      const refused = await api.call('POST', `${path}/redeliver`);
      expect(refused).toMatchObject({ status: 502, body: { code: 'bad_gateway' } });
      expect(refused.body.error).toMatch(/^bad gateway: /);
      expect(await get('/webhooks/outbox')).toMatchObject([{ id: parked.id, attempts: 5 }]);
      expect(await metric('parked')).toBe(1);
      answers = () => answer(204);
      expect(await api.call('POST', `${path}/redeliver`)).toMatchObject({
        status: 200,
        body: { redelivered: true, delivery_id: parked.id },
      });
      expect(await get('/webhooks/outbox')).toEqual([]);
      expect((await api.call('POST', `${path}/redeliver`)).status).toBe(404);
      expect((await api.call('GET', `${path}/redeliver-preview`)).status).toBe(404);
      expect(await get('/webhooks/deliveries')).toMatchObject([
        { delivery_id: parked.id, attempts: 6, delivered: true, last_error_class: 'http_status' },
      ]);
      const attempts = await get(`/webhooks/deliveries/${parked.id}`);
      expect(attempts.map(({ attempt_number: n, success }: Body) => [n, success])).toEqual([
        [1, false],
        [2, false],
        [3, false],
        [4, false],
        [5, false],
        [6, true],
      ]);
      expect(attempts[0]).toMatchObject({ status_code: 500, error_class: 'http_status', signed: true });
      const ids = new Set(received.map((one) => headersOf(one)['webhook-id']));
      expect([...ids]).toEqual([parked.id]);
    });

    it.each([
      ['404', answer(404), 1, 'http_status'],
      ['408', answer(408), 4, 'http_status'],
      ['429', answer(429), 4, 'http_status'],
      ['a private target', { ok: false, reason: 'blocked', message: 'blocked' }, 1, 'internal_policy'],
      [
        'a redirect to a private address',
        { ok: false, reason: 'blocked', message: 'blocked', code: 'redirect' },
        1,
        'redirect_rejected',
      ],
      ['silence', { ok: false, reason: 'timeout', message: 'no answer' }, 4, 'timeout'],
      [
        'a bad certificate',
        { ok: false, reason: 'network', message: 'x', code: 'CERT_HAS_EXPIRED' },
        4,
        'tls',
      ],
      ['no listener', { ok: false, reason: 'network', message: 'x', code: 'ECONNREFUSED' }, 4, 'connect'],
      ['an unknown host', { ok: false, reason: 'dns', message: 'x' }, 4, 'dns'],
      ['an endless answer', { ok: false, reason: 'too_large', message: 'x' }, 1, 'response_too_large'],
    ] as const)('%s: parked after the right number of tries', async (_, result, tries, errorClass) => {
      await open();
      answers = () => result;
      await run('noop');
      await api.time.pass(60_000);
      expect(received).toHaveLength(tries);
      expect(await get('/webhooks/outbox')).toMatchObject([{ status: 'parked', attempts: tries }]);
      expect(await get(`/webhooks/deliveries?error_class=${errorClass}&delivered=false`)).toHaveLength(1);
    });

    it('tell of a cancel only where that was asked for, and of dry runs never [DRY-4]', async () => {
      await open();
      const cancel = async () => {
        const id = await run('parcel_lookup', {}, 'waiting');
        await api.call('PATCH', `/instances/${id}/state`, { body: { state: 'cancelled' } });
        await api.until(id, 'cancelled');
        await api.time.pass(5000);
      };
      await cancel();
      await run('noop', { dry_run: true });
      await api.time.pass(5000);
      expect(received).toEqual([]);
      await api.stop();
      await open({ cancelled: true });
      await cancel();
      expect(received.map(bodyOf)).toMatchObject([{ event_type: 'instance.cancelled' }]);
    });

    it('go out without signature when there is no secret, and nothing is queued without targets', async () => {
      await open({ secret: null });
      await run('noop');
      await api.time.pass(1000);
      const headers = headersOf(received[0] as Received);
      expect(headers).not.toHaveProperty('x-orch8-signature');
      expect(headers).not.toHaveProperty('webhook-signature');
      expect(headers['webhook-id']).toBeDefined();
      await api.stop();
      await open({ urls: [] });
      await run('noop');
      await api.time.pass(5000);
      expect(received).toEqual([]);
      expect(await api.store.listWebhookOutbox(null, 'pending', 10)).toEqual([]);
    });

    it('a secret that no receiver could use is said so, and nothing is sent', async () => {
      await open({ secret: 'whsec_%%%' });
      await run('noop');
      await api.time.pass(1000);
      expect(received).toEqual([]);
      const found = await get('/webhooks/deliveries?error_class=signature_configuration');
      expect(found).toMatchObject([{ attempts: 1, delivered: false }]);
    });

    it('are the business of administrators, each of whom sees the tenant of the call', async () => {
      const root = { headers: { 'x-api-key': 'root-key-of-the-tests' } };
      await open({}, { apiKey: 'root-key-of-the-tests' });
      answers = () => answer(400);
      const blocks = [{ type: 'step', id: 's', handler: 'noop' }];
      const sequence = await published(api as never, { name: `s-${nextId()}`, blocks }, root);
      const { id } = (await api.call('POST', '/instances', { ...root, body: startBody(sequence) })).body;
      await api.time.pass(5000);
      const made = await api.call('POST', '/api-keys', { ...root, body: { tenant_id: TENANT } });
      const key = { headers: { 'x-api-key': made.body.secret } };
      const [parked] = await get('/webhooks/outbox', root);
      expect(parked.instance_id).toBe(id);
      const paths = [
        ['GET', '/webhooks/outbox'],
        ['POST', `/webhooks/outbox/${parked.id}/redeliver`],
        ['GET', `/webhooks/outbox/${parked.id}/redeliver-preview`],
        ['DELETE', `/webhooks/outbox/${parked.id}`],
        ['GET', '/webhooks/deliveries'],
        ['GET', `/webhooks/deliveries/${parked.id}`],
      ] as const;
      for (const [method, path] of paths) {
        expect(await api.call(method, path, key)).toMatchObject({
          status: 403,
          body: { code: 'admin_only' },
        });
      }
      const other = { ...root, tenant: OTHER_TENANT };
      expect(await get('/webhooks/outbox', other)).toEqual([]);
      expect(await get('/webhooks/deliveries', other)).toEqual([]);
      expect((await api.call('GET', `/webhooks/deliveries/${parked.id}`, other)).status).toBe(404);
      expect((await api.call('POST', `/webhooks/outbox/${parked.id}/redeliver`, other)).status).toBe(404);
      expect((await api.call('DELETE', `/webhooks/outbox/${parked.id}`, other)).status).toBe(204);
      expect(await get('/webhooks/outbox', root)).toHaveLength(1);
      expect((await api.call('DELETE', `/webhooks/outbox/${parked.id}`, root)).status).toBe(204);
      expect((await api.call('DELETE', `/webhooks/outbox/${parked.id}`, root)).status).toBe(204);
      expect(await get('/webhooks/outbox', root)).toEqual([]);
      expect((await api.call('GET', '/webhooks/deliveries?error_class=bad', root)).status).toBe(400);
      expect((await api.call('GET', '/webhooks/deliveries?limit=0', root)).status).toBe(400);
      expect((await api.call('GET', '/webhooks/outbox?limit=-1', root)).status).toBe(400);
      expect((await api.call('GET', '/webhooks/deliveries/nonsense', root)).status).toBe(400);
    });

    it('a target that is slow holds up no other one, and a burst reaches all of them', async () => {
      await open({ urls: URLS });
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      before = ({ url }) => (url === URLS[0] ? held : Promise.resolve());
      for (let n = 0; n < 20; n += 1) await run('noop');
      await api.time.pass(5000);
      expect(received.filter(({ request }) => request.url === URLS[1])).toHaveLength(20);
      expect(received.filter(({ request }) => request.url === URLS[0])).toHaveLength(0);
      release();
      await api.time.pass(5000);
      expect(received.filter(({ request }) => request.url === URLS[0])).toHaveLength(20);
    });
  });
}
