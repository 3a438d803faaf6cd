import { describe, expect, it } from 'vitest';
import { ERROR_CODES, errorCodeEntry, isErrorCode } from '../../src/core/error-codes.ts';
import { REQUEST_ERRORS, requestErrorText } from '../../src/core/request-errors.ts';

describe('table of error codes', () => {
  it('names are upper snake case and every entry tells a person what to do in one sentence', () => {
    for (const [code, entry] of Object.entries(ERROR_CODES)) {
      expect(code).toMatch(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/);
      expect(entry.nextStep).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('only attempts are retried by the engine', () => {
    for (const entry of Object.values(ERROR_CODES))
      expect(entry.retryable && entry.scope !== 'attempt').toBe(false);
  });

  it.each(['TIMEOUT', 'UNHANDLED_EXCEPTION', 'STORAGE_ERROR', 'NETWORK_ERROR', 'DNS_ERROR', 'QUEUE_TIMEOUT'])(
    '%s is retryable',
    (code) => {
      expect(errorCodeEntry(code)?.retryable).toBe(true);
    },
  );

  it('codes of users are free, also when they are named like members of every object', () => {
    expect(errorCodeEntry('CARD_DECLINED')).toBeUndefined();
    expect(isErrorCode('constructor')).toBe(false);
    expect(isErrorCode('TIMEOUT')).toBe(true);
  });
});

describe('request errors', () => {
  it('carry the statuses of http-api.md 1.5', () => {
    expect(
      Object.fromEntries(Object.entries(REQUEST_ERRORS).map(([kind, { status }]) => [kind, status])),
    ).toEqual({
      invalid_argument: 400,
      unauthorized: 401,
      forbidden: 403,
      not_found: 404,
      method_not_allowed: 405,
      already_exists: 409,
      conflict: 409,
      gone: 410,
      payload_too_large: 413,
      unsupported_media_type: 415,
      unprocessable_entity: 422,
      rate_limited: 429,
      internal: 500,
      bad_gateway: 502,
      unavailable: 503,
    });
  });

  it('texts begin with the prefix of their kind', () => {
    expect(requestErrorText('not_found', 'instance x')).toBe('not found: instance x');
    expect(requestErrorText('unauthorized')).toBe('unauthorized');
    expect(requestErrorText('unauthorized', 'key expired')).toBe('unauthorized: key expired');
    expect(requestErrorText('forbidden')).toBe('forbidden');
  });

  it('an internal error never tells more than that', () => {
    expect(requestErrorText('internal', 'password wrong for 10.0.0.1')).toBe('internal server error');
  });
});
