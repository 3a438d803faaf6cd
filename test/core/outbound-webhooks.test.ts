import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { webhookHeaders } from '../../src/core/outbound-webhooks.ts';

/** The example of the Standard Webhooks specification. */
const PUBLISHED = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestampSecs: 1_614_265_330,
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

const headersOf = (secret: string | null, message: Parameters<typeof webhookHeaders>[1]) => {
  const headers = webhookHeaders(secret, message);
  if (!headers.ok) throw new Error(headers.error);
  return Object.fromEntries(headers.value);
};

describe('the headers of outgoing webhooks', () => {
  it('have the published signature of Standard Webhooks', () => {
    expect(headersOf(PUBLISHED.secret, PUBLISHED)).toMatchObject({
      'webhook-id': PUBLISHED.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': PUBLISHED.signature,
    });
  });

  it('sign time and body with the secret as it is written, in hex', () => {
    const { secret, body, timestampSecs } = PUBLISHED;
    const mac = createHmac('sha256', secret).update(`${timestampSecs}.${body}`).digest('hex');
    expect(headersOf(secret, PUBLISHED)).toMatchObject({
      'X-Orch8-Timestamp': '1614265330',
      'X-Orch8-Signature': `sha256=${mac}`,
    });
  });

  it('sign what is no base64 with the bytes of the text', () => {
    const secret = 'pässword!';
    const { id, timestampSecs, body } = PUBLISHED;
    const mac = createHmac('sha256', secret).update(`${id}.${timestampSecs}.${body}`).digest('base64');
    expect(headersOf(secret, PUBLISHED)).toMatchObject({ 'webhook-signature': `v1,${mac}` });
  });

  it('sign the bytes of a body that is not ASCII', () => {
    const message = { ...PUBLISHED, body: '{"name":"Žofie 🚀"}' };
    const mac = createHmac('sha256', 'k!').update(`${message.timestampSecs}.${message.body}`).digest('hex');
    expect(headersOf('k!', message)).toMatchObject({ 'X-Orch8-Signature': `sha256=${mac}` });
  });

  it('name the message but sign nothing without a secret', () => {
    expect(headersOf(null, PUBLISHED)).toEqual({
      'Content-Type': 'application/json',
      'webhook-id': PUBLISHED.id,
      'webhook-timestamp': '1614265330',
    });
  });

  it('are refused for a secret that says it is base64 and is not', () => {
    expect(webhookHeaders('whsec_%%%', PUBLISHED)).toMatchObject({ ok: false });
  });
});
