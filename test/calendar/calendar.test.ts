import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toBusinessDay } from '../../src/core/calendar/business-days.ts';
import { delayTarget } from '../../src/core/calendar/delay-target.ts';
import { nextOpening } from '../../src/core/calendar/send-window.ts';
import { instantOf, localMsAt } from '../../src/core/calendar/zone.ts';
import { StepBlock } from '../../src/core/definition/step.ts';
import type { Json, JsonObject } from '../../src/core/json.ts';

const at = (text: string): number => Date.parse(text);
/** Wall-clock text as the milliseconds that calendar arithmetic works on. */
const local = (text: string): number => Date.parse(`${text}Z`);
const parsed = (members: JsonObject): StepBlock =>
  StepBlock.parse({ type: 'step', id: 'a', handler: 'noop', ...members });

function delayOf(delay: JsonObject): NonNullable<StepBlock['delay']> {
  return parsed({ delay }).delay ?? { duration: 0, business_days_only: false, holidays: [] };
}

function windowOf(window: JsonObject): NonNullable<StepBlock['send_window']> {
  return parsed({ send_window: window }).send_window ?? { start_hour: 9, end_hour: 17, days: [] };
}

const iso = (instant: number): string => new Date(instant).toISOString();

describe('zones', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['2027-03-28T02:30:00', 'Europe/Berlin', '2027-03-28T01:30:00.000Z'],
    ['2026-10-25T02:30:00', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
    ['2027-03-28T02:00:00', 'Europe/Berlin', '2027-03-28T01:00:00.000Z'],
    ['2027-03-28T01:59:59', 'Europe/Berlin', '2027-03-28T00:59:59.000Z'],
    ['2027-03-28T03:00:00', 'Europe/Berlin', '2027-03-28T01:00:00.000Z'],
    ['2027-03-14T02:30:00', 'America/New_York', '2027-03-14T07:30:00.000Z'],
    ['2027-11-07T01:30:00', 'America/New_York', '2027-11-07T05:30:00.000Z'],
    ['2027-10-03T02:10:00', 'Australia/Lord_Howe', '2027-10-02T15:40:00.000Z'],
    ['2027-06-01T12:00:00', 'Asia/Kathmandu', '2027-06-01T06:15:00.000Z'],
    ['2027-06-01T12:00:00', 'UTC', '2027-06-01T12:00:00.000Z'],
    ['2027-06-01T12:00:00', 'Nowhere/Land', '2027-06-01T12:00:00.000Z'],
    ['2011-12-30T12:00:00', 'Pacific/Apia', '2011-12-30T22:00:00.000Z'],
  ];
  for (const [wall, zone, instant] of cases) {
    it(`takes ${wall} in ${zone} for ${instant} [TZ-1] [TZ-2]`, () => {
      expect(iso(instantOf(local(wall), zone))).toBe(instant);
    });
  }

  it('finds every local time again that exists', () => {
    const zones = fc.constantFrom(
      'Europe/Berlin',
      'America/Sao_Paulo',
      'Australia/Lord_Howe',
      'Asia/Kolkata',
    );
    fc.assert(
      fc.property(zones, fc.integer({ min: at('2020-01-01'), max: at('2035-01-01') }), (zone, instant) => {
        const wall = localMsAt(instant, zone);
        const found = instantOf(wall, zone);
        expect(localMsAt(found, zone)).toBe(wall);
        expect(found).toBeLessThanOrEqual(instant);
      }),
      { numRuns: 500 },
    );
  });
});

describe('business days', () => {
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    ['2026-12-24T11:00:00', [], '2026-12-24T11:00:00'],
    ['2026-12-25T11:00:00', ['2026-12-25'], '2026-12-28T11:00:00'],
    ['2026-12-26T12:00:00', [], '2026-12-28T12:00:00'],
    ['2026-12-27T12:00:00', [], '2026-12-28T12:00:00'],
    ['2026-12-26T12:00:00', ['2026-12-28', '2026-12-29'], '2026-12-30T12:00:00'],
  ];
  for (const [from, holidays, to] of cases) {
    it(`moves ${from} to ${to} with holidays ${JSON.stringify(holidays)} [BIZ-1] [BIZ-2]`, () => {
      expect(iso(toBusinessDay(local(from), new Set(holidays)))).toBe(`${to}.000Z`);
    });
  }

  it('gives up after 30 hops and uses the time as it is [BIZ-2]', () => {
    const all = new Set(
      Array.from({ length: 400 }, (_, day) =>
        iso(local('2027-01-01T00:00:00') + day * 86_400_000).slice(0, 10),
      ),
    );
    const moved = toBusinessDay(local('2027-01-04T08:00:00'), all);
    expect(moved).toBeGreaterThan(local('2027-02-01T08:00:00'));
    expect(moved).toBeLessThan(local('2027-03-01T08:00:00'));
  });
});

