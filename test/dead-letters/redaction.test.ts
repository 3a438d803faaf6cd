import { describe, expect, it } from 'vitest';
import { isSensitiveKey, redact, redactedExcerpt } from '../../src/core/redaction.ts';

describe('redaction', () => {
  it.each([
    'key',
    'AUTH',
    'api_key',
    'api-key',
    'apiKey',
    'X-Authorization',
    'client_secret',
    'SessionId',
    'otp_code',
  ])('takes the key %s for sensitive', (key) => {
    expect(isSensitiveKey(key)).toBe(true);
  });

  it.each(['keyboard', 'monkey', 'name', 'side', 'path', 'author'])('leaves the key %s alone', (key) => {
    expect(isSensitiveKey(key)).toBe(false);
  });

  it('replaces sensitive members and secret-shaped texts at any depth, and nothing else', () => {
    const value = {
      name: 'ann',
      password: { old: 'a' },
      list: ['Bearer abc', 'plain', { note: 'ghp_0123456789abcdefghij' }],
      jwt_like: 'eyJhbGciOi.eyJzdWIi.c2ln',
      count: 3,
    };
    expect(redact(value)).toEqual({
      name: 'ann',
      password: '[REDACTED]',
      list: ['[REDACTED]', 'plain', { note: '[REDACTED]' }],
      jwt_like: '[REDACTED]',
      count: 3,
    });
  });

  it('cuts an excerpt and replaces the secrets in it', () => {
    expect(redactedExcerpt('call with Bearer abc.def failed: token=sk-12345 is wrong')).toBe(
      'call with [REDACTED] failed: token=[REDACTED] is wrong',
    );
    expect(redactedExcerpt('x '.repeat(5000))).toHaveLength(2048);
  });
});
