import { describe, expect, it } from 'vitest';
import { decodeHintMessage, encodeHintMessage } from '../../src/core/hint-message.ts';

const INSTANCE = '01900000-0000-7000-8000-000000000001';

describe('a hint message', () => {
  it.each([
    { tenantId: 'saltmarsh', instanceId: INSTANCE },
    { tenantId: 'sältmärsh\u0001\u2028', instanceId: INSTANCE, traceparent: '00-0af7-b7ad-01' },
  ])('is read as it was written: %j', (message) => {
    const text = encodeHintMessage(message);
    expect(text).toMatch(/^[ -~]{1,1023}$/);
    expect(decodeHintMessage(text ?? '')).toEqual({ ok: true, value: message });
  });

  it('holds ids and nothing else', () => {
    expect(encodeHintMessage({ tenantId: 'saltmarsh', instanceId: INSTANCE })).toBe(
      `{"v":1,"tenant":"saltmarsh","instance":"${INSTANCE}"}`,
    );
  });

  it('is not written when it would be longer than 1 KiB', () => {
    expect(encodeHintMessage({ tenantId: 'ä'.repeat(300), instanceId: INSTANCE })).toBeNull();
  });

  it('may have members that this build does not know', () => {
    const text = `{"v":1,"tenant":"saltmarsh","instance":"${INSTANCE}","hop":3}`;
    expect(decodeHintMessage(text)).toMatchObject({ ok: true, value: { tenantId: 'saltmarsh' } });
  });

  it.each([
    ['nonsense', 'it is not JSON'],
    ['null', 'wrong members: /'],
    ['{"v":2,"tenant":"a","instance":"b"}', 'wrong members: /v'],
    ['{"v":1,"tenant":"","instance":7}', 'wrong members: /tenant, /instance'],
    ['{"v":1,"tenant":"t\\u0000","instance":"b"}', 'wrong members: /tenant'],
    ['{"v":1,"tenant":"t","instance":"\\ud800"}', 'wrong members: /instance'],
    [`{"v":1,"tenant":"${'a'.repeat(1100)}","instance":"b"}`, 'it has 1134 characters'],
  ])('is refused when it is something else: %s', (text, problem) => {
    expect(decodeHintMessage(text)).toEqual({ ok: false, error: problem });
  });
});