/** Thursday 15:00 in Lisbon. */
const BASE = at('2026-12-24T15:00:00Z');

function target(
  delay: JsonObject,
  more: { random?: number; base?: number; zone?: string; holidays?: Json } = {},
): string {
  return iso(
    delayTarget({
      delay: delayOf({ duration: 0, ...delay }),
      base: more.base ?? BASE,
      timezone: more.zone ?? 'Europe/Lisbon',
      holidays: more.holidays ?? null,
      random: () => more.random ?? 0.5,
    }),
  );
}

describe('delay', () => {
  const HOUR = 3_600_000;
  const cases: readonly (readonly [JsonObject, string])[] = [
    [{ duration: 20 * HOUR }, '2026-12-25T11:00:00.000Z'],
    [{ duration: 20 * HOUR, business_days_only: true, holidays: ['2026-12-25'] }, '2026-12-28T11:00:00.000Z'],
    [{ duration: 45 * HOUR, business_days_only: true }, '2026-12-28T12:00:00.000Z'],
    [{ fire_at_local: '2026-12-24T09:00:00' }, '2026-12-24T15:00:00.000Z'],
    [{ fire_at_local: '2026-12-24T18:00:00', duration: 9 * HOUR }, '2026-12-24T18:00:00.000Z'],
    [{ fire_at_local: '2027-03-28T02:30:00', timezone: 'Europe/Berlin' }, '2027-03-28T01:30:00.000Z'],
    [{ fire_at_local: '2026-12-26T10:00:00', business_days_only: true }, '2026-12-28T10:00:00.000Z'],
    [{ duration: 0, business_days_only: true }, '2026-12-24T15:00:00.000Z'],
  ];
  for (const [delay, expected] of cases) {
    it(`of ${JSON.stringify(delay)} is over at ${expected} [DELAY-1] [DELAY-2] 12.3`, () => {
      expect(target(delay)).toBe(expected);
    });
  }

  it('keeps the wall-clock time over a clock change when it moves to a business day (D9)', () => {
    // Saturday 10:00 in Berlin, before the clocks go forward on Sunday.
    const delay = { duration: 0, business_days_only: true };
    expect(target(delay, { base: at('2027-03-27T09:00:00Z'), zone: 'Europe/Berlin' })).toBe(
      '2027-03-29T08:00:00.000Z',
    );
  });

  it('takes holidays of the config too and ignores what are no dates [BIZ-1]', () => {
    const delay = { duration: 20 * HOUR, business_days_only: true };
    expect(target(delay, { holidays: ['2026-12-25', 7, 'soon', '2026-02-30'] })).toBe(
      '2026-12-28T11:00:00.000Z',
    );
    expect(target(delay, { holidays: 'none' })).toBe('2026-12-25T11:00:00.000Z');
  });

  it('judges business days in the zone of the delay (D8)', () => {
    // Friday 23:30 UTC is Saturday in Tokyo.
    const base = at('2027-02-05T23:30:00Z');
    const delay = { duration: 0, business_days_only: true };
    expect(target(delay, { base, zone: 'UTC' })).toBe('2027-02-05T23:30:00.000Z');
    expect(target({ ...delay, timezone: 'Asia/Tokyo' }, { base, zone: 'UTC' })).toBe(
      '2027-02-07T23:30:00.000Z',
    );
  });

  it('adds jitter within its bounds, never before the base [DELAY-3] [DELAY-4]', () => {
    const delay = { duration: 1000, jitter: 400 };
    expect(target(delay, { random: 0 })).toBe('2026-12-24T15:00:00.600Z');
    expect(target(delay, { random: 0.999_999 })).toBe('2026-12-24T15:00:01.400Z');
    expect(target({ duration: 100, jitter: 400 }, { random: 0 })).toBe('2026-12-24T15:00:00.000Z');
  });

  it('keeps jitter on the local date of the business day [DELAY-4] (D8)', () => {
    const delay = { duration: 45 * HOUR, business_days_only: true, jitter: 24 * HOUR };
    expect(target(delay, { random: 0 })).toBe('2026-12-28T00:00:00.000Z');
    expect(target(delay, { random: 0.5 })).toBe('2026-12-28T12:00:00.000Z');
    expect(target(delay, { random: 0.999_999_999 })).toBe('2026-12-28T23:59:59.999Z');
  });
});

