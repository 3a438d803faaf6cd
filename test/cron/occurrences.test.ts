import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { localMsAt } from '../../src/core/calendar/zone.ts';
import { type CronExpression, parseCron } from '../../src/core/cron/expression.ts';
import { latestOccurrence, nextOccurrence, previewOccurrences } from '../../src/core/cron/occurrences.ts';

const at = (text: string): number => Date.parse(text);
const iso = (instant: number): string => new Date(instant).toISOString().replace('.000Z', 'Z');

function cronOf(text: string): CronExpression {
  const parsed = parseCron(text);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return parsed.value;
}

function next(text: string, zone: string, after: string, count: number): readonly string[] {
  return previewOccurrences(cronOf(text), zone, at(after), count).map((one) => iso(one.at));
}

describe('occurrences', () => {
  it('stand at the local time of the zone, before and after a clock change [CRON-2] (D09)', () => {
    expect(next('0 9 * * 1-5', 'America/New_York', '2026-03-05T00:00:00Z', 4)).toEqual([
      '2026-03-05T14:00:00Z',
      '2026-03-06T14:00:00Z',
      '2026-03-09T13:00:00Z',
      '2026-03-10T13:00:00Z',
    ]);
  });

  it('of a local time in a gap stand at the first valid instant after it [CRON-2] (B49, I29)', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00:00Z',
      '2026-03-30T00:30:00Z',
    ]);
    expect(next('30 2 * * *', 'America/New_York', '2026-03-08T00:00:00Z', 1)).toEqual([
      '2026-03-08T07:00:00Z',
    ]);
    // The gap of Lord Howe is half an hour: 02:00 to 02:30.
    expect(next('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z', 2)).toEqual([
      '2026-10-03T15:30:00Z',
      '2026-10-04T15:15:00Z',
    ]);
  });

  it('of several local times in one gap are one [CRON-2]', () => {
    expect(next('*/15 * * * *', 'Europe/Berlin', '2026-03-29T00:40:00Z', 3)).toEqual([
      '2026-03-29T00:45:00Z',
      '2026-03-29T01:00:00Z',
      '2026-03-29T01:15:00Z',
    ]);
  });

  it('of a local time that exists twice stand at the first [CRON-2] (B49, D11)', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00Z',
      '2026-10-26T01:30:00Z',
    ]);
    expect(next('30 1 * * *', 'America/New_York', '2026-11-01T00:00:00Z', 2)).toEqual([
      '2026-11-01T05:30:00Z',
      '2026-11-02T06:30:00Z',
    ]);
    expect(next('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00:00Z', 2)).toEqual([
      '2026-04-04T14:45:00Z',
      '2026-04-05T15:15:00Z',
    ]);
    // Between the two passes of the hour, and in the second one.
    expect(next('*/30 * * * *', 'Europe/Berlin', '2026-10-25T00:30:00Z', 1)).toEqual([
      '2026-10-25T02:00:00Z',
    ]);
    expect(next('*/30 * * * *', 'Europe/Berlin', '2026-10-25T01:10:00Z', 1)).toEqual([
      '2026-10-25T02:00:00Z',
    ]);
  });

  it('come once for each local day of a year, also where days have gaps and repeats [CRON-2] (B49)', () => {
    const year = (zone: string): number =>
      previewOccurrences(cronOf('30 2 * * *'), zone, at('2025-12-31T22:59:59Z'), 400).filter(
        (one) => one.at < at('2026-12-31T23:00:00Z'),
      ).length;
    expect(year('Europe/Berlin')).toBe(365);
  });

  it('of a day that a zone leaves out stand at its end [CRON-2] (I29)', () => {
    // Samoa had no 30 December 2011: the 29th ended at 10:00 UTC.
    expect(next('0 9 * * *', 'Pacific/Apia', '2011-12-29T12:00:00Z', 4)).toEqual([
      '2011-12-29T19:00:00Z',
      '2011-12-30T10:00:00Z',
      '2011-12-30T19:00:00Z',
      '2011-12-31T19:00:00Z',
    ]);
  });

  it('take days that fit one of two restricted day fields (DESIGN 8) [CRON-1]', () => {
    expect(next('0 0 13 * FRI', 'UTC', '2026-11-01T00:00:00Z', 5)).toEqual([
      '2026-11-06T00:00:00Z',
      '2026-11-13T00:00:00Z',
      '2026-11-20T00:00:00Z',
      '2026-11-27T00:00:00Z',
      '2026-12-04T00:00:00Z',
    ]);
    expect(next('0 0 */10 * MON', 'UTC', '2026-05-01T00:00:00Z', 2)).toEqual([
      '2026-05-11T00:00:00Z',
      '2026-06-01T00:00:00Z',
    ]);
  });

  it('take seconds and years into account and end with the last year [CRON-1]', () => {
    expect(next('58/1 59 23 31 12 ? 2027-2028', 'UTC', '2026-06-01T00:00:00Z', 9)).toEqual([
      '2027-12-31T23:59:58Z',
      '2027-12-31T23:59:59Z',
      '2028-12-31T23:59:58Z',
      '2028-12-31T23:59:59Z',
    ]);
  });

  it('skip over decades to a rare day, and of an impossible day there are none', () => {
    expect(next('0 0 29 2 *', 'UTC', '2096-03-01T00:00:00Z', 1)).toEqual(['2104-02-29T00:00:00Z']);
    expect(next('0 0 31 2 *', 'UTC', '2026-01-01T00:00:00Z', 1)).toEqual([]);
    expect(next('0 0 0 1 1 ? 2020', 'UTC', '2026-01-01T00:00:00Z', 1)).toEqual([]);
    expect(next('0 0 1 1 *', 'UTC', '9999-06-01T00:00:00Z', 1)).toEqual([]);
  });

  it('that were missed collapse into the latest one, however many they are [CRON-4]', () => {
    const everySecond = cronOf('* * * * * *');
    const first = at('2026-01-01T00:00:00Z');
    expect(latestOccurrence(everySecond, 'UTC', first, at('2036-01-01T00:00:00.700Z'))).toBe(
      at('2036-01-01T00:00:00Z'),
    );
    expect(latestOccurrence(everySecond, 'UTC', first, first)).toBe(first);
    expect(latestOccurrence(everySecond, 'UTC', first, first + 1_999)).toBe(first + 1_000);
    const daily = cronOf('0 9 * * *');
    const known = at('2026-01-01T08:00:00Z');
    expect(iso(latestOccurrence(daily, 'Europe/Berlin', known, at('2026-07-05T06:59:59Z')))).toBe(
      '2026-07-04T07:00:00Z',
    );
  });
});

