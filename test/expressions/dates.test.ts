import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluateExpression } from '../../src/core/expressions/evaluate.ts';
import type { Json } from '../../src/core/json.ts';
import { dataScope, NOW } from './scope-fixture.ts';

function evaluate(text: string, data: Json = {}): Json | undefined {
  const result = evaluateExpression(text, dataScope(data), 'strict');
  return result.ok ? result.value : undefined;
}

describe('reading an instant', () => {
  test.each([
    '2027-02-09T23:15:00Z',
    '2027-02-09t23:15:00z',
    '2027-02-09 23:15:00+00:00',
    '2027-02-09T23:15:00.5-00:00',
    '2027-02-09T23:15:60.123456789+23:59',
    '2028-02-29T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
  ])('%s is read', (text) => {
    expect(evaluate('format_date(t)', { t: text })).toBe(text.slice(0, 10));
  });

  test.each([
    '',
    '2027-02-09',
    '2027-02-09T23:15:00',
    '2027-02-09T23:15Z',
    '2027-02-09X23:15:00Z',
    '2027-02-0923:15:00Z',
    '2027/02/09T23:15:00Z',
    '2027-02-09T23-15-00Z',
    '2027-2-9T23:15:00Z',
    '2027-00-09T23:15:00Z',
    '2027-13-09T23:15:00Z',
    '2027-02-00T23:15:00Z',
    '2027-02-29T23:15:00Z',
    '2027-04-31T23:15:00Z',
    '2027-12-32T23:15:00Z',
    '1900-02-29T23:15:00Z',
    '2027-02-09T24:00:00Z',
    '2027-02-09T23:60:00Z',
    '2027-02-09T23:15:61Z',
    '2027-02-09T23:15:00.Z',
    '2027-02-09T23:15:00,5Z',
    '2027-02-09T23:15:00+1:00',
    '2027-02-09T23:15:00+0100',
    '2027-02-09T23:15:00+01:0',
    '2027-02-09T23:15:00+24:00',
    '2027-02-09T23:15:00+01:60',
    '2027-02-09T23:15:00+xx:00',
    '2027-02-09T23:15:00*01:00',
    '2027-02-09T23:15:00 Z',
    '2027-02-09T23:15:00Zx',
    ' 2027-02-09T23:15:00Z',
    '+2027-02-09T23:15:00Z',
    '٢٠٢٧-02-09T23:15:00Z',
  ])('%j is not an instant', (text) => {
    expect(evaluate('format_date(t)', { t: text })).toBe(null);
    expect(evaluate('day_of_week(t)', { t: text })).toBe(null);
  });

  test.each([5, true, null, [], {}])('%j is not an instant, nor a format', (value) => {
    expect(evaluate('format_date(v)', { v: value })).toBe(null);
    expect(evaluate('day_of_week(v)', { v: value })).toBe(null);
    const formatted = evaluate("format_date('2027-02-09T00:00:00Z', v)", { v: value });
    expect(formatted).toBe(value === null ? '2027-02-09' : null);
  });
});

describe('formatting', () => {
  const morning = '2024-01-05T00:07:09.045678-03:30';

  test.each([
    ['%Y %y %m %d %e %j', '2024 24 01 05  5 005'],
    ['%H %I %M %S %3f %p', '00 12 07 09 045 AM'],
    ['%a %A %b %B', 'Fri Friday Jan January'],
    ['%u %w %V %G', '5 5 01 2024'],
    ['%F|%T|%R', '2024-01-05|00:07:09|00:07'],
    ['%s %z %:z %%', '1704425829 -0330 -03:30 %'],
    ['', ''],
    ['Grüße %d', 'Grüße 05'],
    ['%', null],
    ['%Q', null],
    ['%3', null],
    ['%:', null],
    ['%3f%3', null],
    ['%-d', null],
    ['%constructor', null],
    ['ok %d %', null],
  ])('%j gives %j', (format, expected) => {
    expect(evaluate('format_date(t, f)', { t: morning, f: format })).toBe(expected);
  });

  test.each([
    ['2027-01-03T13:00:00Z', '%w %u %V %G %I %p', '0 7 53 2026 01 PM'],
    ['2024-12-30T12:00:00Z', '%V %G %j %I %p', '01 2025 365 12 PM'],
    ['0000-01-01T00:00:00Z', '%G %Y %y', '-0001 0000 00'],
    ['1969-12-31T23:59:59Z', '%s', '-1'],
    ['2016-12-31T23:59:60Z', '%T %s', '23:59:60 1483228800'],
    ['2027-01-01T00:00:00.9Z', '%3f', '900'],
  ])('%s by %j is %j', (instant, format, expected) => {
    expect(evaluate('format_date(t, f)', { t: instant, f: format })).toBe(expected);
  });

  test('a result of more than 4 MiB is null', () => {
    const half = '%A'.repeat(250_000);
    expect(evaluate('len(format_date(t, f))', { t: '2027-02-10T00:00:00Z', f: half })).toBe(2_250_000);
    expect(evaluate('format_date(t, f)', { t: '2027-02-10T00:00:00Z', f: half + half })).toBe(null);
  });
});

describe('against the calendar of the platform', () => {
  const instants = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9998-12-31T23:59:59Z'),
    noInvalidDate: true,
  });

  test('fields agree for any instant', () => {
    fc.assert(
      fc.property(instants, (date) => {
        const iso = date.toISOString();
        const startOfYear = new Date(date);
        startOfYear.setUTCMonth(0, 1);
        const dayOfYear = Math.floor((date.getTime() - startOfYear.getTime()) / 86_400_000) + 1;
        const expected = `${iso.slice(0, 19)}.${iso.slice(20, 23)} ${date.getUTCDay()} ${Math.floor(date.getTime() / 1000)} ${dayOfYear}`;
        const value = evaluate("format_date(t, '%FT%T.%3f %w %s %j')", { t: iso });
        expect(value).toBe(expected.replace(/\d+$/, (digits) => digits.padStart(3, '0')));
        expect(evaluate('day_of_week(t)', { t: iso })).toBe((date.getUTCDay() + 6) % 7);
      }),
    );
  });

  test('the offset moves the clock and not the instant', () => {
    fc.assert(
      fc.property(instants, fc.integer({ min: -1439, max: 1439 }), (date, offset) => {
        const size = Math.abs(offset);
        const zone = `${offset < 0 ? '-' : '+'}${String(Math.floor(size / 60)).padStart(2, '0')}:${String(size % 60).padStart(2, '0')}`;
        const local = date.toISOString().replace('Z', zone);
        expect(evaluate("format_date(t, '%s')", { t: local })).toBe(
          String(Math.floor(date.getTime() / 1000) - offset * 60),
        );
        expect(evaluate("format_date(t, '%FT%T.%3f%:z')", { t: local })).toBe(local);
      }),
    );
  });

  test('now is the given instant in UTC with milliseconds', () => {
    expect(evaluate('now()')).toBe(new Date(NOW).toISOString());
    fc.assert(
      fc.property(instants, (date) => {
        const scope = dataScope({}, { now: () => date.getTime() + 0.7 });
        expect(evaluateExpression('now()', scope, 'strict')).toEqual({ ok: true, value: date.toISOString() });
      }),
    );
  });
});