describe('send window', () => {
  // 2027-02-01 is a Monday.
  const cases: readonly (readonly [JsonObject, string, string])[] = [
    [{ start_hour: 8, end_hour: 18 }, '2027-02-01T07:59:00', '2027-02-01T08:00:00'],
    [{ start_hour: 8, end_hour: 18 }, '2027-02-01T08:00:00', '2027-02-01T08:00:00'],
    [{ start_hour: 8, end_hour: 18 }, '2027-02-01T17:59:59', '2027-02-01T17:59:59'],
    [{ start_hour: 8, end_hour: 18 }, '2027-02-01T18:00:00', '2027-02-02T08:00:00'],
    [{ start_hour: 8, end_hour: 18, days: [0, 1, 2, 3, 4] }, '2027-02-05T18:30:00', '2027-02-08T08:00:00'],
    [{ start_hour: 22, end_hour: 6 }, '2027-02-01T23:10:00', '2027-02-01T23:10:00'],
    [{ start_hour: 22, end_hour: 6 }, '2027-02-01T05:59:00', '2027-02-01T05:59:00'],
    [{ start_hour: 22, end_hour: 6 }, '2027-02-01T06:00:00', '2027-02-01T22:00:00'],
    [{ start_hour: 22, end_hour: 6, days: [5] }, '2027-02-05T23:10:00', '2027-02-06T00:00:00'],
    [{ start_hour: 22, end_hour: 6, days: [5] }, '2027-02-06T02:00:00', '2027-02-06T02:00:00'],
    [{ start_hour: 22, end_hour: 6, days: [5] }, '2027-02-06T06:00:00', '2027-02-06T22:00:00'],
    [{ start_hour: 22, end_hour: 6, days: [5] }, '2027-02-07T00:00:00', '2027-02-13T00:00:00'],
    [{ start_hour: 0, end_hour: 6, days: [0] }, '2027-02-02T10:00:00', '2027-02-08T00:00:00'],
    [{ start_hour: 22, end_hour: 0 }, '2027-02-01T21:00:00', '2027-02-01T22:00:00'],
    [{}, '2027-02-01T08:59:00', '2027-02-01T09:00:00'],
  ];
  for (const [window, now, opening] of cases) {
    it(`${JSON.stringify(window)} at ${now} opens at ${opening} [WIN-1] [WIN-2]`, () => {
      expect(iso(nextOpening(windowOf(window), local(now), 'UTC'))).toBe(`${opening}.000Z`);
    });
  }

  it('opens at the first instant inside when the clocks skip its hour (D9)', () => {
    const window = windowOf({ start_hour: 2, end_hour: 6 });
    expect(iso(nextOpening(window, at('2027-03-28T00:10:00Z'), 'Europe/Berlin'))).toBe(
      '2027-03-28T01:00:00.000Z',
    );
    const narrow = windowOf({ start_hour: 2, end_hour: 3 });
    expect(iso(nextOpening(narrow, at('2027-03-28T00:10:00Z'), 'Europe/Berlin'))).toBe(
      '2027-03-29T00:00:00.000Z',
    );
  });

  it('is inside at its opening, and nothing between now and then is', () => {
    const windows = fc.record({
      start_hour: fc.integer({ min: 0, max: 23 }),
      end_hour: fc.integer({ min: 0, max: 23 }),
      days: fc.subarray([0, 1, 2, 3, 4, 5, 6]),
    });
    const zones = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC');
    fc.assert(
      fc.property(
        windows,
        zones,
        fc.integer({ min: at('2026-01-01'), max: at('2028-01-01') }),
        (parts, zone, instant) => {
          fc.pre(parts.start_hour !== parts.end_hour);
          const window = windowOf(parts);
          const opening = nextOpening(window, instant, zone);
          expect(nextOpening(window, opening, zone)).toBe(opening);
          for (let probe = instant; probe < opening; probe += 1_799_000) {
            expect(nextOpening(window, probe, zone)).toBe(opening);
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});