describe('occurrences in a process of any zone', () => {
  const zone = process.env['TZ'];
  afterEach(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });

  it.each(['UTC', 'America/New_York', 'Asia/Kolkata'])('with TZ=%s are the same [CRON-2] (B51)', (name) => {
    process.env['TZ'] = name;
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00:00Z',
      '2026-03-30T00:30:00Z',
    ]);
    expect(next('0 0 * * 7', 'Asia/Kolkata', '2026-11-01T00:00:00Z', 1)).toEqual(['2026-11-07T18:30:00Z']);
    expect(next('1-59/2 1 * * *', 'America/New_York', '2026-11-01T05:00:00Z', 1)).toEqual([
      '2026-11-01T05:01:00Z',
    ]);
  });
});

describe('occurrences of any expression in any zone', () => {
  const zones = ['UTC', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Apia'];
  const some = (least: number, greatest: number): fc.Arbitrary<string> =>
    fc.oneof(
      fc.constant('*'),
      fc.integer({ min: least, max: greatest }).map(String),
      fc.integer({ min: 1, max: 7 }).map((step) => `*/${step}`),
      fc
        .array(fc.integer({ min: least, max: greatest }), { minLength: 1, maxLength: 3 })
        .map((list) => list.join(',')),
    );
  const expression = fc
    .tuple(some(0, 59), some(0, 23), some(1, 28), some(1, 12), some(0, 6))
    .map((fields) => fields.join(' '));
  /** Around the changes of 2011 (Apia) and 2026, and elsewhere. */
  const instant = fc.oneof(
    fc.integer({ min: at('2011-12-28T00:00:00Z'), max: at('2012-01-02T00:00:00Z') }),
    fc.integer({ min: at('2026-03-07T00:00:00Z'), max: at('2026-04-06T00:00:00Z') }),
    fc.integer({ min: at('2026-10-01T00:00:00Z'), max: at('2026-11-03T00:00:00Z') }),
  );

  it('are the instants of a walk through all local minutes, ascending and each once [CRON-2]', () => {
    fc.assert(
      fc.property(expression, fc.constantFrom(...zones), instant, (text, zone, from) => {
        const cron = cronOf(text);
        const until = from + 2 * 86_400_000;
        const found: number[] = [];
        for (let last = from; ; ) {
          const following = nextOccurrence(cron, zone, last);
          if (following === null || following > until) break;
          expect(following).toBeGreaterThan(last);
          found.push(following);
          last = following;
        }
        expect(found.map(iso)).toEqual(walked(cron, zone, from, until).map(iso));
        const [first = null] = found;
        const latest = first === null ? null : latestOccurrence(cron, zone, first, until);
        expect(latest).toBe(found.at(-1) ?? null);
      }),
      { numRuns: 80 },
    );
  });

  /** Minute by minute: local times that the clock shows for the first time, and those that it jumped over. */
  function walked(cron: CronExpression, zone: string, from: number, until: number): readonly number[] {
    const found: number[] = [];
    const start = Math.ceil((from - 3 * 86_400_000) / 60_000) * 60_000;
    let shownUpTo = localMsAt(start, zone);
    for (let minute = start + 60_000; minute <= until; minute += 60_000) {
      const shown = localMsAt(minute, zone);
      let fits = false;
      for (let local = shownUpTo + 60_000; local <= shown; local += 60_000) fits ||= fitsMinute(cron, local);
      shownUpTo = Math.max(shownUpTo, shown);
      if (fits && minute > from) found.push(minute);
    }
    return found;
  }

  function fitsMinute(cron: CronExpression, local: number): boolean {
    const date = new Date(local);
    const inMonth = cron.dayOfMonth.has(date.getUTCDate());
    const inWeek = cron.dayOfWeek.has(date.getUTCDay());
    return (
      cron.minute.includes(date.getUTCMinutes()) &&
      cron.hour.includes(date.getUTCHours()) &&
      cron.month.has(date.getUTCMonth() + 1) &&
      (cron.eitherDay ? inMonth || inWeek : inMonth && inWeek)
    );
  }
});
