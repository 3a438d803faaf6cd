import { describe, expect, it } from 'vitest';
import { parseIdempotencyKey, requestFingerprint } from '../../src/core/idempotency-header.ts';

describe('an Idempotency-Key', () => {
  it.each([
    ['k-1', 'k-1'],
    ['"k-1"', 'k-1'],
    ['"a \\"b\\" \\\\"', 'a "b" \\'],
    ['a"b', 'a"b'],
    ['a b, c', 'a b, c'],
    ['~', '~'],
    ['k'.repeat(255), 'k'.repeat(255)],
  ])('%j names the key %j', (header, key) => {
    expect(parseIdempotencyKey(header)).toBe(key);
  });

  it.each(['', '""', '"', '"a', '"a"b', '"a";p=1', '"a\\b"', 'a\u007f', 'a\u0000', 'é', 'k'.repeat(256)])(
    '%j is none',
    (header) => {
      expect(parseIdempotencyKey(header)).toBeNull();
    },
  );
});

describe('the fingerprint of a request', () => {
  const request = { method: 'POST', path: '/x/{id}', params: { id: '1' }, query: {}, body: { a: 1, b: [0] } };
  const print = requestFingerprint(request);

  it('is the same for the same meaning', () => {
    expect(print).toMatch(/^[0-9a-f]{64}$/);
    expect(requestFingerprint({ ...request, body: { b: [-0], a: 1 } })).toBe(print);
  });

  it.each([
    [{ method: 'PUT' }],
    [{ path: '/y/{id}' }],
    [{ params: { id: '2' } }],
    [{ query: { a: '1' } }],
    [{ body: { a: 1, b: [0, 0] } }],
    [{ body: undefined }],
    [{ body: null }],
  ])('is another one with %j', (change) => {
    expect(requestFingerprint({ ...request, ...change })).not.toBe(print);
  });

  it('tells a body that is null from none', () => {
    const [none, empty] = [undefined, null].map((body) => requestFingerprint({ ...request, body }));
    expect(none).not.toBe(empty);
  });
});
