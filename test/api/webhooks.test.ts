import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ApiFixture, createFixture, START_MS, TENANT } from './support/api-fixture.ts';
import { published } from './support/documents.ts';

const SECRET = "It's a Secret to Everybody";
const NOW_SECS = START_MS / 1000;

let api: ApiFixture;
beforeEach(async () => {
  api = createFixture();
  await published(api);
});

async function trigger(overrides: object = {}): Promise<void> {
  const body = {
    slug: 'hook',
    sequence_name: 'parcel-return',
    tenant_id: TENANT,
    namespace: 'fulfilment',
    secret: SECRET,
    ...overrides,
  };
  const reply = await api.call('POST', '/triggers', { body });
  expect(reply.status).toBe(201);
}

const deliver = (raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>, slug = 'hook') =>
  api.call('POST', `/webhooks/${slug}`, { raw, headers, tenant: null });

function signed(raw: string, overrides: { timestamp?: string; nonce?: string; secret?: string } = {}) {
  const { timestamp = String(NOW_SECS), nonce = 'nonce-nonce-nonce', secret = SECRET } = overrides;
  const signature = createHmac('sha256', secret).update(`${timestamp}.${nonce}.${raw}`).digest('base64url');
  return {
    'x-trigger-timestamp': timestamp,
    'x-trigger-nonce': nonce,
    'x-orch8-signature': `v1=${signature}`,
  };
}

const instances = async () => (await api.call('GET', '/instances')).body.items;

describe('a webhook of our own scheme', () => {
  beforeEach(() => trigger());

  it('starts an instance with its body as data', async () => {
    const reply = await deliver('{"a":1}', signed('{"a":1}'));
    expect(reply.status).toBe(202);
    expect(reply.body).toEqual({ instance_id: expect.any(String), trigger: 'hook' });
    expect((await instances())[0]).toMatchObject({
      id: reply.body.instance_id,
      context: { data: { a: 1 }, config: {} },
      metadata: { _trigger: 'hook', _trigger_type: 'webhook', _trigger_event: { source: 'public_webhook' } },
    });
  });

  it('accepts a nonce once, and again when it has been forgotten', async () => {
    expect((await deliver('{}', signed('{}'))).status).toBe(202);
    expect((await deliver('{}', signed('{}'))).status).toBe(401);
    expect(await instances()).toHaveLength(1);
    api.clock.now += 361_000;
    const later = signed('{}', { timestamp: String(NOW_SECS + 361) });
    expect((await deliver('{}', later)).status).toBe(202);
  });

  const altered: readonly (readonly [string, Record<string, string | undefined>])[] = [
    ['no timestamp', { 'x-trigger-timestamp': undefined }],
    ['no nonce', { 'x-trigger-nonce': undefined }],
    ['no signature', { 'x-orch8-signature': undefined }],
    ['an empty signature', { 'x-orch8-signature': '' }],
    ['a bare version', { 'x-orch8-signature': 'v1=' }],
    ['another version', { 'x-orch8-signature': signed('{}')['x-orch8-signature'].replace('v1=', 'v0=') }],
    ['a padded signature', { 'x-orch8-signature': `${signed('{}')['x-orch8-signature']}=` }],
    ['a cut signature', { 'x-orch8-signature': signed('{}')['x-orch8-signature'].slice(0, -1) }],
    ['an endless signature', { 'x-orch8-signature': `v1=${'A'.repeat(8000)}` }],
    [
      'a signature in hex',
      { 'x-orch8-signature': `v1=${createHmac('sha256', SECRET).update('x').digest('hex')}` },
    ],
    ['another secret', signed('{}', { secret: 'other' })],
    ['the signature of another body', signed('{"a":1}')],
    ['a timestamp that is too old', signed('{}', { timestamp: String(NOW_SECS - 301) })],
    ['a timestamp from the future', signed('{}', { timestamp: String(NOW_SECS + 61) })],
    ['a timestamp that is no number', signed('{}', { timestamp: 'now' })],
    ['a timestamp with an exponent', signed('{}', { timestamp: '1e30' })],
    ['a negative timestamp', signed('{}', { timestamp: '-1' })],
    ['a short nonce', signed('{}', { nonce: 'n'.repeat(15) })],
    ['a long nonce', signed('{}', { nonce: 'n'.repeat(129) })],
    ['a nonce with a blank', signed('{}', { nonce: 'nonce nonce nonce' })],
  ];

  it.each(altered)('is 401 with %s', async (_name, headers) => {
    const reply = await deliver('{}', withHeaders({ ...signed('{}'), ...headers, 'x-request-id': 'r' }));
    expect(reply.status).toBe(401);
    expect(reply.body).toEqual({ error: 'unauthorized', code: 'unauthorized', request_id: 'r' });
    expect(await instances()).toEqual([]);
  });

  it('is taken at both ends of the time window', async () => {
    for (const [index, at] of [NOW_SECS - 300, NOW_SECS + 60].entries()) {
      const headers = signed('{}', { timestamp: String(at), nonce: `nonce-${index}-nonce-nonce` });
      expect((await deliver('{}', headers)).status).toBe(202);
    }
  });

  it('is 400 when a header of the proof comes twice', async () => {
    const headers = signed('{}');
    const twice = `${headers['x-orch8-signature']}, ${headers['x-orch8-signature']}`;
    expect((await deliver('{}', { ...headers, 'x-orch8-signature': twice })).status).toBe(400);
  });

  it('is parsed only after it was verified', async () => {
    expect((await deliver('{', signed('{}'))).status).toBe(401);
    expect((await deliver('{', signed('{'))).status).toBe(400);
    expect(
      (await deliver('{"a":1e400}', signed('{"a":1e400}', { nonce: 'another-nonce-here' }))).status,
    ).toBe(422);
    expect(await instances()).toEqual([]);
  });

  it('may try its nonce again after it was refused for its body', async () => {
    expect((await deliver('{', signed('{'))).status).toBe(400);
    expect((await deliver('{}', signed('{}'))).status).toBe(202);
  });

  it('is verified over bytes, not over text', async () => {
    const raw = '{"name":"Zoë \u{1f600}"}';
    expect((await deliver(raw, signed(raw))).status).toBe(202);
    expect((await instances())[0].context.data).toEqual({ name: 'Zoë \u{1f600}' });
  });
});

