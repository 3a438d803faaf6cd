import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Json, jsonObject } from '../../src/core/json.ts';
import { holdsSecret, isSensitiveKey, redact } from '../../src/core/redaction.ts';

const WHOLE = ['auth', 'key', 'pass', 'pwd', 'jwt', 'sid'];
const PARTS = [
  ...['password', 'passwd', 'secret', 'token', 'api_key', 'api-key', 'apikey', 'authorization', 'credential'],
  ...[
    'private_key',
    'access_key',
    'session_id',
    'cookie',
    'signature',
    'signing_key',
    'bearer',
    'refresh',
    'otp',
  ],
  'pin_code',
];
const SHAPED = [
  ...[
    'sk_live_x',
    'rk_test_x',
    'whsec_x',
    'ghp_x',
    'github_pat_x',
    'glpat-x',
    'xoxb-1',
    'AKIAIOSFODNN7EXAMPLE',
  ],
  ...['AIzaSyA0123456789_0123456789-01234', 'sk-proj-x', 'Bearer x', 'bearer x', 'eyJhbGciOi.eyJzdWIi.c2ln'],
];

describe('what is redacted [API 4.5]', () => {
  it('is every key of the list as a whole, in any case', () => {
    for (const key of WHOLE.flatMap((word) => [word, word.toUpperCase()]))
      expect([key, isSensitiveKey(key)]).toEqual([key, true]);
    for (const key of WHOLE.map((word) => `a${word}z`))
      expect([key, isSensitiveKey(key)]).toEqual([key, false]);
  });

  it('is every key that contains a word of the list, with or without its underscore', () => {
    for (const word of PARTS) {
      for (const key of [word, `my_${word}_2`, word.toUpperCase(), word.replaceAll(/[_-]/g, '')]) {
        expect([key, isSensitiveKey(key)]).toEqual([key, true]);
      }
    }
  });

  it('is every text that begins like the secret of a vendor, is a bearer or a JWT of three parts', () => {
    for (const text of SHAPED) expect(redact(text)).toBe('[REDACTED]');
    for (const text of ['eyJhbGciOi.eyJzdWIi', 'Bearer', 'skate', 'a ghp_x', 'ghost'])
      expect(redact(text)).toBe(text);
  });

  it('is replaced as a whole value, and the same values are known to hold a secret', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom(...SHAPED));
    const { value: values } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        text,
        fc.constantFrom(null, 1, true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc
          .array(fc.tuple(fc.constantFrom('a', 'token', '__proto__', 'key'), tie('value')), { maxLength: 3 })
          .map(jsonObject),
      ),
    }));
    fc.assert(
      fc.property(values, (value) => {
        const shown = redact(value);
        expect(holdsSecret(value)).toBe(JSON.stringify(shown) !== JSON.stringify(value));
        expect(redact(shown)).toEqual(shown);
      }),
    );
  });
});
