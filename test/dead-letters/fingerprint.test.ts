import { describe, expect, it } from 'vitest';
import { fingerprintOf, fnv1a64, normalisedMessage } from '../../src/core/dead-letters/fingerprint.ts';

const failed = {
  sequenceName: 'parcel-return',
  version: 3,
  blockId: 'lookup',
  handler: 'parcel_lookup',
  error: { message: 'upstream answered 503', code: 'HTTP_ERROR', details: { status: 503, body: 'secret' } },
};

describe('the fingerprint of a failure', () => {
  it('names what failed and how, without payload data', () => {
    expect(fingerprintOf(failed).components).toEqual([
      'seq:parcel-return',
      'v:3',
      'block:lookup',
      'handler:parcel_lookup',
      'class:external_dependency',
      'code:HTTP_STATUS',
      'status:503',
      'resource:',
      'msg:upstream answered <n>',
    ]);
  });

  it('holds nothing that looks like a secret [API 9]', () => {
    const error = { message: 'no such key sk_live_4eC39HqLyjWDarjtT1zdp7dc', code: 'X' };
    expect(fingerprintOf({ ...failed, error }).components).toContain('msg:no such key [REDACTED]');
  });

  it('is the same for failures that differ in numbers, ids, times and quoted values alone', () => {
    const message = (text: string) =>
      fingerprintOf({ ...failed, error: { message: text, code: 'X' } }).fingerprint;
    const one = message('order 17 of "ann" at 2027-02-11T08:00:00Z: 0192c1de-7b4e-7cc0-9a51-0d6f3b7f2a10');
    const other = message('order 9 of "bob" at 2026-01-01T00:00:00.5Z: 5d0c3f0a-9b1e-4f57-8a3c-1e2f60b7a911');
    expect(one).toBe(other);
    expect(one).toMatch(/^[0-9a-f]{16}$/);
    expect(message('no such order')).not.toBe(one);
  });

  it.each([
    ['TIMEOUT', null, 'timeout', 'TIMEOUT'],
    ['HTTP_ERROR', 429, 'external_dependency', 'RATE_LIMITED'],
    ['NETWORK_ERROR', null, 'external_dependency', 'TRANSPORT'],
    ['CREDENTIAL_ERROR', null, 'credential', 'CREDENTIAL'],
    ['BLOCKED_URL', null, 'policy', 'URL_POLICY'],
    ['HANDLER_NOT_AVAILABLE', null, 'worker', 'NO_WORKER'],
    ['TEMPLATE_ERROR', null, 'configuration', 'CONFIGURATION'],
    ['CHILD_CANCELLED', null, 'cancelled', 'CANCELLED'],
    ['constructor', null, 'application', 'unknown'],
  ])('takes %s with status %s for %s, %s', (code, status, errorClass, group) => {
    const error = { message: '', code, ...(status === null ? {} : { details: { status } }) };
    expect(fingerprintOf({ ...failed, error })).toMatchObject({ errorClass, code: group });
  });

  it('is FNV-1a of 64 bits, as its published vectors say', () => {
    expect([fnv1a64(''), fnv1a64('a'), fnv1a64('foobar')]).toEqual([
      'cbf29ce484222325',
      'af63dc4c8601ec8c',
      '85944171f73967e8',
    ]);
  });

  it('reads a long message in linear time and cuts it', () => {
    expect(normalisedMessage('a1'.repeat(100_000)).length).toBeLessThan(3000);
  });
});
