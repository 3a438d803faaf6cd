import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  checkSlackSignature,
  checkStandardSignature,
  checkStripeSignature,
} from '../../src/core/webhook-schemes.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('Standard Webhooks', () => {
  // The vector that the reference implementations share.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body = bytes('{"test": 2432232314}');
  const proof = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: '1614265330',
    signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const now = 1_614_265_330_000;
  const check = (
    overrides: Partial<Record<keyof typeof proof, string | undefined>> = {},
    at = now,
  ): boolean => checkStandardSignature(secret, body, { ...proof, ...overrides }, at);

  it('takes the published vector, with the secret in both spellings', () => {
    expect(check()).toBe(true);
    expect(checkStandardSignature(secret.slice('whsec_'.length), body, proof, now)).toBe(true);
  });

  it('takes any right one of up to ten signatures (X67)', () => {
    expect(check({ signature: `v1,bm9wZQ== v1a,AAAA ${proof.signature}` })).toBe(true);
    expect(check({ signature: `${'v1,bm9wZQ== '.repeat(9)}${proof.signature}` })).toBe(true);
    expect(check({ signature: `${'v1,bm9wZQ== '.repeat(10)}${proof.signature}` })).toBe(false);
  });

  it.each([undefined, '', 'v1,', 'v1', 'v0,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='])(
    'refuses the signature %j (X63, X69)',
    (signature) => {
      expect(check({ signature })).toBe(false);
    },
  );

  it('refuses signatures that are cut, in hex, unpadded or in the other alphabet (X67)', () => {
    const hex = Buffer.from(proof.signature.slice(3), 'base64').toString('hex');
    for (const text of [
      proof.signature.slice(0, -2),
      `${proof.signature}A`,
      `v1,${hex}`,
      proof.signature.replace('=', ''),
      proof.signature.replace('+', '-').replace('/', '_'),
    ]) {
      expect(check({ signature: text })).toBe(false);
    }
  });

  it('refuses another body, id and secret, and times beyond 300 s in both directions (X65)', () => {
    expect(checkStandardSignature(secret, bytes('{}'), proof, now)).toBe(false);
    expect(checkStandardSignature('whsec_AAAA', body, proof, now)).toBe(false);
    expect(checkStandardSignature('not base64', body, proof, now)).toBe(false);
    expect(check({ id: 'msg_other' })).toBe(false);
    expect(check({ id: undefined })).toBe(false);
    expect([check({}, now + 300_000), check({}, now - 300_000)]).toEqual([true, true]);
    expect([check({}, now + 301_000), check({}, now - 301_000)]).toEqual([false, false]);
    for (const timestamp of [undefined, '', '1e30', '-1', '1614265330.0', ' 1614265330'])
      expect(check({ timestamp })).toBe(false);
  });
});

describe('Slack', () => {
  // The example of Slack's own documentation.
  const secret = '8f742231b10e8888abcd99yyyzzz85a5';
  const body = bytes(
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar' +
      '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com' +
      '%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a1' +
      '4d10d2c447fce8b6703c',
  );
  const signature = 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503';
  const proof = { timestamp: '1531420618', signature };
  const now = 1_531_420_618_000;

  it('takes the published vector', () => {
    expect(checkSlackSignature(secret, body, proof, now)).toBe(true);
  });

  it('refuses what is old or ahead, other versions and other bodies (X65, X69)', () => {
    for (const at of [now + 301_000, now - 301_000])
      expect(checkSlackSignature(secret, body, proof, at)).toBe(false);
    const others = [undefined, '', 'v0=', signature.replace('v0', 'v1'), signature.toUpperCase()];
    for (const other of others) {
      expect(checkSlackSignature(secret, body, { ...proof, signature: other }, now)).toBe(false);
    }
    expect(checkSlackSignature(secret, bytes('{}'), proof, now)).toBe(false);
    expect(checkSlackSignature('other', body, proof, now)).toBe(false);
  });
});

describe('Stripe', () => {
  const secret = 'whsec_test_secret';
  const body = '{\n  "id": "evt_test_webhook",\n  "object": "event"\n}';
  const seconds = 1_492_774_577;
  const hex = (key = secret, at = seconds): string =>
    createHmac('sha256', key).update(`${at}.${body}`).digest('hex');
  const check = (header: string | undefined, at = seconds): boolean =>
    checkStripeSignature(secret, bytes(body), header, at * 1000);

  it('takes a right v1 among others, and no other scheme (X69)', () => {
    expect(check(`t=${seconds},v1=${hex()}`)).toBe(true);
    expect(check(`t=${seconds},v1=${hex('old')},v1=${hex()},v0=6ffbb59b`)).toBe(true);
    expect(check(`t=${seconds},v0=${hex()}`)).toBe(false);
    expect(check(`t=${seconds}, v1=${hex()}`)).toBe(true);
  });

  it('refuses what is missing, doubled, old, ahead or of another secret (X63, X65, X71)', () => {
    for (const header of [
      undefined,
      '',
      `v1=${hex()}`,
      `t=${seconds}`,
      `t=${seconds},v1=`,
      `t=${seconds},t=${seconds},v1=${hex()}`,
      `t=${seconds},v1=${hex('other')}`,
      `t=1e30,v1=${hex()}`,
    ]) {
      expect(check(header)).toBe(false);
    }
    const header = `t=${seconds},v1=${hex()}`;
    expect([
      check(header, seconds + 300),
      check(header, seconds + 301),
      check(header, seconds - 301),
    ]).toEqual([true, false, false]);
  });
});
