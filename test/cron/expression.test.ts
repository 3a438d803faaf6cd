import { describe, expect, it } from 'vitest';
import { parseCron } from '../../src/core/cron/expression.ts';

/** What is allowed in a field, or the text of the problem. */
function parsed(text: string) {
  const result = parseCron(text);
  if (!result.ok) return result.error.message;
  const { dayOfMonth, month, dayOfWeek, year, ...rest } = result.value;
  const list = (values: ReadonlySet<number>): number[] => [...values].sort((a, b) => a - b);
  return {
    ...rest,
    dayOfMonth: list(dayOfMonth),
    month: list(month),
    dayOfWeek: list(dayOfWeek),
    year: year === null ? null : list(year),
  };
}

const range = (from: number, to: number, step = 1): number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);

describe('cron expressions', () => {
  it('have five fields, six with seconds first or seven with the year last [CRON-1]', () => {
    expect(parsed('5 6 7 8 2')).toEqual({
      ...{ second: [0], minute: [5], hour: [6], dayOfMonth: [7], month: [8], dayOfWeek: [2] },
      ...{ year: null, eitherDay: true },
    });
    expect(parsed('4 5 6 7 8 2')).toMatchObject({ second: [4], minute: [5], month: [8], year: null });
    expect(parsed('4 5 6 7 8 2 2027,2030-2031')).toMatchObject({ year: [2027, 2030, 2031] });
    expect(parsed(' 4\t5  6 7 8 2 * ')).toMatchObject({ second: [4], year: null });
  });

  it.each([
    ['1-59/2 * * * *', { minute: range(1, 59, 2) }],
    ['5/15 * * * *', { minute: [5, 20, 35, 50] }],
    ['*/20 * * * *', { minute: [0, 20, 40] }],
    ['30,10,10-12 * * * *', { minute: [10, 11, 12, 30] }],
    ['0 0 * * 7', { dayOfWeek: [0] }],
    ['0 0 * * 5-7', { dayOfWeek: [0, 5, 6] }],
    ['0 0 * * FRI-SUN', { dayOfWeek: [0, 5, 6] }],
    ['0 0 * * sun-tue', { dayOfWeek: [0, 1, 2] }],
    ['0 0 * * Monday,wEd', { dayOfWeek: [1, 3] }],
    ['0 0 * JAN-mar,December *', { month: [1, 2, 3, 12] }],
    ['0 0 ? * 1', { dayOfMonth: range(1, 31), eitherDay: false }],
    ['0 0 1 * ?', { dayOfWeek: range(0, 6), eitherDay: false }],
    ['0 0 */2 * 1', { dayOfMonth: range(1, 31, 2), eitherDay: false }],
    ['0 0 1-7 * MON', { eitherDay: true }],
    ['0 0 31 2 *', { dayOfMonth: [31], month: [2] }],
  ])('%s is read as the crontab reads it [CRON-1]', (text, expected) => {
    expect(parsed(text)).toMatchObject(expected);
  });

  it.each([
    ['', 'must have 5, 6 or 7 fields, not 0'],
    ['* * * *', 'must have 5, 6 or 7 fields, not 4'],
    ['* * * * * * * *', 'must have 5, 6 or 7 fields, not 8'],
    ['@hourly', 'must have 5, 6 or 7 fields, not 1'],
    ['61 * * * *', "minute '61' is not made of numbers from 0 to 59"],
    ['50-10 * * * *', "minute '50-10' has a range that goes backwards"],
    ['* 24 * * *', "hour '24' is not made of numbers from 0 to 23"],
    ['0 0 L * *', "day_of_month 'L' is not made of numbers from 1 to 31"],
    ['0 0 0 * *', "day_of_month '0' is not made of numbers from 1 to 31"],
    ['0 0 * 13 *', "month '13' is not made of numbers from 1 to 12 or names"],
    ['0 0 * * 8', "day_of_week '8' is not made of numbers from 0 to 7 or names"],
    ['0 0 * * MON#1', "day_of_week 'MON#1' is not made of numbers from 0 to 7 or names"],
    ['0 0 * * FRI-MON', "day_of_week 'FRI-MON' has a range that goes backwards"],
    ['*/0 * * * *', "minute '*/0' has a step that is not a whole number from 1 to 60"],
    ['*/90 * * * *', "minute '*/90' has a step that is not a whole number from 1 to 60"],
    ['1/2/3 * * * *', "minute '1/2/3' has two steps in one part"],
    ['1-2-3 * * * *', "minute '1-2-3' is not made of numbers from 0 to 59"],
    ['1,,2 * * * *', "minute '1,,2' is not made of numbers from 0 to 59"],
    ['? * * * *', "minute '?' is not made of numbers from 0 to 59"],
    ['-1 * * * *', "minute '-1' is not made of numbers from 0 to 59"],
    ['1.5 * * * *', "minute '1.5' is not made of numbers from 0 to 59"],
    ['0 0 0 1 1 ? 1969', "year '1969' is not made of numbers from 1970 to 2199"],
    [`${'0,'.repeat(600)}0 * * * *`, 'must not exceed 1000 characters'],
  ])('%s is refused, with the name of the field [CRON-1]', (text, message) => {
    expect(parsed(text)).toBe(message);
  });
});