describe('a webhook of GitHub', () => {
  beforeEach(() => trigger({ config: { signature: { scheme: 'github' } } }));

  const github = (raw: string, overrides: Record<string, string | undefined> = {}) =>
    withHeaders({
      'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(raw).digest('hex')}`,
      'x-github-event': 'push',
      'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      ...overrides,
    });

  it('knows the published example of a signature', async () => {
    const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
    const reply = await deliver('Hello, World!', github('', { 'x-hub-signature-256': signature }));
    // The text is verified, and is no JSON.
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
  });

  it('starts an instance that can route on the event', async () => {
    const reply = await deliver('{"ref":"main"}', github('{"ref":"main"}'));
    expect(reply.status).toBe(202);
    const deliveryId = '72d3162e-cc78-11e3-81ab-4c9367dc0958';
    expect((await instances())[0]).toMatchObject({
      context: {
        data: { ref: 'main' },
        config: { _trigger: { event: 'push', delivery_id: deliveryId, slug: 'hook' } },
      },
      metadata: {
        _trigger_event: { source: 'public_webhook', github_event: 'push', delivery_id: deliveryId },
      },
    });
  });

  it('answers a repeated delivery with the first instance', async () => {
    const first = await deliver('{}', github('{}'));
    const again = await deliver('{}', github('{}'));
    expect(again).toMatchObject({ status: 202, body: first.body });
    const other = await deliver('{}', github('{}', { 'x-github-delivery': 'other' }));
    expect(other.body.instance_id).not.toBe(first.body.instance_id);
    expect(await instances()).toHaveLength(2);
  });

  it.each([
    ['no signature', { 'x-hub-signature-256': undefined }, 401],
    ['the older signature only', { 'x-hub-signature-256': undefined, 'x-hub-signature': 'sha1=00' }, 401],
    ['upper-case hex', { 'x-hub-signature-256': github('{}')['x-hub-signature-256']?.toUpperCase() }, 401],
    ['a signature that is too short', { 'x-hub-signature-256': 'sha256=00' }, 401],
    ['no delivery id', { 'x-github-delivery': undefined }, 400],
    ['no event', { 'x-github-event': undefined }, 400],
  ])('with %s is refused', async (_name, headers, status) => {
    expect((await deliver('{}', github('{}', headers))).status).toBe(status);
    expect(await instances()).toEqual([]);
  });
});

