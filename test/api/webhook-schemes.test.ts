import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ApiFixture, createFixture, type Reply, START_MS, TENANT } from './support/api-fixture.ts';
import { published } from './support/documents.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const NOW = START_MS / 1000;

let api: ApiFixture;
beforeEach(async () => {
  api = createFixture();
  await published(api);
});

async function trigger(scheme: string, overrides: object = {}): Promise<Reply> {
  const body = {
    ...{ slug: scheme, sequence_name: 'parcel-return', tenant_id: TENANT, namespace: 'fulfilment' },
    ...{ secret: SECRET, config: { signature: { scheme } }, ...overrides },
  };
  return api.call('POST', '/triggers', { body });
}

const hmac = (key: string | Buffer, message: string, form: 'hex' | 'base64'): string =>
  createHmac('sha256', key).update(message).digest(form);

type Sign = (raw: string, at?: number, id?: string) => Record<string, string>;
const SIGN: Readonly<Record<string, Sign>> = {
  standard: (raw, at = NOW, id = 'msg_1') => ({
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${hmac(Buffer.from(SECRET.slice(6), 'base64'), `${id}.${at}.${raw}`, 'base64')}`,
  }),
  stripe: (raw, at = NOW) => ({ 'stripe-signature': `t=${at},v1=${hmac(SECRET, `${at}.${raw}`, 'hex')}` }),
  slack: (raw, at = NOW) => ({
    'x-slack-request-timestamp': String(at),
    'x-slack-signature': `v0=${hmac(SECRET, `v0:${at}:${raw}`, 'hex')}`,
  }),
};
const sign = (scheme: string, raw: string, at?: number, id?: string): Record<string, string> =>
  SIGN[scheme]?.(raw, at, id) ?? {};

const deliver = (slug: string, raw: string, headers: Record<string, string>): Promise<Reply> =>
  api.call('POST', `/webhooks/${slug}`, { raw, headers, tenant: null });
const count = async (): Promise<number> => (await api.call('GET', '/instances')).body.items.length;

describe.each(['standard', 'stripe', 'slack'])('a webhook of the scheme %s', (scheme) => {
  const raw = '{"id":"evt_1","event_id":"Ev1","type":"charge"}';
  beforeEach(async () => {
    await trigger(scheme);
  });

  it('starts an instance with its body as data', async () => {
    expect((await deliver(scheme, raw, sign(scheme, raw))).status).toBe(202);
    const { items } = (await api.call('GET', '/instances')).body;
    expect(items[0]).toMatchObject({
      context: { data: JSON.parse(raw) },
      metadata: {
        _trigger: scheme,
        _trigger_event: { source: 'public_webhook', delivery_id: expect.any(String) },
      },
    });
  });

  it('answers a repeat of its delivery within 7 days with the first instance (RULINGS B21)', async () => {
    const first = await deliver(scheme, raw, sign(scheme, raw));
    api.clock.now += 6 * 86_400_000;
    const later = api.clock.now / 1000;
    expect((await deliver(scheme, raw, sign(scheme, raw, later))).body).toEqual(first.body);
    expect(await count()).toBe(1);
    const other = '{"id":"evt_2","event_id":"Ev2"}';
    expect((await deliver(scheme, other, sign(scheme, other, later, 'msg_2'))).status).toBe(202);
    expect(await count()).toBe(2);
  });

  it('without proof, with another body or at another time answers 401 alike and starts nothing (X63, X65)', async () => {
    const refused = [
      await deliver(scheme, raw, {}),
      await deliver(scheme, '{"id":"evt_9"}', sign(scheme, raw)),
      await deliver(scheme, raw, sign(scheme, raw, NOW - 301)),
      await deliver(scheme, raw, sign(scheme, raw, NOW + 301)),
    ];
    for (const reply of refused) {
      expect(reply.status).toBe(401);
      expect(reply.body.error).toBe(refused[0]?.body.error);
    }
    expect(await count()).toBe(0);
  });

  it('with a right signature and no JSON answers 400', async () => {
    expect((await deliver(scheme, 'a=b', sign(scheme, 'a=b'))).status).toBe(400);
  });
});

describe('schemes', () => {
  it('answer Slack’s question for the address as plain text and start nothing (X75)', async () => {
    await trigger('slack');
    const raw = '{"type":"url_verification","challenge":"<script>1</script>"}';
    const reply = await deliver('slack', raw, sign('slack', raw));
    expect([reply.status, reply.text]).toEqual([200, '<script>1</script>']);
    expect(reply.headers.get('content-type')).toContain('text/plain');
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await deliver('slack', raw, {})).status).toBe(401);
    expect(await count()).toBe(0);
  });

  it('refuse repeated headers with 400 (X71)', async () => {
    await trigger('slack');
    await trigger('standard');
    const slack = sign('slack', '{}');
    const doubled = { ...slack, 'x-slack-request-timestamp': `${NOW}, ${NOW}` };
    expect((await deliver('slack', '{}', doubled)).status).toBe(400);
    const standard = { ...sign('standard', '{}'), 'webhook-id': 'msg_1, msg_2' };
    expect((await deliver('standard', '{}', standard)).status).toBe(400);
  });

  it('are known by name, and a secret must fit its scheme', async () => {
    expect(await trigger('paypal')).toMatchObject({
      status: 400,
      body: { code: 'unknown_signature_scheme' },
    });
    expect((await trigger('standard', { secret: 'not base64!' })).status).toBe(400);
  });
});