describe('a public webhook', () => {
  it('is 404 for an unknown slug, another type, or a disabled trigger', async () => {
    await trigger({ slug: 'event', trigger_type: 'event' });
    await trigger({ slug: 'off', enabled: false });
    for (const slug of ['none', 'event', 'off']) {
      expect((await deliver('{}', signed('{}'), slug)).status).toBe(404);
    }
  });

  it('is 401 for a trigger without secret', async () => {
    await trigger({ secret: null });
    expect((await deliver('{}', signed('{}', { secret: '' }))).status).toBe(401);
  });

  it('is 413 above its own limit, before the slug is looked at', async () => {
    const raw = `"${'x'.repeat(1024 * 1024)}"`;
    expect((await deliver(raw, signed(raw), 'none')).status).toBe(413);
  });

  it('is 429 above the rate of its peer and slug, before its body is read', async () => {
    api = createFixture({ webhookRatePerSec: 3 });
    const statuses: number[] = [];
    for (let count = 0; count < 4; count += 1) statuses.push((await deliver('{}', {}, 'busy')).status);
    expect(statuses).toEqual([404, 404, 404, 429]);
    const body = new ReadableStream({ pull: () => Promise.reject(new Error('read')) });
    const refused = await api.call('POST', '/webhooks/busy', { raw: body, tenant: null });
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await deliver('{}', {}, 'calm')).status).toBe(404);
    api.clock.now += 1000;
    expect((await deliver('{}', {}, 'busy')).status).toBe(404);
  });

  it('counts by whom a trusted proxy names, and by the proxy where none is trusted', async () => {
    const statuses = async (trustedProxies: readonly string[]) => {
      api = createFixture({ webhookRatePerSec: 1, trustedProxies });
      const from = (address: string) => deliver('{}', { 'x-forwarded-for': address }, 'busy');
      const answers = [await from('192.0.2.1'), await from('192.0.2.2'), await from('1.1.1.1, 192.0.2.2')];
      return answers.map(({ status }) => status);
    };
    expect(await statuses([])).toEqual([404, 429, 429]);
    expect(await statuses(['192.0.2.7/32'])).toEqual([404, 404, 429]);
  });

  it('needs neither key nor tenant, and checks the start like any other', async () => {
    api = createFixture({ apiKey: 'k' });
    const headers = { 'x-api-key': 'k' };
    const schema = { type: 'object', required: ['a'] };
    await published(api, { input_schema: schema }, { headers });
    const body = {
      slug: 'hook',
      sequence_name: 'parcel-return',
      tenant_id: TENANT,
      namespace: 'fulfilment',
      secret: SECRET,
    };
    await api.call('POST', '/triggers', { body, headers });
    expect((await deliver('{}', signed('{}'))).status).toBe(422);
    expect((await deliver('{"a":1}', signed('{"a":1}'))).status).toBe(202);
  });

  it('is POST only', async () => {
    expect((await api.send('GET', '/webhooks/hook?challenge=x')).status).toBe(405);
  });
});

function withHeaders(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
